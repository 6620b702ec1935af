// SPDX-License-Identifier: BSL-1.0
// The settings of the scheduler. They are added before the first of them is read: before main, in
// every program with a source that includes runtime.hpp. The table and the sources of values are
// the layer settings.
#include "worker/waking.hpp"

#include <quern/context/stack_memory.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/policy.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>
#include <quern/topology/binding.hpp>

#include <mutex>
#include <string_view>
#include <vector>

namespace quern::detail {

namespace {

std::vector<std::string_view> policy_names() {
    std::vector<std::string_view> names;
    for (const scheduling_policy& policy : scheduling_policies()) {
        names.push_back(policy.name);
    }
    return names;
}

std::vector<std::string_view> binding_names() {
    std::vector<std::string_view> names;
    names.reserve(topology::k_named_policies.size());
    for (const topology::binding_policy policy : topology::k_named_policies) {
        names.push_back(name_of(policy));
    }
    return names;
}

std::vector<std::string_view> stack_names() {
    return {k_stack_class_names.begin(), k_stack_class_names.end()};
}

/// certain: when nothing in the process can wake a task any more.
std::vector<std::string_view> hang_report_words() { return {"certain", "off"}; }
std::vector<std::string_view> on_or_off() { return {"on", "off"}; }

constexpr setting k_rows[] = {
    {.name = "threads",
     .owner = "scheduler",
     .type = setting_type::number,
     .least = 1,
     .most = k_max_workers,
     .fallback = "auto",
     .help = "workers; auto: as many as affinity mask, cpuset, CPU quota and bind allow"},
    {.name = "policy",
     .owner = "scheduler",
     .type = setting_type::word,
     .words = policy_names,
     .fallback = "work-stealing",
     .help = "scheduling policy: which ready task a worker takes next"},
    {.name = "bind",
     .owner = "scheduler",
     .type = setting_type::placement,
     .words = binding_names,
     .fallback = "none",
     .help =
         "where workers run; in a list, one on each CPU; `quern info --binding` shows what each "
         "value gives"},
    {.name = "stack",
     .owner = "scheduler",
     .type = setting_type::word,
     .words = stack_names,
     .fallback = "medium",
     .help = "stack of tasks that ask for none: 64 KiB, 512 KiB or 8 MiB"},
    {.name = "active-workers",
     .owner = "scheduler",
     .type = setting_type::number,
     .least = 1,
     .most = k_max_workers,
     .fallback = "all",
     .help = "workers that may take work at the start; the others sleep"},
    {.name = "spin-us",
     .owner = "scheduler",
     .type = setting_type::number,
     .least = 0,
     .most = k_longest_spin_us,
     .fallback = "50",
     .help = "microseconds that a worker without work searches before it sleeps"},
    {.name = "wake-fanout",
     .owner = "scheduler",
     .type = setting_type::number,
     .least = 1,
     .most = k_most_wake_fanout,
     .fallback = "2",
     .help = "sleeping workers that a worker wakes at once, at most, when it has work for several"},
    {.name = "steal-batch",
     .owner = "scheduler",
     .type = setting_type::number,
     .least = 1,
     .most = k_largest_batch,
     .fallback = "auto",
     .help = "ready tasks that a thief takes at once, at most; auto: one, more of tiny ones, under "
             "sherwood "
             "half"},
    {.name = "hang-report",
     .owner = "scheduler",
     .type = setting_type::number,
     .least = 1,
     .most = 86'400,
     .words = hang_report_words,
     .fallback = "certain",
     .help = "who waits for what, when nothing can run; a number: after so many idle seconds"},
    {.name = "spare-threads",
     .owner = "scheduler",
     .type = setting_type::number,
     .least = 1,
     .most = k_most_spare_threads,
     .fallback = "64",
     .help = "threads at most for tasks that block in foreign code (blocking_region)"},
    {.name = "crash-report",
     .owner = "scheduler",
     .type = setting_type::word,
     .words = on_or_off,
     .fallback = "on",
     .help = "whether a program with `install_crash_handler` or `quern::main` says why it dies"},
};

}  // namespace

bool add_scheduler_settings() {
    static constinit std::once_flag added;
    std::call_once(added, [] { register_settings(k_rows); });
    return true;
}

}  // namespace quern::detail
