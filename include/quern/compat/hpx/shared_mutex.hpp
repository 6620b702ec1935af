// SPDX-License-Identifier: BSL-1.0
// hpx::shared_mutex, in which one reader may hold the right to become the writer, and the locks for
// that: upgrade_lock, upgrade_to_unique_lock.
#pragma once

#include <quern/sync/condition_variable.hpp>
#include <quern/sync/mutex.hpp>

#include <cstddef>
#include <mutex>
#include <system_error>
#include <utility>

namespace hpx {

/// States: free; readers, one of which may be the upgrader; one writer. A waiting writer keeps
/// later readers out.
class shared_mutex {
public:
    shared_mutex() = default;
    shared_mutex(const shared_mutex&) = delete;
    shared_mutex& operator=(const shared_mutex&) = delete;

    void lock() {
        std::unique_lock state(m_state);
        ++m_writers_waiting;
        m_changed.wait(state, [this] { return is_free(); });
        --m_writers_waiting;
        m_writer = true;
    }
    bool try_lock() {
        return change(is_free_now, [this] { m_writer = true; });
    }
    void unlock() {
        change(always, [this] { m_writer = false; });
    }

    void lock_shared() {
        std::unique_lock state(m_state);
        m_changed.wait(state, [this] { return !m_writer && m_writers_waiting == 0; });
        ++m_readers;
    }
    bool try_lock_shared() {
        return change([](const shared_mutex& m) { return !m.m_writer && m.m_writers_waiting == 0; },
                      [this] { ++m_readers; });
    }
    void unlock_shared() {
        change(always, [this] { --m_readers; });
    }

    void lock_upgrade() {
        std::unique_lock state(m_state);
        m_changed.wait(state, [this] { return may_upgrade(*this); });
        begin_upgrade();
    }
    bool try_lock_upgrade() {
        return change(may_upgrade, [this] { begin_upgrade(); });
    }
    void unlock_upgrade() {
        change(always, [this] { end_upgrade(); });
    }

    /// Waits until the other readers have left.
    void unlock_upgrade_and_lock() {
        std::unique_lock state(m_state);
        ++m_writers_waiting;
        m_changed.wait(state, [this] { return m_readers == 1; });
        --m_writers_waiting;
        end_upgrade();
        m_writer = true;
    }
    bool try_unlock_upgrade_and_lock() {
        return change([](const shared_mutex& m) { return m.m_readers == 1; },
                      [this] {
                          end_upgrade();
                          m_writer = true;
                      });
    }
    void unlock_and_lock_upgrade() {
        change(always, [this] {
            m_writer = false;
            begin_upgrade();
        });
    }
    void unlock_and_lock_shared() {
        change(always, [this] {
            m_writer = false;
            ++m_readers;
        });
    }
    void unlock_upgrade_and_lock_shared() {
        change(always, [this] { m_upgrader = false; });
    }

private:
    static bool always(const shared_mutex&) { return true; }
    static bool is_free_now(const shared_mutex& m) { return m.is_free(); }
    static bool may_upgrade(const shared_mutex& m) {
        return !m.m_writer && !m.m_upgrader && m.m_writers_waiting == 0;
    }
    bool is_free() const { return !m_writer && m_readers == 0; }
    void begin_upgrade() {
        m_upgrader = true;
        ++m_readers;
    }
    void end_upgrade() {
        m_upgrader = false;
        --m_readers;
    }

    template <class Allowed, class Change>
    bool change(Allowed allowed, Change change_state) {
        const std::scoped_lock state(m_state);
        if (!allowed(*this)) {
            return false;
        }
        change_state();
        m_changed.notify_all();
        return true;
    }

    quern::mutex m_state;
    quern::condition_variable m_changed;
    std::size_t m_readers = 0;  ///< including the upgrader
    std::size_t m_writers_waiting = 0;
    bool m_upgrader = false;
    bool m_writer = false;
};

/// Holds a mutex as its upgrader. As std::unique_lock.
template <class Mutex>
class upgrade_lock {
public:
    using mutex_type = Mutex;

    upgrade_lock() noexcept = default;
    explicit upgrade_lock(Mutex& m) : m_mutex(&m) { lock(); }
    upgrade_lock(Mutex& m, std::defer_lock_t) noexcept : m_mutex(&m) {}
    upgrade_lock(Mutex& m, std::adopt_lock_t) noexcept : m_mutex(&m), m_owns(true) {}
    upgrade_lock(Mutex& m, std::try_to_lock_t) : m_mutex(&m), m_owns(m.try_lock_upgrade()) {}
    upgrade_lock(upgrade_lock&& other) noexcept { swap(other); }
    upgrade_lock& operator=(upgrade_lock&& other) noexcept {
        upgrade_lock(std::move(other)).swap(*this);
        return *this;
    }
    ~upgrade_lock() {
        if (m_owns) {
            m_mutex->unlock_upgrade();
        }
    }

    void swap(upgrade_lock& other) noexcept {
        std::swap(m_mutex, other.m_mutex);
        std::swap(m_owns, other.m_owns);
    }
    void lock() {
        require(!m_owns, std::errc::resource_deadlock_would_occur);
        m_mutex->lock_upgrade();
        m_owns = true;
    }
    bool try_lock() {
        require(!m_owns, std::errc::resource_deadlock_would_occur);
        return m_owns = m_mutex->try_lock_upgrade();
    }
    void unlock() {
        require(m_owns, std::errc::operation_not_permitted);
        m_mutex->unlock_upgrade();
        m_owns = false;
    }
    Mutex* release() noexcept {
        m_owns = false;
        return std::exchange(m_mutex, nullptr);
    }
    Mutex* mutex() const noexcept { return m_mutex; }
    bool owns_lock() const noexcept { return m_owns; }
    explicit operator bool() const noexcept { return m_owns; }

private:
    void require(bool fine, std::errc otherwise) const {
        if (m_mutex == nullptr || !fine) {
            throw std::system_error(std::make_error_code(otherwise), "hpx::upgrade_lock");
        }
    }

    Mutex* m_mutex = nullptr;
    bool m_owns = false;
};

/// While it lives, an upgrade_lock holds as the writer.
template <class Mutex>
class upgrade_to_unique_lock {
public:
    using mutex_type = Mutex;

    explicit upgrade_to_unique_lock(upgrade_lock<Mutex>& from)
        : m_from(&from), m_mutex(from.release()) {
        m_mutex->unlock_upgrade_and_lock();
    }
    upgrade_to_unique_lock(const upgrade_to_unique_lock&) = delete;
    upgrade_to_unique_lock& operator=(const upgrade_to_unique_lock&) = delete;
    ~upgrade_to_unique_lock() {
        m_mutex->unlock_and_lock_upgrade();
        *m_from = upgrade_lock<Mutex>(*m_mutex, std::adopt_lock);
    }

    bool owns_lock() const noexcept { return true; }
    explicit operator bool() const noexcept { return true; }
    Mutex* mutex() const noexcept { return m_mutex; }

private:
    upgrade_lock<Mutex>* m_from;
    Mutex* m_mutex;
};

namespace lcos::local {
using hpx::shared_mutex;
using hpx::upgrade_lock;
using hpx::upgrade_to_unique_lock;
}  // namespace lcos::local

}  // namespace hpx
