// SPDX-License-Identifier: BSL-1.0
// virtual_time::atomics, the replacement of quern's std_atomics whose every access costs virtual
// time. A word has the size and the place that std::atomic would have, so words share cache lines
// as in production. A store is visible when it is made: the order of accesses is sequentially
// consistent, and tests/model explores the weaker ones.
#pragma once

#include "machine.hpp"

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace virtual_time {

inline void touch(const void* address, access kind) noexcept {
    if (machine* const m = machine::running()) {
        m->touch(address, kind);
    }
}

template <class T>
class alignas(sizeof(T)) atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8,
                  "at most eight trivially copyable bytes");
    using order = std::memory_order;

public:
    atomic() noexcept : m_value{} {}
    atomic(T initial) noexcept : m_value(initial) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(order = order::seq_cst) const noexcept {
        touch(this, access::load);
        return m_value;
    }
    void store(T value, order o = order::seq_cst) noexcept {
        touch(this, o == order::seq_cst ? access::modify : access::store);
        m_value = value;
    }
    T exchange(T value, order = order::seq_cst) noexcept {
        return modify([value](T) { return value; });
    }
    bool compare_exchange_strong(T& expected, T desired, order, order) noexcept {
        touch(this, access::modify);
        if (m_value == expected) {
            m_value = desired;
            return true;
        }
        expected = m_value;
        return false;
    }
    bool compare_exchange_strong(T& expected, T desired, order o = order::seq_cst) noexcept {
        return compare_exchange_strong(expected, desired, o, o);
    }
    bool compare_exchange_weak(T& expected, T desired, order success, order failure) noexcept {
        return compare_exchange_strong(expected, desired, success, failure);
    }
    T fetch_add(T n, order = order::seq_cst) noexcept {
        return modify([n](T value) { return static_cast<T>(value + n); });
    }
    T fetch_sub(T n, order = order::seq_cst) noexcept {
        return modify([n](T value) { return static_cast<T>(value - n); });
    }

    /// For the futex: the kernel reads the word.
    const T& raw() const noexcept { return m_value; }

private:
    template <class F>
    T modify(F changed) noexcept {
        touch(this, access::modify);
        const T before = m_value;
        m_value = changed(before);
        return before;
    }

    T m_value;
};

/// A variable that the protocol itself keeps free of races.
template <class T>
class plain {
public:
    plain() noexcept : m_value{} {}
    plain(T initial) noexcept : m_value(initial) {}
    plain& operator=(T value) noexcept {
        touch(this, access::store);
        m_value = value;
        return *this;
    }
    operator T() const noexcept {
        touch(this, access::load);
        return m_value;
    }

private:
    T m_value;
};

struct atomics {
    template <class T>
    using atomic = virtual_time::atomic<T>;
    template <class T>
    using plain = virtual_time::plain<T>;

    static void pause() noexcept { spend(&costs::pause); }
    /// As std_atomics: pauses a hundred times, then yields.
    static void back_off(int& spins) noexcept {
        spend(++spins < 100 ? &costs::pause : &costs::yield);
    }
    static void yield() noexcept { spend(&costs::yield); }

    static void light_barrier() noexcept {}
    static bool heavy_barrier() noexcept {
        if (machine* const m = machine::running()) {
            m->barrier();
        }
        return true;
    }

    static void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
        machine::running()->futex_wait(&word, word.raw(), expected);
    }
    static void futex_wake(const atomic<std::uint32_t>& word, int count) noexcept {
        machine::running()->futex_wake(&word, count);
    }

    /// Picoseconds, as if the time stamp counter counted them.
    static std::uint64_t ticks() noexcept {
        spend(&costs::clock);
        return machine::running()->now();
    }
    /// Instructions that touch no shared line.
    static void spend(picoseconds costs::*what) noexcept {
        if (machine* const m = machine::running()) {
            m->spend(m->cost().*what);
        }
    }
};

}  // namespace virtual_time
