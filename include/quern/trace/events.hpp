// SPDX-License-Identifier: BSL-1.0
// What a listener (listener.hpp) can be told: the kinds of events, what each event says, and the
// functions by which a program or a layer tells events of its own. Telling takes no lock; while no
// listener wants a kind, it costs one relaxed load and one branch.
#pragma once

#include <quern/scheduler/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <optional>

namespace quern::trace {

/// Kinds of events, one bit each.
enum class event_kind : std::uint32_t {
    task_made = 1U << 0,
    task_start = 1U << 1,
    task_stop = 1U << 2,
    task_suspend = 1U << 3,
    task_resume = 1U << 4,
    worker_start = 1U << 5,
    worker_stop = 1U << 6,
    worker_park = 1U << 7,
    worker_unpark = 1U << 8,
    runtime_start = 1U << 9,
    runtime_stop = 1U << 10,
    sample = 1U << 11,
    mark = 1U << 12,
    message = 1U << 13,
    edge = 1U << 14,
    custom = 1U << 15,
};

/// A set of kinds.
///
///     constexpr quern::trace::event_mask wanted =
///         quern::trace::event_kind::task_stop | quern::trace::event_kind::custom;
///     static_assert(wanted.has(quern::trace::event_kind::custom));
class event_mask {
public:
    constexpr event_mask() = default;
    constexpr event_mask(event_kind one) noexcept  // NOLINT(google-explicit-constructor)
        : m_bits(static_cast<std::uint32_t>(one)) {}
    constexpr bool has(event_kind one) const noexcept { return has_any(one); }
    constexpr bool has_any(event_mask of) const noexcept { return (m_bits & of.m_bits) != 0; }
    constexpr std::uint32_t bits() const noexcept { return m_bits; }
    constexpr event_mask& operator|=(event_mask other) noexcept {
        m_bits |= other.m_bits;
        return *this;
    }
    friend constexpr event_mask operator|(event_mask a, event_mask b) noexcept { return a |= b; }
    friend constexpr bool operator==(event_mask, event_mask) noexcept = default;

private:
    std::uint32_t m_bits = 0;
};

constexpr event_mask operator|(event_kind a, event_kind b) noexcept {
    return event_mask(a) | event_mask(b);
}

/// What happens to tasks.
inline constexpr event_mask k_task_events = event_kind::task_made | event_kind::task_start |
                                            event_kind::task_stop | event_kind::task_suspend |
                                            event_kind::task_resume;
/// What happens to workers.
inline constexpr event_mask k_worker_events = event_kind::worker_start | event_kind::worker_stop |
                                              event_kind::worker_park | event_kind::worker_unpark;
inline constexpr event_mask k_runtime_events = event_kind::runtime_start | event_kind::runtime_stop;
inline constexpr event_mask k_all_events =
    k_task_events | k_worker_events | k_runtime_events | event_kind::sample | event_kind::mark |
    event_kind::message | event_kind::edge | event_kind::custom;

/// The rank of a thread that is not a worker of the pool.
inline constexpr std::uint32_t k_no_worker = 0xffff'ffff;

/// When and where something happens. All times are nanoseconds.
struct worker_event {
    std::uint64_t time_ns = 0;           ///< on the clock of event_clock_ns()
    std::uint64_t duration_ns = 0;       ///< of what ends with the event, else 0
    std::optional<pool_ref> pool{};      ///< nothing on a thread that is not a worker
    std::uint32_t worker = k_no_worker;  ///< its rank within the pool
};

/// A task to which something happens, or which does something. While a task is being made, the
/// place is the pool whose queue it enters, and the maker's rank if the maker is a worker there.
struct task_event : worker_event {
    std::uint64_t task = 0;      ///< as this_task::id() says; 0: no task, or it has no number yet
    std::uint64_t parent = 0;    ///< the task that made it, or 0
    const char* name = nullptr;  ///< as the user named it, or null
    const void* site = nullptr;  ///< the code address where it was made, or null
    /// Of a task that stops or suspends: the time that it has run so far, without its waits and
    /// without other tasks that ran in its place.
    std::uint64_t spent_ns = 0;
};

struct runtime_event {
    std::uint64_t time_ns = 0;
    runtime& which;
};

/// In message_info::context: `order` is the number of the message, the same on both sides.
inline constexpr std::uint64_t k_numbered_messages = std::uint64_t{1} << 47U;

/// A message between processes or devices.
struct message_info {
    bool is_sent = false;  ///< false: it has been received
    int peer = -1;         ///< the number of the other side
    int tag = 0;
    std::uint64_t bytes = 0;
    /// Messages match only within it, e.g. within an MPI communicator: the same number on both
    /// sides, of which 48 bits are kept. 0: not known.
    std::uint64_t context = 0;
    /// Grows with the order in which this process has posted its sends and its receives; 48 bits
    /// are kept. Messages of one context, sender, receiver and tag match in this order; those of
    /// a context with k_numbered_messages match the one of the same number.
    std::uint64_t order = 0;
};

/// The second task must not begin before the first has completed. As this_task::id() numbers them.
struct edge_info {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
};

class custom_event;

namespace detail {

/// What the listeners want, together.
extern std::atomic<std::uint32_t> wanted_kinds;

void tell_custom(const custom_event& what, double value) noexcept;
void tell_message(const message_info& what) noexcept;
void tell_edge(const edge_info& what) noexcept;

}  // namespace detail

/// Whether a listener wants events of that kind: for a layer to which describing one is work.
/// Thread safe; one relaxed load.
inline bool is_wanted(event_kind kind) noexcept {
    return (event_mask(kind).bits() & detail::wanted_kinds.load(std::memory_order_relaxed)) != 0;
}

/// Now, in nanoseconds since a moment that is the same for all events of the process. Thread safe.
std::uint64_t event_clock_ns() noexcept;

/// A kind of event of the program's own. Its address is its identity; its name must live as long.
///
///     const quern::trace::custom_event converged("converged");
///     converged.fire(1e-9);
class custom_event {
public:
    explicit constexpr custom_event(const char* name) noexcept : m_name(name) {}
    custom_event(const custom_event&) = delete;
    custom_event& operator=(const custom_event&) = delete;
    ~custom_event() = default;

    const char* name() const noexcept { return m_name; }

    /// Calls on_custom of the listeners that want it. Any thread.
    void fire(double value = 0) const noexcept {
        if (is_wanted(event_kind::custom)) [[unlikely]] {
            detail::tell_custom(*this, value);
        }
    }

private:
    const char* m_name;
};

/// For layers that pass messages or order tasks: calls on_message or on_edge of the listeners that
/// want it. Any thread.
inline void tell_message(const message_info& what) noexcept {
    if (is_wanted(event_kind::message)) [[unlikely]] {
        detail::tell_message(what);
    }
}
inline void tell_edge(std::uint64_t from, std::uint64_t to) noexcept {
    if (is_wanted(event_kind::edge)) [[unlikely]] {
        detail::tell_edge({from, to});
    }
}

}  // namespace quern::trace
