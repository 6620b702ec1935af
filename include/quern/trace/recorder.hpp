// SPDX-License-Identifier: BSL-1.0
// Records the workers of a runtime from the constructor to stop(): pieces of tasks, sleep, thefts,
// statistics of each kind of task, and the program's own samples and marks. The settings `trace`,
// `profile` and `report` create one for a whole runtime (attach.hpp).
#pragma once

#include <quern/topology/thread_events.hpp>
#include <quern/trace/detail/attach.hpp>
#include <quern/trace/recording.hpp>

#include <cstdint>
#include <memory>
#include <string_view>

namespace quern {
class runtime;
class settings;
}  // namespace quern

namespace quern::trace {

struct recorder_options {
    /// Per worker; 0: only statistics, no slices. 32 bytes each, allocated as needed.
    std::uint64_t events_per_worker = 1'000'000;
    /// Of tasks shorter than 2 us one in `sample`, at random, represents the others. 0: adaptive,
    /// at most about one recorded task per 2 us of a worker's time. 1: all. At most 32768.
    std::uint32_t sample = 1;
    /// Whether memory, load and the task rate are sampled every 10 ms. Requires slices.
    bool samples_system = true;
    /// Whether the graph of dependent tasks is recorded: 1 to 2 us and up to 300 bytes for each of
    /// them.
    bool dependences = true;
    /// The settings that the recording lists; null: none.
    const settings* chosen = nullptr;
    /// Events to count by kind of task, comma-separated: "instructions,cycles,page-faults". Names
    /// as in topology::find_event(), at most 8. Cost: two readings of about 1 us for each recorded
    /// piece of a task, and a descriptor per worker and event.
    std::string_view events{};
    /// Reads the events; null: this machine.
    std::shared_ptr<topology::event_kernel> event_kernel{};
    /// Performance counters to sample along with samples_system, by name, with * and ?; several
    /// separated by ';'. An unavailable counter is a series with a reason.
    std::string_view counters{};
};

/// Several recorders may record one runtime. A piece that runs when the recording begins counts
/// from then on. A piece that runs at stop() counts up to then; of unsampled running tasks, only
/// the one calling stop() is counted. Forked children that their parent runs itself are part of the
/// parent.
///
/// Errors: std::invalid_argument for `sample` and `events`, while events that cannot be counted
/// here have a reason in the recording; std::bad_alloc; std::system_error if the thread for time
/// cannot be created. Thread safety: one object must not be used by two threads at once; any thread
/// may create one, and a task may call stop(). Cost: about 40 ns for each recorded piece of a task,
/// a fourth of that for an unsampled one; stop() about 1 s for 10^6 events.
///
///     quern::trace::recorder recorder(rt);
///     solve();
///     const quern::trace::recording run = recorder.stop();
class recorder {
public:
    explicit recorder(runtime& which, const recorder_options& options = {});
    ~recorder();
    recorder(recorder&&) noexcept;
    recorder& operator=(recorder&&) noexcept;

    /// Ends the recording and returns it. The end of the runtime also ends it; the recording can
    /// then still be fetched once. A second call returns an empty one.
    recording stop();

    struct state;

private:
    std::unique_ptr<state> m_state;
};

/// Adds a value that changes with time to every active recording and every listener. Thread safe;
/// does nothing if nothing is recorded.
///
///     quern::trace::sample("residual", norm(x));
void sample(std::string_view name, double value);

/// Adds a text mark to the recordings.
void mark(std::string_view text);

/// The same for a decision: `who` decided, `what` says it with old and new value and reason. Listed
/// with the other decisions.
void mark(std::string_view who, std::string_view what);

/// The same with the parts of the decision, from which reports make tables and pictures. The time
/// is that of the call.
void mark(decision made);

}  // namespace quern::trace
