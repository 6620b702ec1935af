// SPDX-License-Identifier: BSL-1.0
// Commutative tasks that use the same memory run one at a time, in any order. A task takes all of
// its locks or none. Protocol and proof sketch: src/dependences/README.md, "Commutative locks".
// Explored exhaustively in tests/model/dependences_commutative_locks_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/spin_lock.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace quern::detail {

/// One lock that a task needs: alone, or together with others that share it.
template <class Turn>
struct commutative_lock_use {
    Turn* of = nullptr;
    bool is_alone = true;
};

/// The right to use a part of memory: held by one task alone, or shared by several whose parts of
/// it are held alone by locks of their own. `Request` is what waits: it has `rank`, `next_waiting`
/// and `uses()`, the span of all that it needs, each lock once and in the order of addresses.
template <class Atomics, class Lock, class Request>
class basic_commutative_lock {
public:
    using use = commutative_lock_use<basic_commutative_lock>;

    /// True: the request holds all of its locks. False: it waits at one of them, holds none, and
    /// gets all of them later, perhaps before this returns: by give_back() of another thread.
    static bool take_all(Request& request) noexcept {
        const std::span<const use> uses = request.uses();
        const use* missing = nullptr;
        // The locks of all at once, so that no request is seen with some of its locks. One order of
        // addresses for all: no deadlock.
        for (const use& each : uses) {
            each.of->m_lock.lock();
            missing = missing == nullptr && !each.of->is_free_for(each) ? &each : missing;
        }
        if (missing != nullptr) {
            missing->of->insert(request);
        } else {
            for (const use& each : uses) {
                each.of->m_holders = each.of->m_holders + (each.is_alone ? k_alone : 1);
            }
        }
        for (const use& each : uses) {
            each.of->m_lock.unlock();
        }
        return missing == nullptr;
    }

    /// The holder needs it no longer. `ready(request)` is called for each request that holds all of
    /// its locks now.
    template <class Ready>
    void give_back(bool is_alone, Ready ready) noexcept {
        m_lock.lock();
        m_holders = m_holders - (is_alone ? k_alone : 1);
        while (Request* const next = take_waiting()) {
            m_lock.unlock();
            if (take_all(*next)) {
                ready(*next);
            }
            m_lock.lock();
        }
        m_lock.unlock();
    }

private:
    static constexpr std::uint32_t k_alone = std::uint32_t{1} << 31;

    bool is_free_for(const use& wanted) const noexcept {
        return m_holders == 0 || (!wanted.is_alone && m_holders < k_alone);
    }

    /// Behind those of the same rank.
    void insert(Request& request) noexcept {
        Request* before = m_last;
        if (before == nullptr || before->rank < request.rank) {  // else all ranks are equal
            before = nullptr;
            for (Request* each = m_first; each != nullptr && each->rank >= request.rank;
                 each = each->next_waiting) {
                before = each;
            }
        }
        Request* after = m_first;
        if (before != nullptr) {
            after = before->next_waiting;
            before->next_waiting = &request;
        } else {
            m_first = &request;
        }
        request.next_waiting = after;
        if (after == nullptr) {
            m_last = &request;
        }
    }

    /// The first that this lock is free for.
    Request* take_waiting() noexcept {
        Request* before = nullptr;
        for (Request* each = m_holders < k_alone ? m_first : nullptr; each != nullptr;
             before = each, each = each->next_waiting) {
            for (const use& mine : each->uses()) {
                if (mine.of == this && is_free_for(mine)) {
                    remove(*each, before);
                    return each;
                }
            }
        }
        return nullptr;
    }

    void remove(Request& request, Request* before) noexcept {
        if (before != nullptr) {
            before->next_waiting = request.next_waiting;
        } else {
            m_first = request.next_waiting;
        }
        if (m_last == &request) {
            m_last = before;
        }
    }

    Lock m_lock;
    typename Atomics::template plain<std::uint32_t> m_holders = 0;  ///< k_alone, or who share it
    typename Atomics::template plain<Request*> m_first = nullptr;
    typename Atomics::template plain<Request*> m_last = nullptr;
};

}  // namespace quern::detail
