// SPDX-License-Identifier: BSL-1.0
// The lazily created stop source of a task_group. No user code runs under the spin lock: calls go
// to a copy of the source.
#include <quern/task/detail/group_stop.hpp>

#include <mutex>
#include <utility>

namespace quern::detail {

/// A source that is also stopped by the outer token.
struct group_stop::linked_source {
    struct forward {
        std::stop_source to;
        void operator()() noexcept { to.request_stop(); }
    };

    explicit linked_source(const std::stop_token& outer) : link(outer, forward{source}) {}

    std::stop_source source;
    std::stop_callback<forward> link;
};

group_stop::group_stop(std::stop_token outer) noexcept
    : stop_signal(std::move(outer), [](const stop_signal& self) {
          // The group itself is not const; only the tasks that run under it see it as const.
          return const_cast<group_stop&>(static_cast<const group_stop&>(self)).own_token();
      }) {}

group_stop::~group_stop() = default;

std::stop_source group_stop::source() noexcept {
    const std::scoped_lock lock(m_lock);
    return m_source != nullptr ? m_source->source : std::stop_source(std::nostopstate);
}

std::stop_token group_stop::own_token() {
    std::stop_source present = source();
    if (!present.stop_possible()) {
        auto fresh = std::make_unique<linked_source>(token());
        const std::scoped_lock lock(m_lock);
        if (m_source == nullptr) {
            m_source = std::move(fresh);
        }
        present = m_source->source;
    }
    // Raised before the source existed: either this code or request() sees the other.
    if (raised()) {
        present.request_stop();
    }
    return present.get_token();
}

bool group_stop::request() noexcept {
    const bool first = raise();
    source().request_stop();
    return first;
}

void group_stop::renew() noexcept {
    if (!raised()) {
        return;
    }
    std::unique_ptr<linked_source>
        old;  // destroyed after the lock is released: may wait for a callback
    const std::scoped_lock lock(m_lock);
    std::swap(old, m_source);
    lower();
}

}  // namespace quern::detail
