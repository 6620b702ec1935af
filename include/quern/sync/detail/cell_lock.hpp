// SPDX-License-Identifier: BSL-1.0
// The cell lock of a full_empty: full or empty, locked or not, and the waiters for each wanted
// state. The value itself is accessed by the lock's owner, never under the spin lock.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/sync/detail/co_waiting.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace quern::detail {

/// The state of the cell in which an operation may begin.
enum class cell_state : std::uint8_t { empty, full, either };

/// A lock with a state. Its release hands it to the longest waiter among those that accept the
/// state in which the cell was left.
class cell_lock {
public:
    constexpr explicit cell_lock(bool is_full) noexcept : m_full(is_full) {}

    cell_lock(const cell_lock&) = delete;
    cell_lock& operator=(const cell_lock&) = delete;
    ~cell_lock() {
        for (const request_queue& each : m_queues) {
            detail::refuse_if_awaited(each.front(), "a full_empty");
        }
    }

    /// Locks the cell. Returns whether it is full.
    bool begin(cell_state wanted) noexcept;

    /// The same until a stop is requested. False: it was, and the caller does not have the lock.
    bool begin_until(cell_state wanted, const std::stop_token& stop) noexcept;

    struct request : waiter {
        explicit request(cell_state state) noexcept : wanted(state) {}
        const cell_state wanted;
        std::uint64_t number = 0;  ///< in order of arrival
    };

    /// For a coroutine. True: the caller has the lock.
    bool begin_at_once(cell_state wanted) noexcept;

    /// False: the caller has the lock, or it is late and now expired. True: it has it when `self`
    /// is woken.
    bool enqueue(request& self) noexcept;

    /// Takes out a request whose limit has come; the caller must wake it. False: it has the lock,
    /// or is not queued yet and marked late.
    bool withdraw(request& self) noexcept;

    /// Unlocks. The last access is the release of the spin lock.
    void end(bool full) noexcept;

    /// The state left by the last owner.
    bool is_full() const noexcept;

    /// Wait reason for reports.
    wait_reason reason(cell_state wanted) const noexcept {
        return {&k_waits[static_cast<std::size_t>(wanted)], this};
    }

private:
    friend class turn;
    using request_queue = wait_queue<std_atomics, request>;

    static void look(const void* copy, wait_findings& into) noexcept;
    static const std::array<wait_kind, 3> k_waits;

    bool try_begin(cell_state wanted) noexcept;
    request* next() noexcept;
    request_queue& queue_of(cell_state s) noexcept { return m_queues[static_cast<std::size_t>(s)]; }

    mutable spin_lock m_lock;
    bool m_full;
    bool m_busy = false;  ///< locked
    std::uint64_t m_last_number = 0;
    /// By wanted state. Invariant: no waiter in them is admissible, while m_lock is free.
    std::array<request_queue, 3> m_queues;
};

/// Scoped ownership of the cell lock. Leaves the cell in its state unless leave() says otherwise.
class turn {
public:
    turn(cell_lock& of, cell_state wanted) noexcept : m_of(of), m_leaves_full(of.begin(wanted)) {}
    /// Adopts a lock that the caller already has.
    explicit turn(cell_lock& of) noexcept : m_of(of), m_leaves_full(of.m_full) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() { m_of.end(m_leaves_full); }

    void leave(bool full) noexcept { m_leaves_full = full; }

private:
    cell_lock& m_of;
    bool m_leaves_full;
};

/// For co_await: takes the cell lock, and then calls `during` with it.
template <class F>
struct turn_taking {
    cell_lock::request make_waiter() const noexcept { return cell_lock::request(wanted); }
    wait_reason why() const noexcept { return of.reason(wanted); }
    bool ready(cell_lock::request&) const noexcept { return of.begin_at_once(wanted); }
    bool enqueue(cell_lock::request& self) const noexcept { return of.enqueue(self); }
    decltype(auto) result(cell_lock::request&) {
        turn mine(of);
        return during(mine);
    }

    cell_lock& of;
    cell_state wanted;
    F during;
};

/// The same until a stop is requested: gives what `during` returns in a std::optional, or, if that
/// is nothing, whether it was called.
template <class F>
struct turn_taking_in_time : turn_taking<F> {
    void withdraw(cell_lock::request& self) const noexcept {
        detail::wake_if(this->of.withdraw(self), self);
    }
    auto result(cell_lock::request& self) {
        using value = std::invoke_result_t<F&, turn&>;
        if constexpr (std::is_void_v<value>) {
            if (!self.expired) {
                turn_taking<F>::result(self);
            }
            return !self.expired;
        } else {
            return self.expired ? std::nullopt : std::optional<value>(turn_taking<F>::result(self));
        }
    }
};

template <class F>
co_awaitable<turn_taking<F>> co_take_turn(cell_lock& of, cell_state wanted, F during) {
    return {{of, wanted, std::move(during)}};
}
template <class F>
co_stoppable<turn_taking_in_time<F>> co_take_turn(cell_lock& of, cell_state wanted, F during,
                                                  std::stop_token stop) {
    return {{{of, wanted, std::move(during)}}, std::move(stop)};
}

}  // namespace quern::detail
