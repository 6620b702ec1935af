// SPDX-License-Identifier: BSL-1.0
// The settings of the counters layer: printing, listing, metrics, and live inspection.
#include <quern/counters/detail/settings.hpp>

#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>

#include <mutex>
#include <string_view>
#include <vector>

namespace quern::counters::detail {

namespace {

std::vector<std::string_view> on_or_off() { return {"on", "off"}; }
std::vector<std::string_view> counter_formats() {
    return {"text", "csv", "csv-short", "json", "openmetrics"};
}
std::vector<std::string_view> counter_times() { return {"startup", "shutdown", "both"}; }
std::vector<std::string_view> list_sizes() { return {"no", "minimal", "full"}; }

constexpr setting k_settings[] = {
    {.name = "print-counter",
     .owner = "counters",
     .type = setting_type::text,
     .fallback = "",
     .help = "performance counters to print, by name, with * and ?; several separated by ';'",
     .is_list = true},
    {.name = "print-counter-interval",
     .owner = "counters",
     .type = setting_type::number,
     .least = 1,
     .most = 86'400'000,
     .fallback = "none",
     .help = "milliseconds between two prints while the program runs"},
    {.name = "print-counter-destination",
     .owner = "counters",
     .type = setting_type::path,
     .fallback = "stdout",
     .help = "where counters are printed: stdout, stderr, none, or a file"},
    {.name = "print-counter-format",
     .owner = "counters",
     .type = setting_type::word,
     .words = counter_formats,
     .fallback = "text",
     .help = "how counters are printed"},
    {.name = "print-counter-at",
     .owner = "counters",
     .type = setting_type::word,
     .words = counter_times,
     .fallback = "shutdown",
     .help = "when counters are printed, beside the interval"},
    {.name = "list-counters",
     .owner = "counters",
     .type = setting_type::word,
     .words = list_sizes,
     .fallback = "no",
     .help = "lists the counters there are before the program begins; full: with help and unit",
     .bare = "minimal"},
    {.name = "metrics-port",
     .owner = "counters",
     .type = setting_type::number,
     .least = 1,
     .most = 65'535,
     .fallback = "none",
     .help = "port on 127.0.0.1 at which counters can be read as OpenMetrics text"},
    {.name = "trace-counters",
     .owner = "counters",
     .type = setting_type::text,
     .fallback = "",
     .help = "performance counters to draw over time in trace and report, by name, with * and ?; "
             "several separated by ';'",
     .is_list = true},
    {.name = "live",
     .owner = "counters",
     .type = setting_type::word,
     .words = on_or_off,
     .fallback = "on",
     .help = "whether `quern top`, `quern tasks` and `quern counters` can look into the program"},
    {.name = "live-folder",
     .owner = "counters",
     .type = setting_type::text,
     .fallback = "",
     .help = "the folder of its socket for them, the only one where they look; an absolute path"},
};

}  // namespace

void add_settings() {
    static constinit std::once_flag added;
    quern::detail::add_scheduler_settings();  // first in the help
    std::call_once(added, [] { register_settings(k_settings); });
}

}  // namespace quern::counters::detail
