// SPDX-License-Identifier: BSL-1.0
// The numbers of searching and sleeping workers of a pool, in one word, and the protocol that never
// leaves work while all workers sleep. Protocol and proof: src/scheduler/README.md, section
// "Parking"; explored in tests/model/idle_gate_test.cpp. A push without requests for work does not
// touch it.
//
// - publisher: make work public by a read-modify-write; then read the gate; wake a sleeper if no
//   worker searches and one sleeps.
// - sleeper: announce by a read-modify-write on the gate; then check all public work once more;
//   only then sleep.
// - wake relay: the last searcher that finds work wakes one sleeper, which searches in its place.
#pragma once

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/cache_line.hpp>

#include <chrono>
#include <cstdint>

namespace quern::detail {

template <class Atomics>
struct sleeper {
    static constexpr std::uint32_t k_awake = 0;
    static constexpr std::uint32_t k_asleep = 1;
    static constexpr std::uint32_t k_claimed = 2;  ///< a waker has chosen it but not counted it yet
    static constexpr std::uint32_t k_woken = 3;
    static constexpr std::uint32_t k_at_rest = 4;     ///< asleep; runs nothing until it is woken
    static constexpr std::uint32_t k_guest_here = 5;  ///< a guest has taken its place

    typename Atomics::template atomic<std::uint32_t> word{k_awake};

    /// Already out of date; for reports.
    bool is_asleep() const noexcept {
        const std::uint32_t now = word.load(std::memory_order_relaxed);
        return now == k_asleep || now == k_at_rest;
    }
    bool has_guest() const noexcept { return word.load(std::memory_order_relaxed) == k_guest_here; }
};

template <class Atomics>
class idle_gate {
public:
    using sleeper_type = sleeper<Atomics>;

    struct counts {
        std::uint32_t searching;
        std::uint32_t sleeping;
        bool any_idle() const noexcept { return searching != 0 || sleeping != 0; }
        /// No worker will find new work unless a sleeper is woken.
        bool must_wake() const noexcept { return searching == 0 && sleeping != 0; }
    };

    counts load() const noexcept { return split(m_word.load(std::memory_order_seq_cst)); }

    void begin_search() noexcept { m_word.fetch_add(k_searching, std::memory_order_seq_cst); }

    /// True: the caller was the last searcher and a worker sleeps, so the caller must wake one.
    bool end_search() noexcept {
        const counts before = split(m_word.fetch_sub(k_searching, std::memory_order_seq_cst));
        return before.searching == 1 && before.sleeping != 0;
    }

    /// A searcher announces that it will sleep. It must look for work once more before it sleeps.
    /// Returns the new counts.
    counts announce_sleep(sleeper_type& self) noexcept {
        // seq_cst: wakers that do not read the gate (stop, a new poller) write, then read this
        // word. The sleeper writes this word, then reads what they wrote.
        self.word.store(sleeper_type::k_asleep, std::memory_order_seq_cst);
        // seq_cst: ordered before the last search for work.
        return split(m_word.fetch_add(k_sleeping - k_searching, std::memory_order_seq_cst) +
                     k_sleeping - k_searching);
    }

