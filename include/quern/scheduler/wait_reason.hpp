// SPDX-License-Identifier: BSL-1.0
// What a suspended task waits for, so that a report can say it: which kind of thing, which one, and
// since when. Noted at every suspension (three relaxed stores), read by reports at any time; they
// look at a copy of the thing's bytes, since the thing itself may go at any moment.
#pragma once

#include <quern/base/clock.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quern::detail {

/// Set in the word of a lock that a coroutine holds by a guard: the guard is the proof, and a
/// coroutine has no stack to be known by. The other bits but the lowest say to reports which one
/// has taken it, by a number; none is set where that is not known. No address has this bit.
inline constexpr std::uintptr_t k_coroutine_holder = std::uintptr_t{1} << 63;

/// What a report says of a thing that is waited for.
struct wait_findings {
    /// Who has it: a context, a thread outside, or a coroutine; 0: nobody, or unknown.
    std::uintptr_t holder = 0;
    std::array<char, 96> words{};  ///< "2 of 3 have come"; may be empty
};

/// A kind of thing that tasks wait for. Constants with static storage, one a class.
struct wait_kind {
    const char* name;      ///< "mutex"
    std::size_t size = 0;  ///< bytes of the thing that `look` reads
    /// Reads the copy of a thing of this kind, at which no constructor ran; the copy is aligned for
    /// any type. Null: says nothing.
    void (*look)(const void* copy, wait_findings& into) noexcept = nullptr;
    bool is_lock = false;  ///< to hold other locks meanwhile is no fault
    /// Things of it are waited for once or twice: who adds up waits need not tell them apart.
    bool is_passing = false;
    bool is_running = false;  ///< the task runs meanwhile, on another thread: its stack is in use
};

inline constexpr wait_kind k_unnamed_wait{"an event"};

struct wait_reason {
    const wait_kind* kind = &k_unnamed_wait;
    const void* thing = nullptr;
};

/// What the owner notes of itself. Written by who waits, before it can be resumed; read by anybody.
class wait_note {
public:
    void begin(const wait_reason& why, tick_count now) noexcept {
        m_thing.store(why.thing, std::memory_order_relaxed);
        m_since.store(now, std::memory_order_relaxed);
        m_kind.store(why.kind, std::memory_order_relaxed);
    }
    /// It waits for something else from now on, and has not gone on in between. Called by one who
    /// keeps it from going on.
    void change(const wait_reason& why) noexcept {
        m_thing.store(why.thing, std::memory_order_relaxed);
        m_kind.store(why.kind, std::memory_order_relaxed);
    }
    void end() noexcept { m_kind.store(nullptr, std::memory_order_relaxed); }

    /// Null while it does not wait.
    const wait_kind* kind() const noexcept { return m_kind.load(std::memory_order_relaxed); }
    const void* thing() const noexcept { return m_thing.load(std::memory_order_relaxed); }
    tick_count since() const noexcept { return m_since.load(std::memory_order_relaxed); }

private:
    std::atomic<const wait_kind*> m_kind{nullptr};
    std::atomic<const void*> m_thing{nullptr};
    std::atomic<tick_count> m_since{0};
};

}  // namespace quern::detail
