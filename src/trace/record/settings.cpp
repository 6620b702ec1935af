// SPDX-License-Identifier: BSL-1.0
// The settings of the trace layer: what is recorded, and the files written from it.
#include <quern/trace/detail/settings.hpp>

#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>

#include <mutex>

namespace quern::trace::detail {

namespace {

constexpr setting k_settings[] = {
    {.name = "profile",
     .owner = "trace",
     .type = setting_type::path,
     .fallback = "",
     .help = "statistics of each kind of task at the end: a file, or stdout, stderr"},
    {.name = "calibration",
     .owner = "trace",
     .type = setting_type::path,
     .fallback = "",
     .help = "keeps what tasks take on one worker, for later reports: `quern run --calibrate`"},
    {.name = "trace",
     .owner = "trace",
     .type = setting_type::path,
     .fallback = "",
     .help = "records the run for ui.perfetto.dev: a file such as run.pftrace"},
    {.name = "report",
     .owner = "trace",
     .type = setting_type::path,
     .fallback = "",
     .help = "writes a page that says where the time went: a file such as run.html"},
    {.name = "graph",
     .owner = "trace",
     .type = setting_type::path,
     .fallback = "",
     .help = "writes the graph of dependent tasks for Graphviz: a file such as run.dot"},
    {.name = "trace-events",
     .owner = "trace",
     .type = setting_type::number,
     .least = 1'000,
     .most = 1'000'000'000,
     .fallback = "1000000",
     .help = "events that each worker keeps for trace and report; further ones are only counted"},
    {.name = "trace-sample",
     .owner = "trace",
     .type = setting_type::number,
     .least = 1,
     .most = 32'768,
     .fallback = "auto",
     .help = "of tasks shorter than 2 us one in so many is recorded; auto: all for trace and "
             "report, for only a profile so few that it costs little"},
    {.name = "task-events",
     .owner = "trace",
     .type = setting_type::text,
     .fallback = "",
     .help = "events to count by kind of task for profile, report and trace, such as "
             "instructions,cycles,page-faults; at most 8"},
};

}  // namespace

void add_settings() {
    static constinit std::once_flag added;
    quern::detail::add_scheduler_settings();  // first in the help
    std::call_once(added, [] { register_settings(k_settings); });
}

}  // namespace quern::trace::detail
