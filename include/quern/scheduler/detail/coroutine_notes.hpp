// SPDX-License-Identifier: BSL-1.0
// What the coroutines of a pool wait for, for reports. A suspended task notes that in its context.
// A coroutine has no stack, and eight more bytes in each frame would be megabytes for a million of
// them. So each worker has a fixed number of notes; further coroutines are only counted.
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace quern::detail {

struct runnable;

/// How reports identify a coroutine.
struct coroutine_marks {
    const void* frame;
    std::uintptr_t holder = 0;     ///< identifies it in words of locks; 0: not identified
    const void* result = nullptr;  ///< the state that its end makes ready, if it was started
};

struct coroutine_note {
    std::atomic<const runnable*> who{nullptr};  ///< the item that will resume it; null: the note is
                                                ///< free
    std::atomic<const void*> frame{nullptr};
    std::atomic<std::uintptr_t> holder{0};
    std::atomic<const void*> result{nullptr};
    wait_note wait;
};

/// Each worker takes notes of its own range. Any thread frees them, and reports read them at any
/// time. Cost: a few plain loads and stores.
class coroutine_notes {
public:
    static constexpr std::int32_t k_nowhere = -1;

    explicit coroutine_notes(std::size_t workers)
        : m_size(workers * k_places), m_notes(new coroutine_note[m_size]) {}

    /// Notes that a coroutine, which the item will resume, begins to wait. Returns the number of
    /// the note, or k_nowhere. Called by the worker of that rank; `turn` is its own counter.
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
                free.who.store(&who, std::memory_order_release);  // pairs with the read by a report
                return static_cast<std::int32_t>(number);
            }
        }
        return k_nowhere;
    }

    /// That coroutine resumes. Any thread, once, before its item is made ready.
    void end(std::int32_t number) noexcept {
        if (number != k_nowhere) {
            m_notes[static_cast<std::size_t>(number)].who.store(nullptr, std::memory_order_release);
        }
    }

    /// All notes. A note may be out of date, or already describe another coroutine.
    std::span<const coroutine_note> all() const noexcept { return {m_notes.get(), m_size}; }

private:
    static constexpr std::uint32_t k_places = 64;  ///< per worker
    static constexpr std::uint32_t k_probes = 4;   ///< notes tried before giving up

    std::size_t m_size;
    std::unique_ptr<coroutine_note[]> m_notes;
};

}  // namespace quern::detail
