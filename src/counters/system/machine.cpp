// SPDX-License-Identifier: BSL-1.0
// Kernel counters of the whole machine: processor time, the part taken by the hypervisor, and how
// long work waited for processors, memory and storage (PSI). If they grow during a measurement, its
// times are suspect.
#include "system/files.hpp"

#include <quern/topology/detail/lost_time.hpp>

#include <unistd.h>

#include <utility>

namespace quern::counters::detail {

namespace {

using topology::outcome;
using topology::unavailable;
using topology::detail::parse_processor_times;

outcome<double> total_time(std::string_view text) {
    const outcome<std::vector<double>> times = parse_processor_times(text);
    if (!times) {
        return unavailable{times.reason()};
    }
    double sum = 0;
    for (const double time : *times) {
        sum += time;
    }
    return sum;
}

outcome<double> steal_time(std::string_view text) {
    const outcome<std::vector<double>> times = parse_processor_times(text);
    if (!times) {
        return unavailable{times.reason()};
    }
    return topology::detail::steal_in(*times);
}

std::vector<file_counter> processor_counters() {
    const double ns_per_tick = 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return {
        {{"/os/steal-time", counter_kind::sum, "ns",
          "time that the machine's processors were ready and the hypervisor gave to others"},
         steal_time,
         ns_per_tick},
        {{"/os/total-time", counter_kind::sum, "ns",
          "time of all processors of the machine, idle or not"},
         total_time,
         ns_per_tick},
        {{"/os/steal-rate", counter_kind::ratio, "0.01 %",
          "share of the processors' time that the hypervisor gave to others", 10'000},
         steal_time,
         ns_per_tick,
         total_time},
    };
}

/// Newer kernels always show 0 for processors of the whole machine, where it is undefined.
outcome<double> full_of_processors(std::string_view text) {
    outcome<double> total = in_line("full", "total=")(text);
    if (total && *total == 0) {
        return unavailable{"the kernel measures no full pressure of a whole machine's processors"};
    }
    return total;
}

std::vector<file_counter> pressure_counters(const std::string& resource,
                                            const std::string& in_words) {
    const std::string name = "/os/pressure/" + resource;
    return {
        {{name + "/some", counter_kind::sum, "us",
          "time in which something on the machine waited for " + in_words},
         in_line("some", "total=")},
        {{name + "/full", counter_kind::sum, "us",
          "time in which nothing on the machine went on for want of " + in_words},
         resource == "cpu" ? full_of_processors : in_line("full", "total=")},
    };
}

}  // namespace

void add_machine_sources(source_list& all, const topology::system_root& root) {
    all.push_back(std::make_unique<file_source>(root, "/proc/stat", processor_counters()));
    const std::pair<const char*, const char*> resources[] = {
        {"cpu", "processors"}, {"memory", "memory"}, {"io", "input and output"}};
    for (const auto& [resource, in_words] : resources) {
        all.push_back(std::make_unique<file_source>(root, std::string("/proc/pressure/") + resource,
                                                    pressure_counters(resource, in_words)));
    }
}

}  // namespace quern::counters::detail
