// SPDX-License-Identifier: BSL-1.0
// How the error of a task reaches the taskwait() that throws it, and how everything stops that
// would use what was not computed. Protocol and proof sketch: src/dependences/README.md, "Why it is
// right", 7. Explored exhaustively in tests/model/dependences_errors_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>

#include <utility>

namespace quern::detail {

/// Of one domain.
template <class Atomics>
struct failing_words {
    template <class T>
    using atomic = typename Atomics::template atomic<T>;

    atomic<bool> has_error{false};     ///< a task has claimed the place for the error
    atomic<bool> failed{false};        ///< the error is in its place
    atomic<bool> handed_up{false};     ///< a thread takes it to the outer domain
    atomic<bool> parent_ended{false};  ///< the function of the parent has returned

    /// After all tasks have ended.
    void reset() noexcept {
        for (atomic<bool>* const each : {&has_error, &failed, &handed_up}) {
            each->store(false, std::memory_order_relaxed);
        }
    }

    /// Another thread has claimed the place, or takes the error to it.
    void wait_for_error() const noexcept {
        for (int spins = 0; !failed.load(std::memory_order_seq_cst);) {
            Atomics::back_off(spins);
        }
    }
};

// The functions below are called before the caller releases accesses. `Domain` has
//   failing()       its words
//   outer()         the domain of its parent
//   raise()         no further task of it, or within it, begins
//   place(error)    keeps the error
//   report(error)   of a later error

/// The domain has an error, or is about to get it. The accesses of parents whose functions have
/// returned are released with those of their children, so the outermost domain of such parents is
/// stopped, and all within it. No other one before: else a task in it could be dropped, and what
/// waits for its parent begin.
template <class Domain>
void stop_outwards(Domain& first) noexcept {
    Domain* at = &first;
    at->failing().wait_for_error();
    while (at->failing().parent_ended.load(std::memory_order_seq_cst)) {
        at = &at->outer();
        at->failing().wait_for_error();
    }
    at->raise();
}

/// A task of the domain has failed. The error goes up while the functions of the parents have
/// returned: no taskwait() can throw it.
template <class Domain, class Error>
void fail_outwards(Domain& first, Error error) noexcept {
    for (Domain* at = &first;; at = &at->outer()) {
        if (at->failing().has_error.exchange(true, std::memory_order_relaxed)) {
            at->report(std::move(error));
            return detail::stop_outwards(*at);
        }
        at->place(error);
        // seq_cst, as in parent_ends(): one of the two sees the other and hands the error up.
        at->failing().failed.store(true, std::memory_order_seq_cst);
        if (!at->failing().parent_ended.load(std::memory_order_seq_cst)) {
            return at->raise();
        }
        if (at->failing().handed_up.exchange(true, std::memory_order_relaxed)) {
            return detail::stop_outwards(at->outer());
        }
    }
}

/// The function of the parent has returned. `hand_up()` fails with the error in the outer domain.
template <class Domain, class HandUp>
void parent_ends(Domain& of, HandUp hand_up) noexcept {
    of.failing().parent_ended.store(true, std::memory_order_seq_cst);
    if (!of.failing().failed.load(std::memory_order_seq_cst)) {
        return;
    }
    if (of.failing().handed_up.exchange(true, std::memory_order_relaxed)) {
        detail::stop_outwards(of.outer());
    } else {
        hand_up();
    }
}

}  // namespace quern::detail
