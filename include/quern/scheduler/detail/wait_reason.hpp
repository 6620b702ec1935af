// SPDX-License-Identifier: BSL-1.0
// What a suspended task waits for, for reports: the kind of object, its address, and since when.
// Noted at every suspension (three relaxed stores), read by reports at any time. Reports copy the
// object's bytes first, since the object may be destroyed at any moment.
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/scheduler/detail/explaining.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quern::detail {

/// Set in the word of a lock that a coroutine holds by a guard. The guard proves ownership, because
/// a coroutine has no stack to identify it. The other bits, except the lowest, identify the
/// coroutine to reports by a number, or are 0 if it is unknown. No address has this bit.
inline constexpr std::uintptr_t k_coroutine_holder = std::uintptr_t{1} << 63;

struct wait_findings {
    /// Its holder: a context, an outside thread, or a coroutine; 0: none, or unknown.
    std::uintptr_t holder = 0;
    std::array<char, 96> words{};  ///< "2 of 3 have come"; may be empty
};

/// A kind of object that tasks wait for. Constants with static storage, one per class.
struct wait_kind {
    const char* name;      ///< "mutex"
    std::size_t size = 0;  ///< bytes of the object that `look` reads
    /// Reads a copy of an object of this kind. The copy is aligned for any type, but no constructor
    /// has run on it. Null: says nothing.
    void (*look)(const void* copy, wait_findings& into) noexcept = nullptr;
    bool is_lock = false;  ///< holding other locks meanwhile is no fault
    /// Objects of this kind are waited for once or twice, so statistics of waits need not tell them
    /// apart.
    bool is_passing = false;
    bool is_running = false;  ///< the task runs meanwhile on another thread: its stack is in use
    /// Whether the end of another task ends the wait. Called while the thing is sure to live. Null:
    /// never.
    bool (*is_for_task)(const void* thing) noexcept = nullptr;
    /// Adds lines to a report. `copy` as for `look`; the thing itself may be gone. Null: none.
    void (*explain)(const void* copy, const void* thing, explanations& into) = nullptr;
    /// A call that another process may end. Reports show its words and no address.
    bool is_call = false;
    /// Statistics of waits add these words to the name, "from rank 3", and tell objects of this
    /// kind apart by them instead of by address. Called on the waiter's stack after its wait. Null:
    /// none.
    void (*tell_apart)(const void* thing, std::array<char, 48>& words) noexcept = nullptr;
};

inline constexpr wait_kind k_unnamed_wait{"an event"};

struct wait_reason {
    const wait_kind* kind = &k_unnamed_wait;
    const void* thing = nullptr;
};

/// The note of a waiter. The waiter writes it before it can be resumed; any thread reads it.
class wait_note {
public:
    void begin(const wait_reason& why, tick_count now) noexcept {
        m_thing.store(why.thing, std::memory_order_relaxed);
        m_since.store(now, std::memory_order_relaxed);
        m_kind.store(why.kind, std::memory_order_relaxed);
    }
    /// The waiter now waits for another object, without having resumed in between. Called by the
    /// code that keeps it from resuming.
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
