// SPDX-License-Identifier: BSL-1.0
// The functions of a program that need no type: the end of a domain, taskwait, children.
#include <quern/dependences/domain.hpp>

#include <quern/base/detail/assert.hpp>
#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>

#include <stdexcept>
#include <string>

namespace quern {

domain::~domain() {
    QUERN_ASSERT(m_core.owned_here(),
                 "a domain was destroyed by a task or thread that did not make it");
    m_core.wait_for_all();
    m_core.report_unobserved();
}

void domain::taskwait() {
    m_core.require_owner("taskwait");
    m_core.taskwait();
}

namespace detail {

domain_core& core_of(domain& of, const char* function) {
    of.m_core.require_owner(function);
    return of.m_core;
}

namespace {

dependent_task& running_task(const char* function) {
    dependent_task* const running = dependent_task::current();
    if (running == nullptr) {
        throw std::logic_error(std::string("quern::") + function +
                               "() was called outside of a dependent task: make a quern::domain");
    }
    return *running;
}

/// Null: there is none that is not released.
access_record* find_access(dependent_task& task, const wanted_region& wanted) noexcept {
    const strided_region region = wanted.get();
    for (access_record& each : task.accesses()) {
        const bool has_shape = each.shape != nullptr;
        if (each.begin == region.begin && each.bytes == region.bytes && each.kind == region.kind &&
            !each.is_given_up && has_shape == (region.shape != nullptr) &&
            (!has_shape || *each.shape == *region.shape)) {
            return &each;
        }
    }
    return nullptr;
}

}  // namespace

domain_core& domain_of_running(const char* function) { return running_task(function).own_domain(); }

domain_core& domain_of_running_task(const char* function) { return running_task(function).home(); }

void release_accesses(std::span<const wanted_region> which) {
    dependent_task& task = running_task("this_task::release");
    if (task.is_replayed()) {
        return;  // it releases all when it is complete
    }
    for (std::size_t i = 0; i < which.size(); ++i) {
        if (!which[i].row.is_empty && find_access(task, which[i]) == nullptr) {
            throw std::invalid_argument(
                "quern: this_task::release: access " + std::to_string(i + 1) + " of " +
                std::to_string(which.size()) + ", " + std::to_string(which[i].row.bytes) +
                " bytes, is not an access of the task, or was released before; it must have the "
                "region and the kind of one that was given to spawn()");
        }
    }
    for (const wanted_region& each : which) {
        access_record* const found = find_access(task, each);
        if (!each.row.is_empty && found != nullptr) {
            task.give_up(*found);
        }
    }
}

}  // namespace detail

void taskwait() { detail::domain_of_running("taskwait").taskwait(); }

namespace this_task {

access_hold hold_accesses() {
    detail::running_task("this_task::hold_accesses");
    return hold();
}

}  // namespace this_task

}  // namespace quern
