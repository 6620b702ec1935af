// SPDX-License-Identifier: BSL-1.0
// The bodies of counter_log.hpp. Keys that are not known are passed over, so that the format may
// grow; names are taken apart by their braces.
#include "counter_log.hpp"

#include "json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>
#include <stdexcept>

namespace quern::tool {

namespace {

constexpr const char* k_tasks = "/threads/count/cumulative";

/// "/threads{locality#0/total}/time/average" as its instance and "/threads/time/average".
std::pair<std::string, std::string> split_name(const std::string& name) {
    const std::size_t open = name.find('{');
    const std::size_t shut = name.find('}', open == std::string::npos ? 0 : open);
    if (open == std::string::npos || shut == std::string::npos) {
        return {"", name};
    }
    return {name.substr(open + 1, shut - open - 1), name.substr(0, open) + name.substr(shut + 1)};
}

/// Whether these are the counters of the whole runtime, not of a pool or a worker.
bool is_whole(const std::string& instance) {
    return instance.empty() || (instance.find("pool#") == std::string::npos &&
                                instance.find("worker-thread#") == std::string::npos);
}

double scale_of(const std::string& unit) {
    static const std::map<std::string, double> scales = {
        {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"0.01 %", 1e-4}, {"%", 1e-2}};
    const auto found = scales.find(unit);
    return found == scales.end() ? 1.0 : found->second;
}

/// A worker may be listed twice, by itself and in its pool.
unsigned count_workers(const std::set<std::string>& instances) {
    const auto in_pools = std::count_if(
        instances.begin(), instances.end(),
        [](const std::string& instance) { return instance.find("pool#") != std::string::npos; });
    const auto all = static_cast<std::ptrdiff_t>(instances.size());
    return static_cast<unsigned>(std::max(in_pools, all - in_pools));
}

/// Throws json_error.
counter_reading parse(const std::string& line) {
    const json_value object = json_value::parse(line);
    counter_reading reading;
    std::set<std::string> workers;
    reading.time_s = object.value("time_s", 0.0);
    for (const json_value& counter : object.at("counters")) {
        const auto [instance, name] = split_name(counter.at("name"));
        if (instance.find("worker-thread#") != std::string::npos) {
            workers.insert(instance);
        }
        if (!is_whole(instance)) {
            continue;
        }
        const json_value value = counter.value("value", json_value());
        if (value.is_number()) {
            reading.totals[name] = value.get<double>() * scale_of(counter.value("unit", ""));
        } else {
            reading.missing[name] = counter.value("why", "");
        }
    }
    reading.workers = count_workers(workers);
    return reading;
}

}  // namespace

double counter_reading::total(const std::string& name) const {
    const auto found = totals.find(name);
    return found == totals.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

std::optional<counter_reading> read_counter_log(const std::string& path) {
    std::ifstream file(path);
    std::optional<counter_reading> best;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) {
            continue;
        }
        try {
            counter_reading reading = parse(line);
            const bool fewer = best && reading.total(k_tasks) < best->total(k_tasks);
            if (!fewer) {
                best = std::move(reading);
            }
        } catch (const json_error& error) {
            throw std::runtime_error(
                fmt::format("{}:{}: not a line of counters: {}", path, number, error.what()));
        }
    }
    return best;
}

}  // namespace quern::tool
