// SPDX-License-Identifier: BSL-1.0
// State that a source keeps between its readings, behind its own lock. Private to the layer. In the
// child of a fork() the state starts again: another thread of the parent may have held the lock
// during a change.
#pragma once

#include <quern/base/detail/process.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace quern::counters::detail {

/// State is default constructible.
template <class State>
class kept_state {
public:
    kept_state() : m_box(new box) {}
    kept_state(const kept_state&) = delete;
    kept_state& operator=(const kept_state&) = delete;
    ~kept_state() {
        box* last = m_box.load(std::memory_order_acquire);
        if (last->generation == quern::detail::fork_generation()) {
            delete last;  // the parent's box is not freed
        }
    }

    /// Calls f(State&) under the lock. Thread safe.
    template <class F>
    decltype(auto) with(F&& f) {
        box& b = current();
        const std::scoped_lock lock(b.mutex);
        return std::forward<F>(f)(b.state);
    }

private:
    struct box {
        const unsigned generation = quern::detail::fork_generation();
        std::mutex mutex;
        State state;
    };

    box& current() {
        box* known = m_box.load(std::memory_order_acquire);  // pairs with the exchange below
        while (known->generation != quern::detail::fork_generation()) {
            auto fresh = std::make_unique<box>();
            // release: pairs with the acquire loads; publishes the new box. The parent's box is not
            // freed.
            if (m_box.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
                known = fresh.release();
            }
        }
        return *known;
    }

    std::atomic<box*> m_box;
};

}  // namespace quern::counters::detail
