// SPDX-License-Identifier: BSL-1.0
// Registering and calling the pollers.
#include <quern/scheduler/pollers.hpp>

#include <algorithm>

namespace quern::detail {

poller_list::handle poller_list::add(unique_function<poll_result()> function) {
    const std::scoped_lock lock(m_lock);
    m_entries.push_back({m_next_id, std::move(function)});
    m_count.store(m_entries.size(), std::memory_order_seq_cst);
    return m_next_id++;
}

void poller_list::remove(handle which) {
    const std::scoped_lock lock(m_lock);
    std::erase_if(m_entries, [which](const entry& e) { return e.id == which; });
    m_count.store(m_entries.size(), std::memory_order_seq_cst);
}

poll_result poller_list::poll() {
    if (!m_lock.try_lock()) {
        return poll_result::idle;
    }
    const std::scoped_lock lock(std::adopt_lock, m_lock);
    auto result = poll_result::idle;
    for (entry& e : m_entries) {
        if (e.function() == poll_result::progress) {
            result = poll_result::progress;
        }
    }
    return result;
}

}  // namespace quern::detail
