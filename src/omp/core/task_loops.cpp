// SPDX-License-Identifier: BSL-1.0
// Tasks of loops, made by the member that runs them, one after the other in the same memory.
#include "core/task_loops.hpp"

#include "core/cancellation.hpp"
#include "core/observing.hpp"
#include "tools/tools.hpp"

#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace quern::omp {

namespace {

/// Tasks of a loop without a clause, for each member.
constexpr std::uint64_t k_tasks_of_each = 8;

constexpr std::uint64_t k_moving = std::uint64_t{1} << 32;

/// Runs tasks of a loop, one after the other. As long as none leaves children or something else
/// that needs its object, they share one.
class task_runner {
public:
    task_runner(member& here, const loop_tasks& what) noexcept : m_here(here), m_what(what) {}
    task_runner(const task_runner&) = delete;
    task_runner& operator=(const task_runner&) = delete;
    ~task_runner() {
        if (m_room != nullptr) {
            end_deferred(m_here, *m_room);
        }
        m_here.at->stats().tasks.add(m_run);
    }

    void run(std::uint64_t number) noexcept {
        task* const before = m_here.current;
        deferred_task& next = room(*before);
        if (is_discarded(m_here, next)) [[unlikely]] {
            return;
        }
        m_what.make(m_what, next, m_what.division.of(number));
        m_here.current = &next;
        call_task_body(m_what.body, next.argument);
        m_here.current = before;
        ++m_run;
        if (!next.is_alone() || next.accesses != nullptr) {
            end_deferred(m_here, *std::exchange(m_room, nullptr));
        }
    }

private:
    deferred_task& room(const task& parent) noexcept {
        if (m_room == nullptr) {
            m_room = prepare_deferred(m_here, m_what.size, m_what.alignment);
        } else {
            m_room->group = parent.group;
            m_room->values = parent.values;
        }
        return *m_room;
    }

    member& m_here;
    const loop_tasks& m_what;
    deferred_task* m_room = nullptr;
    std::uint64_t m_run = 0;
};

}  // namespace

loop_division::loop_division(unsigned members, std::uint64_t count, task_grain by,
                             std::uint64_t wanted, bool is_strict) noexcept
    : m_count(count) {
    if (wanted == 0) {
        by = task_grain::chosen;
    }
    m_tasks = m_each = m_larger = 0;
    if (count == 0) {
        return;
    }
    if (by == task_grain::iterations && is_strict) {
        m_tasks = (count - 1) / wanted + 1;
        m_each = wanted;
        return;
    }
    if (by == task_grain::iterations) {
        m_tasks = std::max<std::uint64_t>(1, count / wanted);
    } else {
        m_tasks = std::min(count, by == task_grain::tasks ? wanted : members * k_tasks_of_each);
    }
    m_each = count / m_tasks;
    m_larger = count % m_tasks;
}

iterations loop_division::of(std::uint64_t task) const noexcept {
    const std::uint64_t from = task * m_each + std::min(task, m_larger);
    return {from, std::min(m_each + (task < m_larger ? 1 : 0), m_count - from)};
}

bool shared_task_loop::suits(member& here, const loop_division& by) noexcept {
    return !runs_at_once(here) && here.stacks == nullptr && !tools::is_active() && !is_observed() &&
           by.tasks() > 1 && by.tasks() < chunk_range<detail::std_atomics>::k_most_chunks;
}

shared_task_loop::shared_task_loop(const member& here, const loop_tasks& what)
    : m_tasks(what),
      m_slot_count(
          static_cast<unsigned>(std::min<std::uint64_t>(here.of->size, what.division.tasks()))),
      m_slots(std::make_unique<slot[]>(m_slot_count)) {
    m_slots[0].range.set({0, static_cast<std::uint32_t>(what.division.tasks())});
}

void shared_task_loop::run(member& here) noexcept {
    add_helpers(here);
    run_as(here, 0);
}

void shared_task_loop::add_helpers(member& here) noexcept {
    for (unsigned i = 1; i < m_slot_count; ++i) {
        deferred_task& made = *prepare_deferred(here, sizeof(helper), alignof(helper));
        ::new (made.argument) helper{this, i};
        made.body = [](void* argument) {
            const helper& self = *static_cast<helper*>(argument);
            self.of->run_as(this_member(), self.number);
        };
        add_deferred(here, made);
    }
}

void shared_task_loop::run_as(member& here, unsigned number) noexcept {
    task_runner runner(here, m_tasks);
    auto& own = m_slots[number].range;
    do {
        std::uint32_t left = 0;
        for (chunk_numbers next = own.take(1, left); !next.is_empty(); next = own.take(1, left)) {
            runner.run(next.from);
        }
    } while (take_from_others(number));
}

/// A range that is about to change its owner is in no slot for a moment. So what is found empty is
/// looked at again if one was under way or has come meanwhile.
bool shared_task_loop::take_from_others(unsigned number) noexcept {
    for (;;) {
        const std::uint64_t moves = m_moves.load(std::memory_order_seq_cst);
        for (unsigned i = 1; i < m_slot_count; ++i) {
            auto& other = m_slots[(number + i) % m_slot_count].range;
            if (other.is_empty()) {
                continue;
            }
            m_moves.fetch_add(k_moving, std::memory_order_seq_cst);
            const chunk_numbers taken = other.take_half();
            if (!taken.is_empty()) {
                m_slots[number].range.set(taken);
                m_moves.fetch_add(1 - k_moving, std::memory_order_seq_cst);
                return true;
            }
            m_moves.fetch_sub(k_moving, std::memory_order_seq_cst);
        }
        if (moves < k_moving && m_moves.load(std::memory_order_seq_cst) == moves) {
            return false;
        }
        detail::std_atomics::pause();
    }
}

}  // namespace quern::omp
