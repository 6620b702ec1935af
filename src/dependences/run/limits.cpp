// SPDX-License-Identifier: BSL-1.0
// The settings of this layer, and those of them that are knobs too.
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/knobs.hpp>
#include <quern/settings/settings.hpp>

#include "run/limits.hpp"

#include <atomic>
#include <string_view>
#include <vector>

namespace quern::detail {

namespace {

/// About 3 MB of tasks with two accesses: 10 times as many no longer fit into a cache, and a tiny
/// task took 3 to 4 times as long (docs/design/0028-dependences.md).
constexpr std::uint32_t k_usual_live_tasks = 10'000;
constexpr std::uint32_t k_most_live_tasks = 1'000'000'000;

constinit std::atomic<std::uint32_t> g_live_tasks{k_usual_live_tasks};

constexpr std::uint32_t k_usual_renaming_bytes = 256U << 20;  // guessed
constexpr std::uint32_t k_most_renaming_bytes = ~std::uint32_t{0};

/// What a core gets from another one's cache in the 10 us for which thieves leave a hinted task
/// (docs/design/0031-locality-of-dependent-tasks.md).
constexpr std::uint32_t k_usual_locality_bytes = 128U << 10;
constexpr std::uint32_t k_most_locality_bytes = ~std::uint32_t{0};

/// Of 0 the largest number.
constinit std::atomic<std::size_t> g_locality_bytes{k_usual_locality_bytes};

constinit std::atomic<std::uint32_t> g_renaming_bytes{k_usual_renaming_bytes};

constexpr setting k_dependence_settings[] = {
    {.name = "live-tasks",
     .owner = "dependences",
     .type = setting_type::number,
     .least = 1,
     .most = k_most_live_tasks,
     .fallback = "10000",
     .help = "tasks of a domain that have not ended, at most; then their creator lets others run"},
    {.name = "renaming-bytes",
     .owner = "dependences",
     .type = setting_type::bytes,
     .least = 0,
     .most = k_most_renaming_bytes,
     .fallback = "256M",
     .help = "memory of all versions of renamed objects beside the first, at most; 0: none"},
    {.name = "locality-bytes",
     .owner = "dependences",
     .type = setting_type::bytes,
     .least = 0,
     .most = k_most_locality_bytes,
     .fallback = "128k",
     .help = "a dependent task with so many bytes runs at the worker that last wrote most of them, "
             "if that is free soon; 0: none does"},
    {.name = "check-accesses",
     .owner = "dependences",
     .words =
         [] {
             return std::vector<std::string_view>{"off", "on"};
         },
     .fallback = "off",
     .help = "dependent tasks run one at a time; reports accesses that they do not declare",
     .bare = "on"}};

constexpr knob k_dependence_knobs[] = {
    {.name = "live-tasks",
     .owner = "dependences",
     .unit = "tasks",
     .help = "tasks of a domain that have not ended, at most; of the process",
     .least = 1,
     .most = k_most_live_tasks,
     .get = [](const pool&) noexcept { return g_live_tasks.load(std::memory_order_relaxed); },
     .set =
         [](pool&, std::uint32_t value) noexcept {
             g_live_tasks.store(value, std::memory_order_relaxed);
             return value;
         }},
    {.name = "renaming-bytes",
     .owner = "dependences",
     .unit = "bytes",
     .help = "memory of all versions of renamed objects beside the first, at most; 0: none; of the "
             "process",
     .least = 0,
     .most = k_most_renaming_bytes,
     .get = [](const pool&) noexcept { return g_renaming_bytes.load(std::memory_order_relaxed); },
     .set =
         [](pool&, std::uint32_t value) noexcept {
             g_renaming_bytes.store(value, std::memory_order_relaxed);
             return value;
         }},
    {.name = "locality-bytes",
     .owner = "dependences",
     .unit = "bytes",
     .help = "a dependent task with so many bytes runs at the worker that last wrote most of them, "
             "if that is free soon; 0: none does; of the process",
     .least = 0,
     .most = k_most_locality_bytes,
     .get =
         [](const pool&) noexcept {
             const std::size_t now = locality_limit();
             return now <= k_most_locality_bytes ? static_cast<std::uint32_t>(now) : 0;
         },
     .set =
         [](pool&, std::uint32_t value) noexcept {
             g_locality_bytes.store(value != 0 ? value : ~std::size_t{0},
                                    std::memory_order_relaxed);
             return value;
         }}};

}  // namespace

std::size_t renaming_limit() noexcept { return g_renaming_bytes.load(std::memory_order_relaxed); }

std::size_t locality_limit() noexcept { return g_locality_bytes.load(std::memory_order_relaxed); }

std::int64_t live_tasks_limit() noexcept { return g_live_tasks.load(std::memory_order_relaxed); }

void add_limits() {
    register_settings(k_dependence_settings);
    register_knobs(k_dependence_knobs);
}

}  // namespace quern::detail
