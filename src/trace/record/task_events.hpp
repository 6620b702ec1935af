// SPDX-License-Identifier: BSL-1.0
// Events of the hardware and the kernel by kind of task: one group per worker thread, read at the
// beginning and end of each piece of a task. Private to the layer. One thread at a time.
#pragma once

#include <quern/topology/system_root.hpp>
#include <quern/topology/thread_events.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quern::trace::detail {

/// The events to count, the same for all workers.
struct wanted_events {
    std::vector<topology::event_kind> kinds;
    std::shared_ptr<topology::event_kernel> kernel;
    topology::system_root root{};
};

/// Differences, or sums of them, in the order of the wanted events; 0 for events that cannot be
/// counted. The group was counted `counted` of `enabled` nanoseconds.
struct event_sums {
    std::uint64_t enabled = 0;
    std::uint64_t counted = 0;
    std::array<std::uint64_t, topology::event_kernel::k_most_in_group> values{};

    /// `weight`: the number of tasks that it represents.
    void add(const event_sums& more, std::uint64_t weight = 1) noexcept;
    bool is_empty() const noexcept { return enabled == 0 && counted == 0; }
    /// Extrapolated from the counted part to the whole time.
    double scaled(std::size_t index) const noexcept;
};

/// The group of one worker. Opened by the worker's first begin(), for the calling thread.
class event_meter {
public:
    explicit event_meter(std::shared_ptr<const wanted_events> wanted) noexcept
        : m_wanted(std::move(wanted)) {}
    event_meter(const event_meter&) = delete;
    event_meter& operator=(const event_meter&) = delete;
    ~event_meter() { close(); }

    /// `adjoins`: no time has passed since the last end(), whose reading is reused.
    void begin(bool adjoins) noexcept;
    /// The counts since begin(), or null if unknown. Valid until the next call.
    const event_sums* end() noexcept;

    const wanted_events& wanted() const noexcept { return *m_wanted; }
    /// Why the event is not counted, or empty.
    std::string fault(std::size_t index) const;

private:
    void open() noexcept;
    void close() noexcept;
    bool read(event_sums& into) noexcept;
    void learn_own_part() noexcept;
    std::string open_fault(std::size_t index) const;

    const std::shared_ptr<const wanted_events> m_wanted;
    bool m_is_opened = false;
    bool m_has_begun = false;
    bool m_is_fresh = false;  ///< m_last is the reading of the last end()
    int m_read_error = 0;
    int m_leader = -1;
    /// The descriptor of each event, or a negative errno value.
    std::array<int, topology::event_kernel::k_most_in_group> m_descriptors{};
    /// The contribution of a reading itself to the next difference.
    std::array<std::uint64_t, topology::event_kernel::k_most_in_group> m_own{};
    event_sums m_last{};
    event_sums m_difference{};
};

}  // namespace quern::trace::detail