    /// The last search found something, or time ran out: the caller is a searcher again.
    void cancel_sleep(sleeper_type& self) noexcept {
        std::uint32_t expected = sleeper_type::k_asleep;
        if (self.word.compare_exchange_strong(expected, sleeper_type::k_awake,
                                              std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
            m_word.fetch_add(k_searching - k_sleeping, std::memory_order_seq_cst);
        } else {
            sleep(self);  // a waker was faster: returns as soon as it has counted the caller
        }
    }

    /// Sleeps until woken; the caller is then a searcher. A claimed sleeper must not run before its
    /// waker has counted it. Otherwise it could search, find work and sleep again while the count
    /// is wrong, and the next publisher would see a searcher that does not exist.
    void sleep(sleeper_type& self) noexcept {
        std::uint32_t seen = rest(self);
        while (seen != sleeper_type::k_woken) {
            Atomics::futex_wait(self.word, seen);
            seen = self.word.load(std::memory_order_acquire);  // pairs with wake
        }
        self.word.store(sleeper_type::k_awake, std::memory_order_relaxed);
    }

    /// The same with a time limit. False: the caller was not woken. It still counts as asleep and
    /// must sleep again or cancel_sleep().
    bool sleep_for(sleeper_type& self, std::chrono::nanoseconds limit) noexcept {
        if (rest(self) == sleeper_type::k_at_rest) {
            Atomics::futex_wait_for(self.word, sleeper_type::k_at_rest, limit);
        }
        for (;;) {
            std::uint32_t seen = self.word.load(std::memory_order_acquire);  // pairs with wake
            if (seen == sleeper_type::k_woken) {
                self.word.store(sleeper_type::k_awake, std::memory_order_relaxed);
                return true;
            }
            if (seen != sleeper_type::k_at_rest) {
                // Claimed or lent: both end. A guest that leaves wakes no thread.
                Atomics::futex_wait_for(self.word, seen, limit);
            } else if (self.word.compare_exchange_strong(seen, sleeper_type::k_asleep,
                                                         std::memory_order_acq_rel,
                                                         std::memory_order_relaxed)) {
                return false;
            }
        }
    }

    /// A thread takes the place of `other`, which sleeps and is not woken before leave_place().
    /// `other` then counts as neither asleep nor searching. False: `other` is not at rest.
    bool take_place(sleeper_type& other) noexcept {
        std::uint32_t expected = sleeper_type::k_at_rest;
        if (other.word.load(std::memory_order_relaxed) != expected ||
            !other.word.compare_exchange_strong(expected, sleeper_type::k_guest_here,
                                                std::memory_order_acq_rel,
                                                std::memory_order_relaxed)) {
            return false;
        }
        m_word.fetch_sub(k_sleeping, std::memory_order_seq_cst);
        return true;
    }

    /// Leaves the place. `other` counts as asleep again, so the caller must look for work after
    /// this, as after announce_sleep(), and wake `other` if there is any. Returns the counts.
    counts leave_place(sleeper_type& other) noexcept {
        // Counted first: a waker that finds it asleep subtracts it.
        const std::uint64_t before = m_word.fetch_add(k_sleeping, std::memory_order_seq_cst);
        other.word.store(sleeper_type::k_at_rest, std::memory_order_seq_cst);  // as announce_sleep
        return split(before + k_sleeping);
    }

    /// True: `other` slept and is now a searcher about to run. A guest that takes the place after
    /// the seq_cst load also leaves it after that load, and looks for work then.
    bool wake(sleeper_type& other) noexcept {
        std::uint32_t seen = other.word.load(std::memory_order_seq_cst);
        do {
            if (seen != sleeper_type::k_asleep && seen != sleeper_type::k_at_rest) {
                return false;
            }
        } while (!other.word.compare_exchange_strong(
            seen, sleeper_type::k_claimed, std::memory_order_acq_rel, std::memory_order_relaxed));
        m_word.fetch_add(k_searching - k_sleeping, std::memory_order_seq_cst);
        other.word.store(sleeper_type::k_woken, std::memory_order_release);  // pairs with sleep
        Atomics::futex_wake(other.word, 1);
        return true;
    }

private:
    /// From now on a guest may take the place. Returns the state: at rest, or that of a waker that
    /// was faster.
    static std::uint32_t rest(sleeper_type& self) noexcept {
        std::uint32_t seen = sleeper_type::k_asleep;
        return self.word.compare_exchange_strong(
                   seen, sleeper_type::k_at_rest,
                   std::memory_order_acq_rel,  // release: pairs with take_place
                   std::memory_order_acquire)  // pairs with wake
                   ? sleeper_type::k_at_rest
                   : seen;
    }

    static constexpr std::uint64_t k_searching = 1;
    static constexpr std::uint64_t k_sleeping = std::uint64_t{1} << 32;

    static counts split(std::uint64_t word) noexcept {
        return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
    }

    alignas(k_cache_line) typename Atomics::template atomic<std::uint64_t> m_word{0};
};

}  // namespace quern::detail
