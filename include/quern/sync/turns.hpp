// SPDX-License-Identifier: BSL-1.0
// What is around the value of a full_empty cell: whether it is full, whose turn it is, and who
// waits for a turn in which state. The value itself is touched by the one whose turn it is, and
// never under the spin lock.
#pragma once

#include <quern/base/spin_lock.hpp>
#include <quern/sync/co_waiting.hpp>
#include <quern/sync/waiting.hpp>

#include <array>
#include <cstdint>
#include <utility>

namespace quern::detail {

/// In which state one wants the cell to be when its turn begins.
enum class cell_state : std::uint8_t { empty, full, either };

/// One turn at a time. It goes to the one that has waited longest of those who want the state in
/// which the last turn left the cell.
class turns {
public:
    constexpr explicit turns(bool is_full) noexcept : m_full(is_full) {}

    /// Waits for a turn. Returns whether the cell is full.
    bool begin(cell_state wanted) noexcept;

    struct request : waiter {
        explicit request(cell_state state) noexcept : wanted(state) {}
        const cell_state wanted;
        std::uint64_t number = 0;  ///< in the order of coming
    };

    /// For a coroutine. True: it is the caller's turn.
    bool begin_at_once(cell_state wanted) noexcept;

    /// False: it is the caller's turn. True: it will be when `self` is woken.
    bool enqueue(request& self) noexcept;

    /// Ends the caller's turn. The last access is the release of the spin lock.
    void end(bool full) noexcept;

    /// As the last turn has left it.
    bool is_full() const noexcept;

    /// For what one waits who wants that, for reports.
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
    bool m_busy = false;  ///< it is somebody's turn
    std::uint64_t m_last_number = 0;
    /// By what they want. Invariant: nobody in them could begin, while m_lock is free.
    std::array<request_queue, 3> m_queues;
};

/// A turn as an object. Leaves the cell as it was unless told otherwise.
class turn {
public:
    turn(turns& of, cell_state wanted) noexcept : m_of(of), m_leaves_full(of.begin(wanted)) {}
    /// One that has begun already, and is the caller's.
    explicit turn(turns& of) noexcept : m_of(of), m_leaves_full(of.m_full) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() { m_of.end(m_leaves_full); }

    void leave(bool full) noexcept { m_leaves_full = full; }

private:
    turns& m_of;
    bool m_leaves_full;
};

/// For co_await: waits for a turn, and then calls `during` with it.
template <class F>
struct turn_taking {
    turns::request make_waiter() const noexcept { return turns::request(wanted); }
    wait_reason why() const noexcept { return of.reason(wanted); }
    bool ready(turns::request&) const noexcept { return of.begin_at_once(wanted); }
    bool enqueue(turns::request& self) const noexcept { return of.enqueue(self); }
    decltype(auto) result(turns::request&) {
        turn mine(of);
        return during(mine);
    }

    turns& of;
    cell_state wanted;
    F during;
};

template <class F>
co_awaitable<turn_taking<F>> co_take_turn(turns& of, cell_state wanted, F during) {
    return {{of, wanted, std::move(during)}};
}

}  // namespace quern::detail
