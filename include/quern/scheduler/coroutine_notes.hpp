// SPDX-License-Identifier: BSL-1.0
// For what the coroutines of a pool wait, for reports. A suspended task notes that in its context;
// a coroutine has no stack, and eight bytes more in its frame would be megabytes for a million of
// them. So the notes are kept here, of as many as find a place; the others are counted alone.
#pragma once

#include <quern/base/cache_line.hpp>
#include <quern/base/relaxed.hpp>
#include <quern/scheduler/wait_reason.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quern::detail {

struct runnable;

/// A table of sets, as a cache: the address of the item that will resume a coroutine says in which
/// set its note is, if anywhere. Thread safe. Cost: one cache line, and a second one and a clock
/// reading where there is room.
class coroutine_notes {
public:
    /// A coroutine, which that item will resume, waits from now on. Before it can go on.
    void begin(const runnable& who, const void* frame, const wait_reason& why) noexcept;

    /// It goes on. Once, before the item is made ready.
    void end(const runnable& who) noexcept;

    /// Calls visit(who, frame, note) for each that has a note; all of it may be gone already.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const set& s : m_sets) {
            for (std::size_t i = 0; i < k_ways; ++i) {
                if (const runnable* const who = s.who[i].load(std::memory_order_acquire)) {
                    visit(who, static_cast<const void*>(s.notes[i].frame), s.notes[i].wait);
                }
            }
        }
    }

private:
    static constexpr std::size_t k_ways = 8;  ///< addresses in a cache line
    static constexpr std::size_t k_sets = 64;

    struct note {
        relaxed<const void*> frame = nullptr;
        wait_note wait;
    };
    struct alignas(k_cache_line) set {
        std::array<std::atomic<const runnable*>, k_ways> who{};
        std::array<note, k_ways> notes;
    };

    set& set_of(const runnable& who) noexcept {
        constexpr std::uint64_t k_golden =
            0x9e3779b97f4a7c15;  // 2^64 by the golden ratio: Knuth 6.4
        constexpr int k_shift = 64 - 6;
        static_assert(k_sets == 1U << 6);
        return m_sets[(reinterpret_cast<std::uintptr_t>(&who) * k_golden) >> k_shift];
    }

    std::array<set, k_sets> m_sets;
};

}  // namespace quern::detail
