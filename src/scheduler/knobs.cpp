// SPDX-License-Identifier: BSL-1.0
// The table of knobs.
#include <quern/scheduler/knobs.hpp>

#include <quern/base/nearest_match.hpp>
#include <quern/scheduler/pool.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern::detail {

namespace {

constexpr knob k_knobs[] = {
    {"active_workers", "workers that may take work; 1 to the size of the pool",
     [](const pool& of) noexcept {
         return of.knobs.active_workers.load(std::memory_order_relaxed);
     },
     [](pool& of, std::uint32_t value) noexcept { return of.set_active_workers(value); }},
    {"spin_us", "microseconds that a worker searches before it sleeps; 0 to 1000000",
     [](const pool& of) noexcept { return of.knobs.spin_us.load(std::memory_order_relaxed); },
     [](pool& of, std::uint32_t value) noexcept {
         const std::uint32_t spin = std::min(value, k_longest_spin_us);
         of.knobs.spin_us.store(spin, std::memory_order_relaxed);
         return spin;
     }},
    {"spare_threads", "threads at most for tasks in a blocking_region; 1 to 4096",
     [](const pool& of) noexcept { return of.knobs.spare_threads.load(std::memory_order_relaxed); },
     [](pool& of, std::uint32_t value) noexcept {
         const std::uint32_t most = std::clamp(value, 1U, k_most_spare_threads);
         of.knobs.spare_threads.store(most, std::memory_order_relaxed);
         return most;
     }},
    {"steal_batch", "ready items that a thief takes at once, 1 to 4096; 0: as the policy says",
     [](const pool& of) noexcept { return of.knobs.steal_batch.load(std::memory_order_relaxed); },
     [](pool& of, std::uint32_t value) noexcept {
         const std::uint32_t batch = std::min(value, k_largest_batch);
         of.knobs.steal_batch.store(batch, std::memory_order_relaxed);
         return batch;
     }},
};

}  // namespace

std::span<const knob> all_knobs() noexcept { return k_knobs; }

const knob& find_knob(std::string_view name) {
    std::vector<std::string_view> names;
    for (const knob& k : k_knobs) {
        if (k.name == name) {
            return k;
        }
        names.push_back(k.name);
    }
    throw std::invalid_argument("quern: unknown knob '" + std::string(name) +
                                "': " + accepted_values(name, names));
}

}  // namespace quern::detail
