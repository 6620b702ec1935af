// SPDX-License-Identifier: BSL-1.0
// quern::full_empty: a value with a full/empty bit, after the words of the Tera MTA and Qthreads,
// whose names the operations have. Tasks pass values through it and synchronise on it.
#pragma once

#include <quern/sync/detail/cell_lock.hpp>

#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace quern {

/// A cell that is full or empty. Operations wait for one state and leave the other.
///
///     quern::full_empty<int> cell;                    // empty
///     quern::post([&] { cell.write_ef(compute()); });
///     use(cell.read_fe());                            // waits; the cell is empty again
///
/// | operation | waits until it is | leaves it |
/// |---|---|---|
/// | read_fe | full | empty |
/// | read_ff | full | full |
/// | write_ef | empty | full |
/// | write_f | - | full |
/// | purge | - | empty |
/// | fill | - | full |
///
/// Each operation has exclusive access while it moves or copies the value, in the caller's task.
/// The next one is the longest waiter among those that the new state admits, so none starves
/// (Qthreads instead serves all waiting readFF before a readFE). An exception of T reaches the
/// caller and leaves the bit unchanged, and the value as T leaves it. The cell may be destroyed as
/// soon as there are no waiters and every operation has returned, except the one that released the
/// last reader or writer. Thread safety: any thread. Cost: a short spin-lock section at begin and
/// end. Requires of T: default-constructible, movable and assignable.
template <class T>
class full_empty {
public:
    /// Empty.
    full_empty() noexcept(std::is_nothrow_default_constructible_v<T>) : m_lock(false) {}

    /// Full.
    explicit full_empty(T value) : m_value(std::move(value)), m_lock(true) {}

    full_empty(const full_empty&) = delete;
    full_empty& operator=(const full_empty&) = delete;

    /// Waits until it is full, moves the value out and leaves it empty.
    T read_fe() {
        detail::turn mine(m_lock, k_full);
        return take_out(mine);
    }

    /// Waits until it is full, copies the value and leaves it full.
    T read_ff() requires std::is_copy_constructible_v<T> {
        const detail::turn mine(m_lock, k_full);
        return m_value;
    }

    /// Waits until it is empty, writes the value and leaves it full.
    void write_ef(T value) { write(k_empty, std::move(value)); }

    /// Writes the value and leaves it full, in either state.
    void write_f(T value) { write(k_either, std::move(value)); }

    /// Makes it empty, in either state; the value becomes T().
    void purge() {
        detail::turn mine(m_lock, k_either);
        m_value = T();
        mine.leave(false);
    }

    /// Makes it full, in either state, with the present value: T(), or what the last read_fe() has
    /// left behind, which for a type without pointers is the value that it read.
    void fill() noexcept {
        detail::turn mine(m_lock, k_either);
        mine.leave(true);
    }

    /// read_fe(), read_ff() and write_ef() until `stop` is requested: std::nullopt or false if that
    /// comes first; the value to be written is then unchanged. See event::wait(stop).
    std::optional<T> read_fe(const std::stop_token& stop) {
        if (!m_lock.begin_until(k_full, stop)) {
            return std::nullopt;
        }
        detail::turn mine(m_lock);
        return take_out(mine);
    }
    std::optional<T> read_ff(const std::stop_token& stop) requires std::is_copy_constructible_v<T> {
        if (!m_lock.begin_until(k_full, stop)) {
            return std::nullopt;
        }
        const detail::turn mine(m_lock);
        return m_value;
    }
    bool write_ef(T&& value, const std::stop_token& stop) {
        if (!m_lock.begin_until(k_empty, stop)) {
            return false;
        }
        detail::turn mine(m_lock);
        put_in(mine, std::move(value));
        return true;
    }
    bool write_ef(const T& value, const std::stop_token& stop) { return write_ef(T(value), stop); }

    /// For coroutines, see event::co_wait(): co_await gives or throws what the operations do. A
    /// value to be written is kept in the coroutine's frame.
    auto co_read_fe() noexcept {
        return detail::co_take_turn(m_lock, k_full,
                                    [this](detail::turn& mine) { return take_out(mine); });
    }
    auto co_read_ff() noexcept requires std::is_copy_constructible_v<T> {
        return detail::co_take_turn(m_lock, k_full, [this](detail::turn&) -> T { return m_value; });
    }
    auto co_write_ef(T value) { return co_write(k_empty, std::move(value)); }
    auto co_write_f(T value) { return co_write(k_either, std::move(value)); }

    /// read_fe(stop) and so on for coroutines, see event::co_wait(stop). A value that was not
    /// written is destroyed.
    auto co_read_fe(std::stop_token stop) noexcept {
        return detail::co_take_turn(
            m_lock, k_full, [this](detail::turn& mine) { return take_out(mine); }, std::move(stop));
    }
    auto co_read_ff(std::stop_token stop) noexcept requires std::is_copy_constructible_v<T> {
        return detail::co_take_turn(
            m_lock, k_full, [this](detail::turn&) -> T { return m_value; }, std::move(stop));
    }
    auto co_write_ef(T value, std::stop_token stop) {
        return detail::co_take_turn(
            m_lock, k_empty,
            [this, v = std::move(value)](detail::turn& mine) mutable {
                put_in(mine, std::move(v));
            },
            std::move(stop));
    }

    [[nodiscard]] bool is_full() const noexcept { return m_lock.is_full(); }

private:
    static constexpr auto k_empty = detail::cell_state::empty;
    static constexpr auto k_full = detail::cell_state::full;
    static constexpr auto k_either = detail::cell_state::either;

    T take_out(detail::turn& mine) {
        T value(std::move(m_value));
        mine.leave(false);
        return value;
    }
    void put_in(detail::turn& mine, T&& value) {
        m_value = std::move(value);
        mine.leave(true);
    }
    void write(detail::cell_state wanted, T&& value) {
        detail::turn mine(m_lock, wanted);
        put_in(mine, std::move(value));
    }
    auto co_write(detail::cell_state wanted, T&& value) {
        return detail::co_take_turn(m_lock, wanted,
                                    [this, v = std::move(value)](detail::turn& mine) mutable {
                                        put_in(mine, std::move(v));
                                    });
    }

    T m_value{};
    detail::cell_lock m_lock;
};

}  // namespace quern
