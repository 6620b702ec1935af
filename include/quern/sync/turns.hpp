// SPDX-License-Identifier: BSL-1.0
// What is around the value of a full_empty cell: whether it is full, whose turn it is, and who
// waits for a turn in which state. The value itself is touched by the one whose turn it is, and
// never under the spin lock.
#pragma once

#include <quern/base/spin_lock.hpp>
#include <quern/sync/waiting.hpp>

#include <array>
#include <cstdint>

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

    /// Ends the caller's turn. The last access is the release of the spin lock.
    void end(bool full) noexcept;

    /// As the last turn has left it.
    bool is_full() const noexcept;

private:
    struct request : waiter {
        explicit request(cell_state state) noexcept : wanted(state) {}
        const cell_state wanted;
        std::uint64_t number = 0;  ///< in the order of coming
    };
    using request_queue = wait_queue<std_atomics, request>;

    static void look(const void* copy, wait_findings& into) noexcept;
    static const std::array<wait_kind, 3> k_waits;

    bool try_begin(cell_state wanted) noexcept;
    bool enqueue(request& self) noexcept;
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
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() { m_of.end(m_leaves_full); }

    void leave(bool full) noexcept { m_leaves_full = full; }

private:
    turns& m_of;
    bool m_leaves_full;
};

}  // namespace quern::detail
