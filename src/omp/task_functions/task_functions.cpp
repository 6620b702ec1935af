// SPDX-License-Identifier: BSL-1.0
// The functions that translated sources call: each thread outside of tasks has a domain of its own.
#include "regions.hpp"

#include <quern/adaptation/detail/attach.hpp>
#include <quern/counters/detail/attach.hpp>
#include <quern/dependences/block.hpp>
#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/dependences/detail/restart.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/scheduler/sites.hpp>
#include <quern/task/this_task.hpp>
#include <quern/trace/detail/attach.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace quern::task_functions {

namespace {

/// C has no exceptions: what a program cannot answer for ends it.
[[noreturn]] void end_with(const quern_task_site* site, const char* problem) {
    if (site != nullptr) {
        std::fprintf(stderr, "quern: task %s at %s:%d: %s\n", site->function, site->file,
                     site->line, problem);
    } else {
        std::fprintf(stderr, "quern: taskwait: %s\n", problem);
    }
    std::abort();
}

bool is_child() noexcept { return detail::dependent_task::current() != nullptr; }

/// Of the calling thread, which runs no task. Its end waits for its tasks.
domain& own_domain(const quern_task_site* site) {
    if (this_task::is_task()) {
        end_with(site,
                 "the caller is a task of async, post, a task group or a loop; accepted: a thread "
                 "outside of tasks, and a task of a quern::domain, such as a task function");
    }
    static thread_local std::optional<domain> t_own;
    if (!t_own) {
        t_own.emplace();
    }
    return *t_own;
}

/// The token of the place, made at its first task.
const void* token_of(quern_task_site& site) {
    const std::atomic_ref<const void*> token(site.token);
    const void* known = token.load(std::memory_order_relaxed);
    if (known == nullptr) {
        const std::string function = std::string("task ") + site.function;
        known = register_site({.function = function, .file = site.file, .line = site.line});
        token.store(known, std::memory_order_relaxed);
    }
    return known;
}

task_attributes attributes_of(const quern_task& task) {
    constexpr int k_most = std::numeric_limits<std::int16_t>::max();
    task_attributes how;
    how.name = task.label;
    how.site = token_of(*task.site);
    how.rank = static_cast<std::int16_t>(std::clamp(task.priority, -k_most, k_most));
    how.urgency = (task.flags & quern_task_high_priority) != 0 ? priority::high : priority::normal;
    how.communication = (task.flags & quern_task_communication) != 0;
    how.deferred = (task.flags & quern_task_undeferred) == 0;
    how.final = (task.flags & quern_task_final) != 0;
    return how;
}

template <std::size_t N>
strided<std::byte, N> strided_bytes(const quern_task_region& from) {
    std::array<std::ptrdiff_t, N> counts{};
    std::array<std::ptrdiff_t, N - 1> distances{};
    std::copy_n(from.counts, N, counts.begin());
    std::copy_n(from.distances, N - 1, distances.begin());
    counts[N - 1] *= static_cast<std::ptrdiff_t>(from.element);
    const void* const first = const_cast<const void*>(from.first);
    return {static_cast<std::byte*>(const_cast<void*>(first)), counts, distances};
}

/// What: a strided region, or a pointer and a number of bytes.
template <class... What>
void add_as(access_list& to, int kind, const What&... what) {
    switch (kind) {
        case quern_task_in:
            to.add(in(what...));
            break;
        case quern_task_out:
            to.add(out(what...));
            break;
        case quern_task_concurrent:
            to.add(concurrent(what...));
            break;
        case quern_task_commutative:
        case quern_task_reduction:
            to.add(commutative(what...));
            break;
        default:
            to.add(inout(what...));
    }
}

/// Joins each dimension to the next one where no gap lies between.
void join_dimensions(quern_task_region& region) {
    const auto size = static_cast<std::ptrdiff_t>(region.element);
    while (region.dimensions > 1) {
        const int last = region.dimensions - 1;
        if (region.distances[last - 1] != region.counts[last] * size &&
            region.counts[last - 1] != 1) {
            return;
        }
        region.counts[last - 1] *= region.counts[last];
        region.distances[last - 1] = size;
        region.dimensions = last;
    }
}

access_list accesses_of(const quern_task& task, const quern_task_region* without) {
    access_list all;
    for (const quern_task_region& each : std::span(task.regions, task.count)) {
        if (&each != without) {
            add_region(all, each);
        }
    }
    return all;
}

/// Before dimensions are joined and elements become bytes: the words name the program's number.
void refuse_negative(const quern_task_region& region) {
    for (int i = 0; i < std::min(region.dimensions, 4); ++i) {
        if (region.counts[i] < 0) {
            throw std::invalid_argument("a region of " + std::to_string(region.counts[i]) +
                                        " elements in dimension " + std::to_string(i + 1) + " of " +
                                        std::to_string(region.dimensions) +
                                        "; accepted: 0 or more");
        }
    }
}

/// The only reduction of the task that can have parts of its own, or null.
const quern_task_region* reduction_of(const quern_task& task) {
    for (const quern_task_region& each : std::span(task.regions, task.count)) {
        if (is_reduction(each)) {
            return &each;
        }
    }
    return nullptr;
}

void add_task(const quern_task& task) {
    const quern_task_region* const reduced = reduction_of(task);
    const access_list all = accesses_of(task, reduced);
    const task_attributes how = attributes_of(task);
    packed_call call(task);
    if (is_child()) {
        if (reduced != nullptr) {
            add_reduction(how, all, *reduced, std::move(call));
        } else {
            quern::spawn(how, all, std::move(call));
        }
    } else if (reduced != nullptr) {
        add_reduction(own_domain(task.site), how, all, *reduced, std::move(call));
    } else {
        own_domain(task.site).spawn(how, all, std::move(call));
    }
}

}  // namespace

