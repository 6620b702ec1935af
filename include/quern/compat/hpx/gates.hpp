// SPDX-License-Identifier: BSL-1.0
// hpx::lcos::local::and_gate, trigger and their bases: inputs, and generations that are counted
// from 1 and that the program advances itself. Those without `base_` take the caller's lock.
#pragma once

#include <quern/compat/hpx/promise.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/mutex.hpp>

#include <cstddef>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

namespace hpx::lcos::local {

namespace detail {

/// The number of a generation, and its waiters; guarded by a lock of the caller's.
class generations {
public:
    explicit generations(std::size_t first) : m_generation(first) {}
    generations(generations&& other) noexcept
        : m_generation(std::exchange(other.m_generation, k_moved)) {}
    generations& operator=(generations&& other) noexcept {
        m_generation = std::exchange(other.m_generation, k_moved);
        return *this;
    }

    std::size_t current() const noexcept { return m_generation; }

    /// Advances to `wanted` + 1, or with -1 to the next one.
    template <class Lock>
    std::size_t advance(Lock& lock, std::size_t wanted, error_code& ec) {
        if (wanted != k_moved && wanted < m_generation) {
            refuse(lock, ec, "a generation has passed");
            return m_generation;
        }
        m_generation = (wanted == k_moved ? m_generation : wanted) + 1;
        m_changed.notify_all();
        return m_generation;
    }

    template <class Lock>
    void wait(Lock& lock, std::size_t wanted, error_code& ec) {
        if (wanted < m_generation) {
            refuse(lock, ec, "a generation that is waited for has passed");
            return;
        }
        m_changed.wait(lock, [&] { return wanted <= m_generation; });
        hpx::detail::succeed(ec);
    }

private:
    static constexpr std::size_t k_moved = static_cast<std::size_t>(-1);

    template <class Lock>
    static void refuse(Lock& lock, error_code& ec, const char* why) {
        lock.unlock();
        hpx::detail::report(ec, error::invalid_status, "hpx::lcos::local", why);
    }

    std::size_t m_generation;
    quern::condition_variable_any m_changed;
};

}  // namespace detail

/// Ready when every input has been set. Not synchronised: each member takes the guarding lock.
class and_gate {
public:
    explicit and_gate(std::size_t inputs = 0) : m_set(inputs), m_generation(1) {}
    and_gate(and_gate&&) noexcept = default;
    and_gate& operator=(and_gate&&) noexcept = default;

    /// The future of the present generation; `inputs` resets it first, with that number of inputs.
    template <class Lock>
    future<void> get_future(Lock& lock, std::size_t inputs = k_same, std::size_t* number = nullptr,
                            error_code& ec = throws) {
        return get_shared_future(lock, inputs, number, ec)
            .then(hpx::detail::in_place(), [](auto f) { f.get(); });
    }
    template <class Lock>
    shared_future<void> get_shared_future(Lock& lock, std::size_t inputs = k_same,
                                          std::size_t* number = nullptr, error_code& ec = throws) {
        if (inputs != k_same) {
            begin(inputs);
        }
        if (number != nullptr) {
            *number = m_generation.advance(lock, k_same, ec);
        }
        return m_future;
    }

    /// Returns whether it was the last. Then on_end(lock, gate, error_code) is called, if given.
    template <class Lock, class OnEnd = std::nullptr_t>
    bool set(std::size_t which, Lock& lock, OnEnd on_end = nullptr, error_code& ec = throws) {
        if (which >= m_set.size() || m_set[which]) {
            lock.unlock();
            hpx::detail::report(ec, error::bad_parameter, "hpx::lcos::local::and_gate::set",
                                "there is no such input, or it is set");
            return false;
        }
        hpx::detail::succeed(ec);
        m_set[which] = true;
        if (++m_count != m_set.size()) {
            return false;
        }
        promise<void> end = std::move(m_end);
        begin(m_set.size());
        if constexpr (!std::is_same_v<OnEnd, std::nullptr_t>) {
            on_end(lock, *this, ec);
        }
        end.set_value();
        return true;
    }

