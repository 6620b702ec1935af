// SPDX-License-Identifier: BSL-1.0
// For what the coroutines of a pool wait, for reports. A suspended task notes that in its context;
// a coroutine has no stack, and eight bytes more in its frame would be megabytes for a million of
// them. So each worker has places for notes of some, and the others are counted alone.
#pragma once

#include <quern/base/clock.hpp>
#include <quern/base/config.hpp>
#include <quern/scheduler/wait_reason.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace quern::detail {

struct runnable;

/// What reports know a coroutine by.
struct coroutine_marks {
    const void* frame;
    std::uintptr_t holder = 0;     ///< in the words of locks that it has; 0: none is its own
    const void* result = nullptr;  ///< the state that its end makes ready, if it was started
};

/// What is noted of a coroutine that waits.
struct coroutine_note {
    std::atomic<const runnable*> who{nullptr};  ///< what will resume it; null: the place is free
    std::atomic<const void*> frame{nullptr};
    std::atomic<std::uintptr_t> holder{0};
    std::atomic<const void*> result{nullptr};
    wait_note wait;
};

/// Workers take places, each of its own ones; anybody frees them, and reports look at any time.
/// Cost: a few plain loads and stores.
class coroutine_notes {
public:
    static constexpr std::int32_t k_nowhere = -1;

    explicit coroutine_notes(std::size_t workers)
        : m_size(workers * k_places), m_notes(new coroutine_note[m_size]) {}

    /// A coroutine, which the item will resume, waits from now on. Returns the number of the note,
    /// or k_nowhere. The worker of that rank; `turn` is its own.
    std::int32_t begin(std::uint32_t rank, std::uint32_t& turn, const runnable& who,
                       const coroutine_marks& marks, const wait_reason& why,
                       tick_count now) noexcept {
        for (std::uint32_t i = 0; i < k_probes; ++i) {
            const std::uint32_t number = rank * k_places + ++turn % k_places;
            coroutine_note& free = m_notes[number];
            if (free.who.load(std::memory_order_acquire) == nullptr) {  // pairs with end
                free.frame.store(marks.frame, std::memory_order_relaxed);
                free.holder.store(marks.holder, std::memory_order_relaxed);
                free.result.store(marks.result, std::memory_order_relaxed);
                free.wait.begin(why, now);
                free.who.store(&who, std::memory_order_release);  // pairs with the look of a report
                return static_cast<std::int32_t>(number);
            }
        }
        return k_nowhere;
    }

    /// That one goes on. Any thread, once, before its item is made ready.
    void end(std::int32_t number) noexcept {
        if (number != k_nowhere) {
            m_notes[static_cast<std::size_t>(number)].who.store(nullptr, std::memory_order_release);
        }
    }

    /// All places. What a note says may be over, or be of another coroutine by now.
    std::span<const coroutine_note> all() const noexcept { return {m_notes.get(), m_size}; }

private:
    static constexpr std::uint32_t k_places = 64;  ///< of a worker
    static constexpr std::uint32_t k_probes = 4;   ///< of places, before it goes without

    std::size_t m_size;
    std::unique_ptr<coroutine_note[]> m_notes;
};

}  // namespace quern::detail
