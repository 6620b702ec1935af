// SPDX-License-Identifier: BSL-1.0
// The settings `trace`, `profile`, `report` and `graph`: a recorder for each runtime that is made
// while one of them is set, and at its end the files.
#include <quern/trace/detail/attach.hpp>
#include <quern/trace/detail/settings.hpp>

#include "export/output_file.hpp"
#include "record/listeners.hpp"
#include "record/recorder_state.hpp"
#include "record/registry.hpp"

#include <quern/base/detail/output_place.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/exit_action.hpp>
#include <quern/scheduler/observers.hpp>
#include <quern/settings/settings.hpp>
#include <quern/trace/dependence_graph.hpp>
#include <quern/trace/efficiency.hpp>
#include <quern/trace/page.hpp>
#include <quern/trace/perfetto.hpp>
#include <quern/trace/profile.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>

namespace quern::trace::detail {

namespace {

using quern::detail::lock_of;
using quern::detail::place_in_words;
using quern::detail::process_lock;

/// A setting that asks for a file, and who writes it.
struct output {
    const char* setting;
    const char* what;
    bool has_slices;
    bool has_graph;
    bool is_trace;
    void (*write)(const recording& run, std::ostream& to);
};

constexpr output k_outputs[] = {
    {"trace", "the trace", true, true, true, write_perfetto},
    {"report", "the report", true, true, false,
     [](const recording& run, std::ostream& to) {
         write_page(run, to, read_calibration(default_calibration_path()));
     }},
    {"profile", "the profile", false, false, false,
     [](const recording& run, std::ostream& to) {
         write_profile(run, to);
         to << verdict_text(efficiency_of(run, read_calibration(default_calibration_path())));
     }},
    {"calibration", "the calibration", false, false, false,
     [](const recording& run, std::ostream& to) { write_calibration(calibration_of(run), to); }},
    {"graph", "the graph", false, true, false,
     [](const recording& run, std::ostream& to) { to << write_graph(run.graph); }},
};

struct job {
    const output* which;
    std::string path;
    file_mark before{path};  ///< as it was when the runtime began
};

}  // namespace

/// A runtime whose settings ask for files.
struct observed_runtime {
    runtime* which;
    unsigned number;  ///< of those of the process
    std::vector<job> jobs;
    recorder records;
    std::optional<quern::detail::exit_action> writes{};  ///< the last member: it uses the others
};

namespace {

/// One who only looks for the file that was asked for is told, too.
void say_what_had_no_room(const recording& run) {
    unsigned long long dropped = run.outside_dropped;
    unsigned long long kept = 0;
    for (const lane& each : run.lanes) {
        dropped += each.dropped;
        kept = std::max<unsigned long long>(kept, each.slices.size() + each.parked.size() +
                                                      each.thefts.size() + each.waits +
                                                      2 * each.messages.size());
    }
    if (dropped != 0) {
        std::fprintf(stderr,
                     "quern: %llu events had no room and are missing from trace and report: "
                     "--quern:trace-events=%llu keeps more than the %llu of each worker\n",
                     dropped, kept + dropped, kept);
    }
}

/// What was asked for and could not be read, to one who only looks at the trace.
void say_what_is_not_drawn(const recording& run) {
    constexpr std::size_t k_most = 8;
    std::size_t count = 0;
    for (const series& each : run.counters) {
        if (!each.why.empty() && ++count <= k_most) {
            std::fprintf(stderr, "quern: the counter %s is not drawn: %s\n", each.name.c_str(),
                         each.why.c_str());
        }
    }
    if (count > k_most) {
        std::fprintf(stderr, "quern: %zu further counters are not drawn\n", count - k_most);
    }
}

/// Two processes with one setting, of the environment perhaps: the last to end wins.
void say_what_is_replaced(const job& lost, const std::string& path) {
    if (lost.before.has_changed(path)) {
        std::fprintf(stderr,
                     "quern: '%s' was written while this process ran, perhaps by another one with "
                     "the same setting; %s of this one replaces it\n",
                     path.c_str(), lost.which->what);
    }
}

/// Where it has written, in words; says what is lost.
std::string write_all(observed_runtime& one) noexcept {
    const auto complain = [](const std::string& what, const std::string& path,
                             const std::string& why) {
        std::fprintf(stderr, "quern: %s is lost: '%s': %s\n", what.c_str(), path.c_str(),
                     why.c_str());
    };
    try {
        std::string places;
        recording run = one.records.stop();
        run.number = one.number;
        say_what_had_no_room(run);
        say_what_is_not_drawn(run);
        for (const job& each : one.jobs) {
            const std::string path = numbered(each.path, one.number);
            say_what_is_replaced(each, path);
            const std::string fault =
                write_output(path, [&](std::ostream& to) { each.which->write(run, to); });
            if (!fault.empty()) {
                complain(each.which->what, path, fault);
            } else {
                if (each.which->is_trace) {
                    trace_was_written(path);
                }
                places += (places.empty() ? "" : " and ") + place_in_words(path);
            }
        }
        return places;
    } catch (const std::exception& error) {
        complain("what was recorded", "", error.what());
        return "";
    }
}

/// What is lost when it is never written.
std::string all_in_words(const observed_runtime& one) {
    std::string words;
    for (const job& each : one.jobs) {
        words.append(words.empty() ? "" : ", ").append(each.which->what);
        words.append(" '" + numbered(each.path, one.number) + "'");
    }
    return words;
}

void take_up_pools(runtime& which) {
    const std::scoped_lock lock(lock_of(process_lock::trace));
    for (const pool_ref each : which.pools()) {
        registry::of_process().pools.push_back(&each.get());
        listeners_take_up(each.get());
    }
}

void leave_pools(runtime& which) {
    const std::scoped_lock lock(lock_of(process_lock::trace));
    registry& all = registry::of_process();
    for (const pool_ref each : which.pools()) {
        listeners_leave(each.get());
        std::erase(all.pools, &each.get());
    }
    all.has_left_workers = all.has_left_workers || quern::detail::task_root() != nullptr;
}

/// Does nothing when the settings ask for no file.
void record_for_files(runtime& which, const settings& chosen) {
    std::vector<job> jobs;
    bool has_slices = false;
    bool has_graph = false;
    for (const output& each : k_outputs) {
        const std::string& path = chosen.at(each.setting).text;
        if (!path.empty()) {
            jobs.push_back({&each, path});
            has_slices = has_slices || each.has_slices;
            has_graph = has_graph || each.has_graph;
        }
    }
    if (jobs.empty()) {
        return;
    }
    recorder_options options;
    options.events_per_worker =
        has_slices ? chosen.number("trace-events").value_or(1'000'000U) : 0U;
    options.sample = chosen.number("trace-sample").value_or(has_slices ? 1U : 0U);
    options.dependences = has_graph;
    options.chosen = &chosen;
    options.events = chosen.at("task-events").text;
    options.counters = chosen.at("trace-counters").text;
    std::unique_ptr<observed_runtime> one(
        new observed_runtime{&which, 0, std::move(jobs), recorder(which, options)});
    {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        one->number = ++registry::of_process().files;
    }
    for (job& each : one->jobs) {
        each.before = file_mark(numbered(each.path, one->number));
    }
    one->writes.emplace(all_in_words(*one), [of = one.get()] { return write_all(*of); });
    const std::scoped_lock lock(lock_of(process_lock::trace));
    registry::of_process().observed.push_back(one.get());
    static_cast<void>(one.release());
}

/// Whose settings asked for files, or null.
std::unique_ptr<observed_runtime> take_observed(const runtime& which) {
    const std::scoped_lock lock(lock_of(process_lock::trace));
    std::vector<observed_runtime*>& all = registry::of_process().observed;
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const auto* each) { return each->which == &which; });
    if (at == all.end()) {
        return nullptr;
    }
    std::unique_ptr<observed_runtime> one(*at);
    all.erase(at);
    return one;
}

/// Of static storage and without members: it lives as long as the library is loaded.
class recording_observer final : public runtime_observer {
public:
    constexpr recording_observer() = default;

    void check(const settings& chosen) override {
        const auto events = topology::find_events(chosen.at("task-events").text);
        if (!events) {
            chosen.refuse("task-events", events.reason());
        }
    }

    void started(runtime& which, const settings& chosen) noexcept override {
        try {
            take_up_pools(which);
            record_for_files(which, chosen);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "quern: nothing is recorded: %s\n", error.what());
        }
        tell_runtime_starts(which);
    }

    void stops(runtime& which) noexcept override { look_last(which); }

    void ends(runtime& which) noexcept override {
        if (const std::unique_ptr<observed_runtime> one = take_observed(which)) {
            one->writes->perform();
        }
        end_recordings(which);
        leave_pools(which);
        tell_runtime_stops(which);
    }
};

constinit recording_observer g_observer;

}  // namespace

}  // namespace quern::trace::detail

namespace quern::detail {

bool attach_trace() noexcept {
    static constinit std::atomic<bool> attached{false};
    if (!attached.exchange(true)) {
        trace::detail::add_settings();
        add_observer(trace::detail::g_observer);
    }
    return true;
}

}  // namespace quern::detail
