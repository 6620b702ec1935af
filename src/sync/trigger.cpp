// SPDX-License-Identifier: BSL-1.0
// The trigger: hands out the future of a generation, and ends it. Futures are created and fulfilled
// without the spin lock.
#include <quern/sync/trigger.hpp>

#include <cinttypes>
#include <mutex>
#include <utility>

#include "words.hpp"

namespace quern {

shared_future<void> trigger::get_future() {
    {
        const std::scoped_lock guard(m_lock);
        if (m_end) {
            return m_future;
        }
    }
    promise<void> fresh;
    shared_future<void> future = fresh.get_future().share();
    const std::scoped_lock guard(m_lock);
    if (!m_end) {  // otherwise another caller was faster
        m_end.emplace(std::move(fresh));
        m_future = std::move(future);
    }
    return m_future;
}

std::int64_t trigger::set() noexcept {
    std::optional<promise<void>> end;
    shared_future<void> future;
    detail::level_waiter* waiting = nullptr;
    std::int64_t ended = 0;
    {
        const std::scoped_lock guard(m_lock);
        end.swap(m_end);
        std::swap(future, m_future);
        ended = m_generation.value();
        waiting = m_generation.set(ended + 1);
    }
    detail::wake_all(waiting);  // first: what set_value() calls may wait for one of them
    if (end) {
        end->set_value();
    }
    return ended;
}

std::int64_t trigger::generation() const noexcept {
    const std::scoped_lock guard(m_lock);
    return m_generation.value();
}

constexpr detail::wait_kind trigger::k_wait{"trigger", sizeof(trigger), look};

void trigger::look(const void* copy, detail::wait_findings& into) noexcept {
    detail::say(into, "generation %" PRId64 " has not ended",
                static_cast<const trigger*>(copy)->m_generation.value());
}

}  // namespace quern
