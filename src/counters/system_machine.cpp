// SPDX-License-Identifier: BSL-1.0
// What the kernel counts for the whole machine: the time its processors spent, how much of it the
// hypervisor took, and how long work waited for processors, memory and storage (PSI). Times taken
// beside these are suspect where they grow.
#include "system_files.hpp"

#include <quern/topology/text.hpp>

#include <unistd.h>

namespace quern::counters::detail {

namespace {

using topology::outcome;
using topology::unavailable;
using topology::detail::parse_number;
using topology::detail::quoted;
using topology::detail::words;

constexpr std::size_t k_states = 8;  // user nice system idle iowait irq softirq steal
constexpr std::size_t k_steal = 7;
constexpr std::size_t k_oldest = 4;  // states of the oldest kernels

/// The times in the line "cpu", which is the first: those of all processors together. The columns
/// after steal, of guests, are in user and nice too.
outcome<std::vector<double>> processor_times(std::string_view text) {
    const std::vector<std::string_view> found = words(text.substr(0, text.find('\n')));
    std::vector<double> times;
    for (std::size_t i = 1; i < found.size() && i <= k_states; ++i) {
        const auto time = parse_number(found[i]);
        if (!time) {
            return unavailable{"malformed: expected a time, found " + quoted(found[i])};
        }
        times.push_back(static_cast<double>(*time));
    }
    if (times.size() < k_oldest || found.front() != "cpu") {
        return unavailable{"malformed: expected the times of all processors, found " +
                           quoted(text)};
    }
    return times;
}

outcome<double> total_time(std::string_view text) {
    const outcome<std::vector<double>> times = processor_times(text);
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
    const outcome<std::vector<double>> times = processor_times(text);
    if (!times) {
        return unavailable{times.reason()};
    }
    if (times->size() <= k_steal) {
        return unavailable{"this kernel does not count steal time"};
    }
    return (*times)[k_steal];
}

std::vector<file_counter> processor_counters() {
    const double ns_per_tick = 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return {
        {{"/os/steal-time", counter_kind::sum, "ns",
          "Time that the machine's processors were ready and the hypervisor gave to others."},
         steal_time,
         ns_per_tick},
        {{"/os/total-time", counter_kind::sum, "ns",
          "Time of all processors of the machine, idle or not."},
         total_time,
         ns_per_tick},
        {{"/os/steal-rate", counter_kind::ratio, "0.01 %",
          "Share of the processors' time that the hypervisor gave to others.", 10'000},
         steal_time,
         ns_per_tick,
         total_time},
    };
}

file_counter pressure(const std::string& resource, const char* extent, const char* help) {
    return {{"/os/pressure/" + resource + "/" + extent, counter_kind::sum, "us", help},
            in_line(extent, "total=")};
}

}  // namespace

void add_machine_sources(source_list& all, const topology::system_root& root) {
    all.push_back(std::make_unique<file_source>(root, "/proc/stat", processor_counters()));
    for (const std::string resource : {"cpu", "memory", "io"}) {
        all.push_back(std::make_unique<file_source>(
            root, "/proc/pressure/" + resource,
            std::vector<file_counter>{
                pressure(resource, "some",
                         "Time in which a task of the machine, at least one, waited for it."),
                pressure(resource, "full", "Time in which all tasks of the machine waited for it."),
            }));
    }
}

}  // namespace quern::counters::detail
