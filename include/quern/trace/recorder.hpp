// SPDX-License-Identifier: BSL-1.0
// Records what the workers of a runtime do, from the constructor to stop(): pieces of tasks, sleep,
// thefts, statistics of each kind of task, and what the program itself has to say. The settings
// `trace`, `profile` and `report` make one for a whole runtime (attach.hpp).
#pragma once

#include <quern/topology/thread_events.hpp>
#include <quern/trace/attach.hpp>
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
    /// Of each worker; 0: only statistics, no slices. 32 bytes each, taken as they come.
    std::uint64_t events_per_worker = 1'000'000;
    /// Of tasks shorter than 2 us one in so many, at random, stands for the others; 0: so few that
    /// no more than one is recorded in about 2 us of a worker's time. 1: all. At most 32768.
    std::uint32_t sample = 1;
    /// Whether memory, load and the rate of tasks are read every 10 ms. Not without slices.
    bool samples_system = true;
    /// What the recording says of them; null: nothing.
    const settings* chosen = nullptr;
    /// Events to count by kind of task, in a list with commas: "instructions,cycles,page-faults".
    /// Names as topology::find_event() knows them, at most 8. Two readings of about a
    /// microsecond for each piece of a task that is recorded, and a descriptor a worker and event.
    std::string_view events{};
    /// Where they are read; null: this machine.
    std::shared_ptr<topology::event_kernel> event_kernel{};
    /// Performance counters to read along with what samples_system reads, by name, with * and ?;
    /// several separated by ';'. What there is not is a series with a reason.
    std::string_view counters{};
};

/// Several may record one runtime. What lies in the middle of a task when the recording begins
/// counts from then on; tasks that run when it stops count up to then, of those that are passed
/// over the one alone that stops it. Forked children that their parent runs itself are part of the
/// parent.
///
/// Errors: std::invalid_argument for `sample` and `events`, while what cannot be counted here is
/// said in the recording; std::bad_alloc; std::system_error when the thread that samples cannot be
/// made. Thread safety: one object must not be used by two threads at once; any thread may make
/// one, and stop() may be called within a task. Cost: about 40 ns for each piece of a task that is
/// recorded, a fourth of that for one that is passed over; stop() about 1 s for 10^6 events.
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

    /// Ends the recording and gives it. The end of the runtime ends it too, and it can still be
    /// fetched afterwards, once; a second call gives an empty one.
    recording stop();

    struct state;

private:
    std::unique_ptr<state> m_state;
};

/// A value that changes with time, into every recording that is going on and to every listener.
/// Thread safe; nothing happens where nobody records.
///
///     quern::trace::sample("residual", norm(x));
void sample(std::string_view name, double value);

/// Something worth a mark in the recordings, in words.
void mark(std::string_view text);

/// The same of who has decided something, with old and new value and why: it is listed with the
/// other decisions.
void mark(std::string_view who, std::string_view what);

}  // namespace quern::trace
