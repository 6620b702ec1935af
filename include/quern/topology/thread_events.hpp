// SPDX-License-Identifier: BSL-1.0
// Hardware and kernel events counted per thread with perf_event_open: their names, the system
// calls, and the reasons why they cannot be counted. Used by counters of workers and by events per
// kind of task.
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

/// An event in the kernel's terms.
struct event_kind {
    std::string name;  ///< perf's name: "cache-misses", "r1a2"
    std::string unit;
    std::string help;
    std::uint32_t type = 0;    ///< PERF_TYPE_…
    std::uint64_t config = 0;  ///< PERF_COUNT_…
    bool kernel_too = false;   ///< includes events in the kernel, which needs more rights
    double nothing_ns = 0;     ///< if still 0 after so long, it is stuck. 0: never
};

std::span<const event_kind> named_events();

/// Looks up an event by name: a named one, or `r` and up to 16 hexadecimal digits, a raw event of
/// this processor in `perf` notation. Otherwise unavailable, with the accepted names and the
/// nearest match.
outcome<event_kind> find_event(std::string_view name);

/// The events of a comma-separated list, each once; an empty list for an empty text. Unavailable if
/// one is unknown or named twice, or if there are more than event_kernel::k_most_in_group.
outcome<std::vector<event_kind>> find_events(std::string_view list);

/// The system calls; replaced in tests.
class event_kernel {
public:
    /// A count read from a descriptor; times in nanoseconds.
    struct count {
        std::uint64_t value = 0;
        std::uint64_t enabled = 0;  ///< time that the thread ran
        std::uint64_t counted = 0;  ///< part of it in which the event was counted
    };

    /// Counts of a group: the leader and the events counted with it, in the order in which they
    /// were opened. All are counted in the same part of the time, or none.
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
    /// of the leader of the same thread's group, or -1. Thread safe, like all of these.
    virtual int open(const event_kind& event, pid_t thread, int leader) = 0;
    /// As open(), for the leader of a group that is read by read_group().
    virtual int open_leader(const event_kind& event, pid_t thread) = 0;
    /// 0, or an errno value.
    virtual int read(int descriptor, count& into) = 0;
    virtual int read_group(int leader, group_count& into) = 0;
    virtual void close(int descriptor) noexcept = 0;

    /// This machine's.
    static std::shared_ptr<event_kernel> of_machine();
};

/// Why an event cannot be counted, with a remedy: `what` has failed with this errno value.
unavailable no_event(const system_root& root, const char* what, int error);

/// Why a thread's count of 0 is not meaningful; empty if `counted` is credible.
std::string why_nothing(const event_kind& event, const event_kernel::count& counted);

}  // namespace quern::topology
