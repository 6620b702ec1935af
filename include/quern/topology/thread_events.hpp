// SPDX-License-Identifier: BSL-1.0
// Events that the hardware and the kernel count for single threads, by perf_event_open: their
// names, the system calls, and what to say where they cannot be counted. Counters of workers and
// the events of kinds of tasks are both made of these.
#pragma once

#include <quern/topology/outcome.hpp>
#include <quern/topology/system_root.hpp>

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quern::topology {

/// An event as the kernel knows it.
struct event_kind {
    std::string name;  ///< as `perf` calls it: "cache-misses", "r1a2"
    std::string unit;
    std::string help;
    std::uint32_t type = 0;    ///< PERF_TYPE_…
    std::uint64_t config = 0;  ///< PERF_COUNT_…
    bool kernel_too = false;   ///< what happens in the kernel as well, which needs more rights
    double nothing_ns = 0;     ///< counted for so long and still 0: it is stuck. 0: never
};

/// The ones that have names.
std::span<const event_kind> named_events();

/// The event of a name: one of the above, or `r` and up to 16 hexadecimal digits, an event of this
/// processor by the number in its manual, written as `perf` does. Nothing where there is none, with
/// what is accepted and the nearest name.
outcome<event_kind> find_event(std::string_view name);

/// The events of a list with commas, each once; an empty list for an empty text. Nothing where one
/// is unknown or named twice, or where there are more than event_kernel::k_most_in_group.
outcome<std::vector<event_kind>> find_events(std::string_view list);

/// The system calls; in tests something else.
class event_kernel {
public:
    /// What a descriptor gives: times in nanoseconds.
    struct count {
        std::uint64_t value = 0;
        std::uint64_t enabled = 0;  ///< time that the thread ran
        std::uint64_t counted = 0;  ///< part of it in which the event was counted
    };

    /// That of a leader and of all that are counted beside it, in the order in which they were
    /// opened: all in the same part of the time, or none.
    static constexpr std::size_t k_most_in_group = 8;
    struct group_count {
        std::uint64_t enabled = 0;
        std::uint64_t counted = 0;
        std::array<std::uint64_t, k_most_in_group> values{};
    };

    event_kernel() = default;
    event_kernel(const event_kernel&) = delete;
    event_kernel& operator=(const event_kernel&) = delete;
    virtual ~event_kernel() = default;

    /// A descriptor, or a negative errno value. `thread`: 0 is the caller. `leader`: the descriptor
    /// of an event of the same thread beside which it is to be counted, or -1. Thread safe, as all.
    virtual int open(const event_kind& event, pid_t thread, int leader) = 0;
    /// The same of the leader of a group that is read as one, by read_group().
    virtual int open_leader(const event_kind& event, pid_t thread) = 0;
    /// 0, or an errno value.
    virtual int read(int descriptor, count& into) = 0;
    virtual int read_group(int leader, group_count& into) = 0;
    virtual void close(int descriptor) noexcept = 0;

    /// The one of this machine.
    static std::shared_ptr<event_kernel> of_machine();
};

/// Why an event cannot be counted, with what would change it: `what` has failed with this errno
/// value.
unavailable no_event(const system_root& root, const char* what, int error);

/// What a thread has counted, when that is nothing and says nothing: nothing to say where `counted`
/// is a count that may be believed.
std::string why_nothing(const event_kind& event, const event_kernel::count& counted);

}  // namespace quern::topology