    template <class Lock>
    void synchronize(std::size_t generation, Lock& lock, const char* = "",
                     error_code& ec = throws) {
        m_generation.wait(lock, generation, ec);
    }
    template <class Lock>
    std::size_t next_generation(Lock& lock, std::size_t wanted = k_same, error_code& ec = throws) {
        return m_generation.advance(lock, wanted, ec);
    }
    template <class Lock>
    std::size_t init(Lock& lock, std::size_t inputs, error_code& ec = throws) {
        begin(inputs);
        return m_generation.advance(lock, k_same, ec);
    }
    template <class Lock>
    std::size_t generation(Lock&) const {
        return m_generation.current();
    }

private:
    static constexpr std::size_t k_same = static_cast<std::size_t>(-1);

    void begin(std::size_t inputs) {
        m_set.assign(inputs, false);
        m_count = 0;
        m_end = promise<void>();
        m_future = m_end.get_future().share();
    }

    std::vector<bool> m_set;
    std::size_t m_count = 0;
    promise<void> m_end;
    shared_future<void> m_future = m_end.get_future().share();
    detail::generations m_generation;
};

/// The same with a lock of its own.
template <class Mutex = quern::mutex>
class base_and_gate {
    using lock_type = std::unique_lock<Mutex>;

public:
    explicit base_and_gate(std::size_t inputs = 0) : m_gate(inputs) {}

    future<void> get_future(std::size_t inputs = static_cast<std::size_t>(-1),
                            std::size_t* number = nullptr, error_code& ec = throws) {
        lock_type lock(m_mutex);
        return m_gate.get_future(lock, inputs, number, ec);
    }
    shared_future<void> get_shared_future(std::size_t inputs = static_cast<std::size_t>(-1)) {
        lock_type lock(m_mutex);
        return m_gate.get_shared_future(lock, inputs);
    }
    template <class OnEnd = std::nullptr_t>
    bool set(std::size_t which, OnEnd on_end = nullptr, error_code& ec = throws) {
        lock_type lock(m_mutex);
        return m_gate.set(which, lock, on_end, ec);
    }
    void synchronize(std::size_t generation, const char* = "", error_code& ec = throws) {
        lock_type lock(m_mutex);
        m_gate.synchronize(generation, lock, "", ec);
    }
    std::size_t next_generation(std::size_t wanted = static_cast<std::size_t>(-1),
                                error_code& ec = throws) {
        lock_type lock(m_mutex);
        return m_gate.next_generation(lock, wanted, ec);
    }
    std::size_t generation() const {
        lock_type lock(m_mutex);
        return m_gate.generation(lock);
    }

private:
    mutable Mutex m_mutex;
    and_gate m_gate;
};

/// An event that happens once in each generation.
template <class Mutex = quern::mutex>
class base_trigger {
    using lock_type = std::unique_lock<Mutex>;

public:
    base_trigger() = default;
    base_trigger(const base_trigger&) = delete;
    base_trigger& operator=(const base_trigger&) = delete;

    /// The future of the next set(); begins a generation.
    future<void> get_future(std::size_t* number = nullptr, error_code& ec = throws) {
        lock_type lock(m_mutex);
        const std::size_t generation = m_generation.advance(lock, static_cast<std::size_t>(-1), ec);
        if (number != nullptr) {
            *number = generation;
        }
        return m_end.get_future();
    }
    bool set(error_code& ec = throws) {
        promise<void> end;
        {
            lock_type lock(m_mutex);
            std::swap(end, m_end);
        }
        hpx::detail::succeed(ec);
        end.set_value();
        return true;
    }
    void synchronize(std::size_t generation, const char* = "", error_code& ec = throws) {
        lock_type lock(m_mutex);
        m_generation.wait(lock, generation, ec);
    }
    std::size_t generation() const {
        lock_type lock(m_mutex);
        return m_generation.current();
    }

private:
    mutable Mutex m_mutex;
    promise<void> m_end;
    detail::generations m_generation{0};
};
using trigger = base_trigger<>;

}  // namespace hpx::lcos::local
