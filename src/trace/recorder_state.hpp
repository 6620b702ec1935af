// SPDX-License-Identifier: BSL-1.0
// What a recorder holds while it records. Private to the layer: the recorder fills it, assemble.cpp
// makes a recording of it.
#pragma once

#include "sampler.hpp"
#include "taken_time.hpp"
#include "track.hpp"

#include <quern/scheduler/runtime.hpp>
#include <quern/trace/recorder.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quern::trace {

namespace detail {

/// A worker that is recorded.
struct recorded_worker {
    pool_ref home;
    std::uint32_t rank = 0;
    std::int32_t thread = 0;
    worker_totals before{};  ///< when the recording began
    worker_totals after{};
    topology::outcome<double> blocked_before{0.0};
    std::optional<double> blocked_ns{};
    std::unique_ptr<track> events;
};

}  // namespace detail

struct recorder::state {
    state(runtime& which, const recorder_options& wanted) : rt(&which), options(wanted) {}

    runtime* rt;  ///< null as soon as the recording has ended
    recorder_options options;
    recording made;  ///< samples, marks and words at first; the rest at the end
    quern::detail::tick_count start = 0;
    std::uint64_t begun_at_ns = 0;  ///< by the steady clock
    std::vector<detail::recorded_worker> workers;
    detail::lost_time_look lost_before{};
    std::shared_ptr<detail::sampler> system;  ///< the lock trace protects the pointer
    unsigned generation = 0;  ///< of the process that made it: a child of a fork() leaves it alone

    std::uint64_t now_ns() const;
    std::vector<std::int32_t> threads() const;
};

namespace detail {

/// Makes the rest of the recording of what was gathered. Requires: nobody writes to the tracks.
void assemble(recorder::state& s);

/// The runtime ends soon, and others still know it: the last time that its recordings look at it.
void look_last(runtime& which) noexcept;

/// The end of a runtime: its recordings end too.
void end_recordings(runtime& which) noexcept;

/// Program, machine and time in words.
void describe_run(recording& into, const settings* chosen);

}  // namespace detail
}  // namespace quern::trace
