// SPDX-License-Identifier: BSL-1.0
// The guard of a coroutine that has locked a mutex. lock() identifies the holder by its stack, but
// a coroutine changes stacks. So this object is the holder, and any code that has the object may
// unlock.
#pragma once

#include <utility>

namespace quern::detail {

/// `mutex::co_guard` and similar. Unlocks the mutex in its destructor, on any worker or thread,
/// however often the coroutine has been suspended. Can be moved, also to another coroutine, task or
/// thread. Thread safety: one object must not be used by two threads at once.
template <class Mutex, void (Mutex::*LetGo)() noexcept>
class [[nodiscard]] co_guard {
public:
    /// Empty.
    co_guard() noexcept = default;
    co_guard(co_guard&& other) noexcept : m_held(std::exchange(other.m_held, nullptr)) {}
    co_guard& operator=(co_guard&& other) noexcept {
        co_guard before(std::move(other));
        std::swap(m_held, before.m_held);
        return *this;
    }
    ~co_guard() { unlock(); }

    /// Unlocks the mutex. Does nothing if empty.
    void unlock() noexcept {
        if (Mutex* const held = std::exchange(m_held, nullptr)) {
            (held->*LetGo)();
        }
    }

    [[nodiscard]] bool owns_lock() const noexcept { return m_held != nullptr; }
    explicit operator bool() const noexcept { return owns_lock(); }

private:
    friend Mutex;
    explicit co_guard(Mutex& locked) noexcept : m_held(&locked) {}

    Mutex* m_held = nullptr;
};

}  // namespace quern::detail
