// SPDX-License-Identifier: BSL-1.0
// What precedes what in a recorded step, and from one step to the next: the map of a domain says it
// of two copies of the step that never run. README.md, "Replay".
#include <quern/dependences/detail/replay_run.hpp>

#include "map/overlap.hpp"
#include "run/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

namespace quern::detail {

namespace {

/// A task that releases nothing, so that its successors stay in its accesses.
struct unborn_task final : access_owner, dependence_target {
    unborn_task(std::size_t place) noexcept : dependence_target(what::task), at(place) {}

    std::size_t at;  ///< in both steps together

private:
    void delete_it() noexcept override {}
};

class two_steps {
public:
    explicit two_steps(std::span<const std::unique_ptr<replayed_task>> step) : m_size(step.size()) {
        for (int i = 0; i < 2; ++i) {
            for (const auto& each : step) {
                enter(each->where());
            }
        }
    }
    two_steps(const two_steps&) = delete;
    two_steps& operator=(const two_steps&) = delete;
    ~two_steps() {
        for (access_record& each : m_accesses) {
            if (!each.successors.is_released()) {
                for_each_successor(each, [](const unborn_task&) {});
            }
        }
        m_map.clear();
    }

    std::vector<recorded_successors> edges() {
        std::vector<recorded_successors> found(m_size);
        for (access_record& each : m_accesses) {
            const std::size_t from = static_cast<unborn_task&>(each.owner).at;
            for_each_successor(each, [&](const unborn_task& to) {
                if (to.at < m_size) {
                    return;  // within the first step: the second one has the same
                }
                recorded_successors& of = found[from % m_size];
                (from < m_size ? of.in_next_step : of.in_step)
                    .push_back(static_cast<std::uint32_t>(to.at - m_size));
            });
        }
        for (recorded_successors& each : found) {
            for (auto* const list : {&each.in_step, &each.in_next_step}) {
                std::sort(list->begin(), list->end());
                list->erase(std::unique(list->begin(), list->end()), list->end());
            }
        }
        return found;
    }

private:
    void enter(std::span<const strided_region> where) {
        unborn_task& task = m_tasks.emplace_back(m_tasks.size());
        task.begin_registration();
        std::uint32_t made = 0;
        for (const strided_region& each : where) {
            if (!each.is_empty) {
                // Not `access`: a recording would take its owner for a dependent task.
                access_record& access =
                    m_accesses.emplace_back(each, task, dependence_target::what::waiter);
                new_links links{task, &access, &task, made};
                m_map.enter(access, links);
            }
        }
        task.end_registration();
    }

    /// Takes the links away.
    template <class F>
    static void for_each_successor(access_record& of, F call) {
        for (dependence_link* each = of.successors.release(); each != nullptr;) {
            dependence_link& link = *std::exchange(each, each->next);
            call(static_cast<const unborn_task&>(link.target()));
            if (link.is_block()) {
                free_block(&link, sizeof(linked_block));
            }
        }
    }

    const std::size_t m_size;
    std::deque<unborn_task> m_tasks;
    std::deque<access_record> m_accesses;
    region_map m_map;
};

bool is_large(const replayed_task& task) noexcept {
    std::size_t bytes = 0;
    for (const strided_region& each : task.where()) {
        bytes += bytes_of(each);
    }
    return bytes >= locality_limit();
}

}  // namespace

std::vector<recorded_successors> graph_of_steps(
    std::span<const std::unique_ptr<replayed_task>> step) {
    return two_steps(step).edges();
}

void make_slots(replay_slots& slots, std::size_t count) {
    const auto graph = detail::graph_of_steps(slots.front()->tasks);
    const std::size_t tasks = graph.size();
    std::size_t edges = 0;
    std::vector<std::uint32_t> within(tasks, 0);
    std::vector<std::uint32_t> from_before(tasks, 0);
    for (const recorded_successors& each : graph) {
        edges += each.in_step.size() + each.in_next_step.size();
        for (const std::uint32_t to : each.in_step) {
            ++within[to];
        }
        for (const std::uint32_t to : each.in_next_step) {
            ++from_before[to];
        }
    }
    for (std::size_t i = 1; i < count; ++i) {
        replay_slot& made = *slots.emplace_back(std::make_unique<replay_slot>());
        made.tasks.reserve(tasks);
        for (const auto& each : slots.front()->tasks) {
            made.tasks.push_back(each->copy());
        }
    }
    for (const auto& each : slots) {
        each->successors.reserve(edges);
    }
    for (std::size_t i = 0; i < count; ++i) {
        replay_slot& here = *slots[i];
        const replay_slot& next = *slots[(i + 1) % count];
        here.successors.clear();
        for (std::size_t k = 0; k < tasks; ++k) {
            const std::size_t first = here.successors.size();
            for (const std::uint32_t to : graph[k].in_step) {
                here.successors.push_back(here.tasks[to].get());
            }
            for (const std::uint32_t to : graph[k].in_next_step) {
                here.successors.push_back(next.tasks[to].get());
            }
            const std::span<replayed_task* const> own(here.successors.data() + first,
                                                      here.successors.size() - first);
            const std::uint32_t all = within[k] + from_before[k];
            here.tasks[k]->place(here, own, all, i == 0 ? within[k] : all);
            if (is_large(*here.tasks[k])) {
                const auto& later = graph[k].in_next_step;
                const bool waits = std::binary_search(later.begin(), later.end(), k);
                here.tasks[k]->place_large(waits ? next.tasks[k].get() : nullptr);
            }
        }
    }
}

}  // namespace quern::detail
