// SPDX-License-Identifier: BSL-1.0
// Counts the threads that read a shared structure, so that a thread that has taken a part out of it
// can wait until no reader may still see that part. Used by listener.cpp. Readers never wait, and
// threads count themselves on different cache lines. The scheme is that of sleepable RCU: readers
// count themselves under one of two phases, and waiting ends although new readers keep coming.
#pragma once

#include <quern/base/detail/cache_line.hpp>

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace quern::trace::detail {

class reader_gate {
    using count = std::atomic<std::uint32_t>;

public:
    /// The caller reads as long as this lives. All loads of the structure's pointers must be
    /// seq_cst, and so must the stores that take a part out.
    class reading {
    public:
        /// seq_cst: either wait_for_readers() sees this reader, or the reader's loads see the
        /// stores before wait_for_readers().
        explicit reading(reader_gate& gate) noexcept
            : m_count(gate.own_stripe().inside[gate.m_phase.load(std::memory_order_relaxed)]) {
            m_count.fetch_add(1, std::memory_order_seq_cst);
        }
        reading(const reading&) = delete;
        reading& operator=(const reading&) = delete;
        /// release: pairs with the load in wait_for().
        ~reading() { m_count.fetch_sub(1, std::memory_order_release); }

    private:
        count& m_count;
    };

    /// Returns when all readers have left that may have read what was there before the call.
    /// Requires: one caller at a time, which is no reader.
    void wait_for_readers() noexcept {
        const unsigned phase = m_phase.load(std::memory_order_relaxed);
        wait_for(phase ^ 1U);  // readers that were late to count themselves under the phase before
        m_phase.store(phase ^ 1U, std::memory_order_relaxed);
        wait_for(phase);
    }

    /// In the child of a fork(), where the threads that were reading are not.
    void forget_readers() noexcept {
        for (stripe& each : m_stripes) {
            each.inside[0].store(0, std::memory_order_relaxed);
            each.inside[1].store(0, std::memory_order_relaxed);
        }
    }

private:
    static constexpr std::size_t k_stripes = 32;  ///< a power of 2; 2 KiB (guessed)

    struct alignas(quern::detail::k_cache_line) stripe {
        std::array<count, 2> inside{};
    };

    /// Any stripe is right; threads should have different ones.
    stripe& own_stripe() noexcept {
        constexpr std::uint64_t k_golden = 0x9e37'79b9'7f4a'7c15;
        constexpr int k_shift = 59;  // the upper 5 bits
        static_assert(k_stripes == std::size_t{1} << (64 - k_shift));
        return m_stripes[(static_cast<std::uint64_t>(::pthread_self()) * k_golden) >> k_shift];
    }

    void wait_for(unsigned phase) const noexcept {
        for (const stripe& each : m_stripes) {
            // seq_cst: see reading
            while (each.inside[phase].load(std::memory_order_seq_cst) != 0) {
                std::this_thread::yield();
            }
        }
    }

    std::atomic<unsigned> m_phase{0};
    std::array<stripe, k_stripes> m_stripes{};
};

}  // namespace quern::trace::detail