void add_region(access_list& to, const quern_task_region& from) {
    refuse_negative(from);
    quern_task_region joined = from;
    join_dimensions(joined);
    switch (joined.dimensions) {
        case 1:
            add_as(to, from.kind, strided_bytes<1>(joined).data(),
                   joined.counts[0] * static_cast<std::ptrdiff_t>(joined.element));
            break;
        case 2:
            add_as(to, from.kind, strided_bytes<2>(joined));
            break;
        case 3:
            add_as(to, from.kind, strided_bytes<3>(joined));
            break;
        case 4:
            add_as(to, from.kind, strided_bytes<4>(joined));
            break;
        default:
            throw std::invalid_argument("a region of " + std::to_string(from.dimensions) +
                                        " dimensions; accepted: 1 to 4");
    }
}

}  // namespace quern::task_functions

using namespace quern::task_functions;

extern "C" {

void quern_task_add(const quern_task* task) {
    const int before = errno;  // of a program that does not know that it calls a library
    try {
        add_task(*task);
    } catch (const std::exception& error) {
        end_with(task->site, error.what());
    }
    errno = before;
}

void quern_task_wait() {
    if (is_child()) {
        quern::taskwait();
    } else {
        own_domain(nullptr).taskwait();
    }
}

void quern_task_wait_on(const quern_task_region* regions, unsigned count) {
    quern::access_list all;
    try {
        for (const quern_task_region& each : std::span(regions, count)) {
            add_region(all, each);
        }
    } catch (const std::exception& error) {
        end_with(nullptr, error.what());
    }
    if (is_child()) {
        quern::detail::domain_of_running("taskwait").taskwait_on(all.regions());
    } else {
        quern::domain& own = own_domain(nullptr);
        quern::detail::core_of(own, "taskwait").taskwait_on(all.regions());
    }
}

void quern_task_restart() {
    if (!is_child()) {
        return;
    }
    if (const char* const why = quern::detail::why_no_restart()) {
        std::fprintf(stderr,
                     "quern: css restart: %s; accepted: in a task function, before it does what "
                     "cannot be done again\n",
                     why);
        std::abort();
    }
    quern::this_task::yield();
    quern::detail::restart_running_task();
}
}
