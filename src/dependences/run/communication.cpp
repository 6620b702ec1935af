// SPDX-License-Identifier: BSL-1.0
// Tasks that pass messages: those of a domain in the order of their creation, those that run in a
// pool of their own, and those that begin again.
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/dependences/detail/restart.hpp>

#include "run/ready_successors.hpp"

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace quern::detail {

// -- order -------------------------------------------------------------------------------------

/// The artificial order is an access to a sentinel that no program can name.
void domain_core::mark_communication(dependent_task& task) {
    task.set_communication();
    if (!home_pool().orders_communication()) {
        return;
    }
    const region sentinel{.begin = reinterpret_cast<std::uintptr_t>(&own_spawned()),
                          .kind = access_kind::write};
    try {
        task.rare().order = std::make_unique<access_record>(sentinel, task);
    } catch (const std::bad_alloc&) {
        task.drop();
        start(task);
        throw;
    }
}

/// The function has returned, so the calls have been made; what holds the task may end later.
void dependent_task::end_order() noexcept {
    if (m_rare == nullptr || m_rare->order == nullptr || m_rare->order->given_up.is_set()) {
        return;
    }
    m_rare->order->given_up.at_end();
    ready_successors released;
    ready_batch batch;
    released.release(*m_rare->order);
    released.move_to(batch);
    if (!batch.empty()) {
        home_pool().make_ready(batch);
    }
}

// -- a pool of their own -----------------------------------------------------------------------

bool dependent_task::goes_elsewhere() noexcept {
    return m_is_communication && &home_pool().communication_pool() != &home_pool();
}

void dependent_task::become_ready_placed() noexcept {
    if (goes_elsewhere()) {
        home_pool().make_communication_ready(*this);
        return;
    }
    choose_home();
    make_ready();
}

void ready_successors::send_communication() noexcept {
    ready_batch all;
    if (m_best != nullptr) {
        all.add(*std::exchange(m_best, nullptr));
    }
    while (!m_others.empty()) {
        all.add(m_others.take_first());
    }
    m_has_large = false;
    while (!all.empty()) {
        auto& task = dependent_task::from_item(all.take_first());
        if (task.goes_elsewhere()) {
            task.home_pool().make_communication_ready(task);
        } else {
            add(task);
        }
    }
}

// -- beginning again ---------------------------------------------------------------------------

const char* why_no_restart() noexcept {
    dependent_task* const task = dependent_task::current();
    if (task == nullptr) {
        return "it was called outside of a task of a quern::domain";
    }
    return task->why_no_restart();
}

void restart_running_task() { throw restart_of_task(); }

const char* dependent_task::why_no_restart() const noexcept {
    if (m_children != nullptr) {
        return "the task has spawned children, which would be spawned again";
    }
    if (holds_left() != 0) {
        return "the task is held, by mpi::bind or this_task::hold";
    }
    for (const access_record& each : accesses()) {
        if (each.given_up.is_set() || partly(each) != nullptr) {
            return "the task has released an access";
        }
        if (each.kind == access_kind::reduction) {
            return "the task takes part in a reduction, to which it would add again";
        }
    }
    return nullptr;
}

/// Behind the task that the worker would take next. As the thesis has it, the task loses its
/// precedence: else it would be taken again before those that it waits for.
void dependent_task::queue_again() noexcept {
    reopen();
    last_as({.stack = stack});
    runnable::home = runnable::k_anywhere;
    worker* const here = current_worker();
    const bool is_at_home = here != nullptr && &here->home() == &home_pool();
    runnable* const first = is_at_home ? here->pop() : nullptr;
    if (first == nullptr) {
        home_pool().inject(*this);
        return;
    }
    here->push(*this);
    here->put_back(*first);
}

}  // namespace quern::detail
