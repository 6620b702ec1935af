// SPDX-License-Identifier: BSL-1.0
// The state of a recorder while it records. Private to the layer: the recorder fills it,
// assemble.cpp makes a recording of it.
#pragma once

#include "record/sampler.hpp"
#include "record/taken_time.hpp"
#include "record/track.hpp"

#include <quern/scheduler/detail/blocked_time.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/trace/recorder.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quern::trace {

namespace detail {

struct recorded_worker {
    pool_ref home;
    std::uint32_t rank = 0;
    std::int32_t thread = 0;
    worker_totals before{};  ///< at the beginning of the recording
    worker_totals after{};
    topology::outcome<double> blocked_before{0.0};
    std::optional<double> blocked_ns{};
    topology::outcome<quern::detail::thread_look> thread_before{quern::detail::thread_look{}};
    std::optional<quern::detail::lost_part> lost{};
    double stopped_share = 0;  ///< of the time that was taken for blocked
    std::unique_ptr<track> events;
};

}  // namespace detail

struct recorder::state {
    state(runtime& which, const recorder_options& wanted) : rt(&which), options(wanted) {}

    runtime* rt;  ///< null once the recording has ended
    recorder_options options;
    recording made;  ///< at first samples, marks and descriptions; the rest at the end
    quern::detail::tick_count start = 0;
    communication talk_before{};
    std::vector<detail::recorded_worker> workers;
    detail::lost_time_look lost_before{};
    std::optional<std::uint64_t> graph_mark{};  ///< nothing: the graph is not wanted
    std::shared_ptr<detail::sampler> system;    ///< the pointer is protected by the lock trace
    unsigned generation = 0;  ///< of the creating process; forked children ignore it

    std::uint64_t now_ns() const;
    std::vector<std::int32_t> threads() const;
};

namespace detail {

/// Builds the rest of the recording from the collected data. Requires: no thread writes to the
/// tracks.
void assemble(recorder::state& s);

/// The last sample of the runtime's recordings, shortly before it ends; observers still know it.
void look_last(runtime& which) noexcept;

/// Ends the recordings of a runtime at its end.
void end_recordings(runtime& which) noexcept;

/// Program, machine and time in words.
void describe_run(recording& into, const settings* chosen);

}  // namespace detail
}  // namespace quern::trace
