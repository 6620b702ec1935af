// SPDX-License-Identifier: BSL-1.0
// The table of knobs.
#include <quern/scheduler/knobs.hpp>

#include "worker/waking.hpp"

#include <quern/base/detail/growing_table.hpp>
#include <quern/base/detail/nearest_match.hpp>
#include <quern/scheduler/detail/pool.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern {

namespace {

constexpr knob k_rows[] = {
    {.name = "active-workers",
     .owner = "scheduler",
     .unit = "workers",
     .help = "workers that may take work; at most as many as the pool has",
     .least = 1,
     .most = detail::k_max_workers,
     .get =
         [](const detail::pool& of) noexcept {
             return of.knobs().active_workers.load(std::memory_order_relaxed);
         },
     .set = [](detail::pool& of,
               std::uint32_t value) noexcept { return of.set_active_workers(value); }},
    {.name = "spin-us",
     .owner = "scheduler",
     .unit = "us",
     .help = "how long a worker searches before it sleeps",
     .most = detail::k_longest_spin_us,
     .get =
         [](const detail::pool& of) noexcept {
             return of.knobs().spin_us.load(std::memory_order_relaxed);
         },
     .set =
         [](detail::pool& of, std::uint32_t value) noexcept {
             of.knobs().spin_us.store(value, std::memory_order_relaxed);
             return value;
         }},
    {.name = "wake-fanout",
     .owner = "scheduler",
     .unit = "workers",
     .help = "sleeping workers that a worker wakes at once, at most; of the process",
     .least = 1,
     .most = detail::k_most_wake_fanout,
     .get =
         [](const detail::pool&) noexcept {
             return detail::g_wake_fanout.load(std::memory_order_relaxed);
         },
     .set =
         [](detail::pool&, std::uint32_t value) noexcept {
             detail::g_wake_fanout.store(value, std::memory_order_relaxed);
             return value;
         }},
    {.name = "spare-threads",
     .owner = "scheduler",
     .unit = "threads",
     .help = "threads at most for tasks in a blocking_region",
     .least = 1,
     .most = detail::k_most_spare_threads,
     .get =
         [](const detail::pool& of) noexcept {
             return of.knobs().spare_threads.load(std::memory_order_relaxed);
         },
     .set =
         [](detail::pool& of, std::uint32_t value) noexcept {
             of.knobs().spare_threads.store(value, std::memory_order_relaxed);
             return value;
         }},
    {.name = "steal-batch",
     .owner = "scheduler",
     .unit = "tasks",
     .help = "ready tasks that a thief takes at once; 0: as the policy says",
     .most = detail::k_largest_batch,
     .get =
         [](const detail::pool& of) noexcept {
             return of.knobs().steal_batch.load(std::memory_order_relaxed);
         },
     .set =
         [](detail::pool& of, std::uint32_t value) noexcept {
             of.knobs().steal_batch.store(value, std::memory_order_relaxed);
             return value;
         }},
};

constinit detail::growing_table<knob, 64> g_table(k_rows);

}  // namespace

std::span<const knob> all_knobs() noexcept { return g_table.rows(); }

void register_knobs(std::span<const knob> rows) {
    for (const knob& row : rows) {
        if (row.name.empty() || row.least > row.most || row.get == nullptr || row.set == nullptr) {
            throw std::invalid_argument(
                "quern: knob '" + std::string(row.name) +
                "' needs a name, a range that is not empty, and functions to get and set it");
        }
    }
    g_table.add(rows, "knob");
}

namespace detail {

const knob& find_knob(std::string_view name) {
    if (const knob* const row = g_table.find(name)) {
        return *row;
    }
    std::vector<std::string_view> names;
    for (const knob& each : g_table.rows()) {
        names.push_back(each.name);
    }
    throw std::invalid_argument("quern: unknown knob '" + std::string(name) +
                                "': " + accepted_values(name, names));
}

std::uint32_t set_within(const knob& which, pool& of, std::uint32_t value) noexcept {
    return which.set(of, std::clamp(value, which.least, which.most));
}

}  // namespace detail

}  // namespace quern
