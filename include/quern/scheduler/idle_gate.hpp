// SPDX-License-Identifier: BSL-1.0
// Who of a pool's workers is searching and who is asleep, in one word, and the protocol by which
// no work is ever left with everybody asleep. Protocol and proof: src/scheduler/README.md, section
// "Parking"; explored in tests/model/idle_gate_test.cpp. Not touched by a push that nobody wants.
//
//   publisher: make work public by a read-modify-write; then look at the gate; wake one if nobody
//              searches and somebody sleeps.
//   sleeper:   announce by a read-modify-write on the gate; then look at all public work once
//              more; only then sleep.
//   baton:     the last searcher that finds work wakes one sleeper, who searches in its place.
#pragma once

#include <quern/base/atomics.hpp>
#include <quern/base/cache_line.hpp>

#include <chrono>
#include <cstdint>

namespace quern::detail {

/// The place where one worker sleeps.
template <class Atomics>
struct sleeper {
    static constexpr std::uint32_t k_awake = 0;
    static constexpr std::uint32_t k_asleep = 1;
    static constexpr std::uint32_t k_claimed = 2;  ///< a waker has it but has not counted it yet
    static constexpr std::uint32_t k_woken = 3;

    typename Atomics::template atomic<std::uint32_t> word{k_awake};
};

template <class Atomics>
class idle_gate {
public:
    using sleeper_type = sleeper<Atomics>;

    struct counts {
        std::uint32_t searching;
        std::uint32_t sleeping;
        bool somebody_idle() const noexcept { return searching != 0 || sleeping != 0; }
        /// Nobody will find new work unless a sleeper is woken.
        bool must_wake() const noexcept { return searching == 0 && sleeping != 0; }
    };

    counts load() const noexcept { return split(m_word.load(std::memory_order_seq_cst)); }

    void begin_search() noexcept { m_word.fetch_add(k_searching, std::memory_order_seq_cst); }

    /// True: the caller was the last searcher and somebody sleeps, so it must wake one.
    bool end_search() noexcept {
        const counts before = split(m_word.fetch_sub(k_searching, std::memory_order_seq_cst));
        return before.searching == 1 && before.sleeping != 0;
    }

    /// A searcher says that it will sleep. It must look for work once more before it does.
    /// Returns the counts as they are now.
    counts announce_sleep(sleeper_type& self) noexcept {
        // seq_cst: a waker that need not read the gate (stop, a new poller) reads this word after
        // it has written, and the sleeper looks for that after it has written this.
        self.word.store(sleeper_type::k_asleep, std::memory_order_seq_cst);
        // seq_cst: ordered before the last look for work.
        return split(m_word.fetch_add(k_sleeping - k_searching, std::memory_order_seq_cst) +
                     k_sleeping - k_searching);
    }

    /// The last look found something (or time ran out): the caller is a searcher again.
    void cancel_sleep(sleeper_type& self) noexcept {
        std::uint32_t expected = sleeper_type::k_asleep;
        if (self.word.compare_exchange_strong(expected, sleeper_type::k_awake,
                                              std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
            m_word.fetch_add(k_searching - k_sleeping, std::memory_order_seq_cst);
        } else {
            sleep(self);  // a waker was faster: returns as soon as it has counted us
        }
    }

    /// Sleeps until woken; the caller is a searcher then. A sleeper that has been claimed must not
    /// run before its waker has counted it: else it could search, find, and sleep again while the
    /// count is wrong, and the next publisher would see a searcher that is not there.
    void sleep(sleeper_type& self) noexcept {
        for (;;) {
            const std::uint32_t seen = self.word.load(std::memory_order_acquire);  // with wake
            if (seen == sleeper_type::k_woken) {
                break;
            }
            Atomics::futex_wait(self.word, seen);
        }
        self.word.store(sleeper_type::k_awake, std::memory_order_relaxed);
    }

    /// The same with a limit. False: nobody has woken the caller, who still counts as asleep and
    /// must sleep again or cancel_sleep().
    bool sleep_for(sleeper_type& self, std::chrono::nanoseconds limit) noexcept {
        if (self.word.load(std::memory_order_acquire) == sleeper_type::k_asleep) {
            Atomics::futex_wait_for(self.word, sleeper_type::k_asleep, limit);
        }
        if (self.word.load(std::memory_order_acquire) == sleeper_type::k_asleep) {
            return false;
        }
        sleep(self);  // claimed: returns as soon as the waker has counted us
        return true;
    }

    /// True: `other` slept and is now a searcher about to run.
    bool wake(sleeper_type& other) noexcept {
        std::uint32_t expected = sleeper_type::k_asleep;
        if (other.word.load(std::memory_order_seq_cst) != expected ||
            !other.word.compare_exchange_strong(expected, sleeper_type::k_claimed,
                                                std::memory_order_acq_rel,
                                                std::memory_order_relaxed)) {
            return false;
        }
        m_word.fetch_add(k_searching - k_sleeping, std::memory_order_seq_cst);
        other.word.store(sleeper_type::k_woken, std::memory_order_release);  // pairs with sleep
        Atomics::futex_wake(other.word, 1);
        return true;
    }

private:
    static constexpr std::uint64_t k_searching = 1;
    static constexpr std::uint64_t k_sleeping = std::uint64_t{1} << 32;

    static counts split(std::uint64_t word) noexcept {
        return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
    }

    alignas(k_cache_line) typename Atomics::template atomic<std::uint64_t> m_word{0};
};

}  // namespace quern::detail
