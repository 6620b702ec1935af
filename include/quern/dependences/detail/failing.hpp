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
    atomic<bool> handed_up{false};     ///< and in that of the parent's domain
    atomic<bool> stopped{false};       ///< a task has failed
    atomic<bool> parent_ended{false};  ///< the function of the parent has returned

    /// After all tasks have ended.
    void reset() noexcept {
        for (atomic<bool>* const each : {&has_error, &failed, &handed_up, &stopped}) {
            each->store(false, std::memory_order_relaxed);
        }
    }
};

// `Domain` has
//   failing         its words
//   outer()         the domain of its parent
//   raise()         no further task of it, or within it, begins
//   place(error)    keeps the error
//   report(error)   of a later error

/// After a task of the domain has failed, and before it releases its accesses: the accesses of
/// parents whose functions have returned are released with them, so the outermost domain of such
/// parents is stopped, and all within it. No other one: then a task could be dropped, and what
/// waits for its parent begin, before the outer domain is stopped.
template <class Domain>
void stop_outwards(Domain& first) noexcept {
    Domain* at = &first;
    while (true) {
        // seq_cst, as in parent_ends(): one of the two sees the other and stops the outer domain.
        at->failing.stopped.store(true, std::memory_order_seq_cst);
        if (!at->failing.parent_ended.load(std::memory_order_seq_cst)) {
            break;
        }
        at = &at->outer();
    }
    at->raise();
}

/// A task of the domain has failed. The error goes up while the functions of the parents have
/// returned: no taskwait() can throw it.
template <class Domain, class Error>
void fail_outwards(Domain& first, Error error) noexcept {
    for (Domain* at = &first;; at = &at->outer()) {
        if (at->failing.has_error.exchange(true, std::memory_order_relaxed)) {
            at->report(std::move(error));
            break;
        }
        at->place(error);
        // seq_cst, as in parent_ends(): one of the two sees the other and hands the error up.
        at->failing.failed.store(true, std::memory_order_seq_cst);
        if (!at->failing.parent_ended.load(std::memory_order_seq_cst) ||
            at->failing.handed_up.exchange(true, std::memory_order_relaxed)) {
            break;
        }
    }
    stop_outwards(first);
}

/// The function of the parent has returned. Before accesses of the parent are released.
/// `hand_up()` fails with the error in the outer domain.
template <class Domain, class HandUp>
void parent_ends(Domain& of, HandUp hand_up) noexcept {
    of.failing.parent_ended.store(true, std::memory_order_seq_cst);
    if (of.failing.failed.load(std::memory_order_seq_cst) &&
        !of.failing.handed_up.exchange(true, std::memory_order_relaxed)) {
        hand_up();
    }
    if (of.failing.stopped.load(std::memory_order_seq_cst)) {
        stop_outwards(of.outer());
    }
}

}  // namespace quern::detail
