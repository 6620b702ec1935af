// SPDX-License-Identifier: BSL-1.0
// The data of `quern top`: the difference of two snapshots of a program, as rates and shares. Other
// files show it as text, as JSON or on a screen.
#pragma once

#include "live/json_reader.hpp"

#include <quern/base/detail/json.hpp>

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quern::tool {

/// Of a worker, or the sum over all workers of a pool.
struct top_rates {
    double tasks_per_s = 0;
    std::optional<double> ns_per_task;  ///< nothing: no task has ended
    double running = 0;                 ///< share of the time, 0 to 1
    double blocked = 0;  ///< in tasks, while the worker's thread was blocked in the kernel
    double lost = 0;     ///< the worker's thread was ready and had no processor
    double overhead = 0;
    double idle = 0;
    double chunks_per_s = 0;  ///< pieces of loops, which are no tasks
    double loops_per_s = 0;
    double scopes_per_s = 0;
    double stolen_per_s = 0;
    double suspensions_per_s = 0;
};

struct top_worker {
    unsigned rank = 0;
    std::string phase;
    std::uint64_t queued = 0;
    top_rates rates;
    std::string runs;  ///< the task's name, or where it was made; empty: none
};

struct top_pool {
    std::string name;
    std::string policy;
    unsigned active_workers = 0;
    std::uint64_t queued = 0;  ///< of all workers, and of shared queues
    std::uint64_t suspended = 0;
    top_rates rates;
    std::vector<top_worker> workers;
};

/// Tasks of one name that were made at one place.
struct top_site {
    std::string name;
    std::string place;
    double share = 0;  ///< of the workers' time, 0 to 1
};

/// Of a tuner or a policy; trials are none.
struct top_decision {
    double time_ns = 0;  ///< since the program began
    std::string text;
};

/// "name: place", or the known part of it.
std::string what_runs(const std::string& name, const std::string& place);

struct top_frame {
    pid_t pid = 0;
    std::string program;
    std::string version;
    double uptime_s = 0;
    double interval_s = 0;
    std::uint64_t resident_bytes = 0;  ///< 0: unknown
    std::optional<double> watts;       ///< of the machine's packages
    std::string no_power;              ///< why they are unknown
    std::vector<top_pool> pools;
    std::vector<top_site> sites;          ///< by samples, the largest first
    std::vector<top_decision> decisions;  ///< the newest few, the newest last
};

/// From two snapshots; without power, sites and decisions. New pools count from their beginning.
top_frame make_frame(const json_value& before, const json_value& now);

/// The order in which workers are shown.
enum class top_order : std::uint8_t { rank, tasks, overhead, idle, queued };
inline constexpr const char* k_top_orders[] = {"rank", "tasks/s", "overhead", "idle", "queued"};
void sort_workers(top_frame& frame, top_order order);
/// Smaller for what is shown first.
double order_of(top_order order, int rank, const top_rates& rates, std::uint64_t queued);

/// Lines of text without line ends, about `width` columns wide.
std::vector<std::string> lines_of(const top_frame& frame, std::size_t width);

/// A JSON document.
std::string frame_as_json(const top_frame& frame);
/// The same in an open object.
void add_frame(quern::detail::json& out, const top_frame& frame);

}  // namespace quern::tool
