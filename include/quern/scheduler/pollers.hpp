// SPDX-License-Identifier: BSL-1.0
// Functions that idle workers call to ask foreign systems (messages, devices, timers) whether
// something has happened. While any is registered, one of the sleeping workers wakes up regularly.
#pragma once

#include <quern/base/spin_lock.hpp>
#include <quern/base/unique_function.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace quern::detail {

enum class poll_result : std::uint8_t { idle, progress };

class poller_list {
public:
    using handle = std::uint64_t;

    /// The function is called by at most one worker at a time and must not block. Thread safe.
    handle add(unique_function<poll_result()> function);

    /// When it returns, the function is not running and will not run again. Not to be called from
    /// a poller. Thread safe.
    void remove(handle which);

    bool empty() const noexcept { return m_count.load(std::memory_order_seq_cst) == 0; }

    /// Calls all of them unless another worker is doing so.
    poll_result poll();

private:
    struct entry {
        handle id;
        unique_function<poll_result()> function;
    };

    spin_lock m_lock;  // held while polling: it is what keeps callers apart
    std::vector<entry> m_entries;
    std::atomic<std::size_t> m_count{0};
    handle m_next_id = 1;
};

}  // namespace quern::detail
