// SPDX-License-Identifier: BSL-1.0
// What a source must keep between its readings, behind its own lock. Private to the layer. In the
// child of a fork() it begins anew: another thread of the parent may have held the lock, and what
// it protects may be half changed.
#pragma once

#include <quern/base/process.hpp>

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
            delete last;  // one of the parent is left as it is
        }
    }

    /// Calls f(State&) while nobody else does. Thread safe.
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
            // release: whoever finds the box finds it made. The parent's is left as it is.
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
