// SPDX-License-Identifier: BSL-1.0
// What a coroutine holds that has locked a mutex. Who locks with lock() is known by the stack that
// it runs on, and a coroutine changes stacks; so it is this object that holds the mutex, and
// whoever has the object may let go of it.
#pragma once

#include <utility>

namespace quern::detail {

/// `mutex::co_guard` and its like. Lets go of the mutex at its end, if not before; on any worker or
/// thread, and however often the coroutine has been suspended since. Can be moved, also to another
/// coroutine, task or thread. Thread safety: one object must not be used by two threads at once.
template <class Mutex, void (Mutex::*LetGo)() noexcept>
class [[nodiscard]] co_guard {
public:
    /// Holds nothing.
    co_guard() noexcept = default;
    co_guard(co_guard&& other) noexcept : m_held(std::exchange(other.m_held, nullptr)) {}
    co_guard& operator=(co_guard&& other) noexcept {
        co_guard before(std::move(other));
        std::swap(m_held, before.m_held);
        return *this;
    }
    ~co_guard() { unlock(); }

    /// Lets go of the mutex. Does nothing when it holds none.
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
