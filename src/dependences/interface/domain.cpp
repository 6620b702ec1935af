// SPDX-License-Identifier: BSL-1.0
// The functions of a program that need no type: the end of a domain, taskwait, children.
#include <quern/dependences/domain.hpp>

#include <quern/base/detail/assert.hpp>
#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

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
    for (access_record& each : task.accesses()) {
        if (!each.given_up.is_set() && is_same_place(each, wanted.get())) {
            return &each;
        }
    }
    return nullptr;
}
/// The same, of which it is a part.
access_record* find_whole(dependent_task& task, const wanted_region& part) {
    for (access_record& each : task.accesses()) {
        if (task.may_give_up_part(each, part.get())) {
            return &each;
        }
    }
    return nullptr;
}
bool has_access(dependent_task& task, const wanted_region& wanted) {
    return find_access(task, wanted) != nullptr || find_whole(task, wanted) != nullptr;
}
bool has_access(const child_in_place& child, const wanted_region& wanted) {
    return child.has(wanted.get());
}

/// Throws std::invalid_argument, unless all are accesses of the task, or of the child.
template <class Owner>
void require_accesses(Owner& of, std::span<const wanted_region> which) {
    for (std::size_t i = 0; i < which.size(); ++i) {
        if (!which[i].row.is_empty && !has_access(of, which[i])) {
            throw std::invalid_argument(
                "quern: this_task::release: access " + std::to_string(i + 1) + " of " +
                std::to_string(which.size()) + ", " + std::to_string(which[i].row.bytes) +
                " bytes, is not an access of the task, or was released before; it must have the "
                "kind of one that was given to spawn(), and its region, or a part of that if it is "
                "neither weak nor commutative nor a reduction");
        }
    }
}

/// Its siblings come after it in any case, and the accesses of the final task are not its own.
void release_in_place(child_in_place& child, std::span<const wanted_region> which) {
    require_accesses(child, which);
    child.released.insert(child.released.end(), which.begin(), which.end());
}

}  // namespace

bool child_in_place::has(const strided_region& wanted) const {
    const bool was_given = std::any_of(where.begin(), where.end(),
                                       [&wanted](const strided_region& each) {
                                           return is_place_or_part(each, wanted);
                                       }) ||
                           (is_in_list != nullptr && is_in_list(lists, wanted));
    return was_given &&
           std::none_of(released.begin(), released.end(), [&wanted](const wanted_region& each) {
               return is_same_place(each.get(), wanted);
           });
}

running_in_place::running_in_place(domain_core& home, child_in_place& child)
    : m_now(home.parent_to_run_in().rare().in_place) {
    child.outer = std::exchange(m_now, &child);
}

domain_core& domain_of_running(const char* function) { return running_task(function).own_domain(); }

/// All domains are domain_core: the base is only how a task knows its own.
domain_core& domain_of_running_task(const char* function) {
    return static_cast<domain_core&>(running_task(function).home());
}

void release_accesses(std::span<const wanted_region> which) {
    dependent_task& task = running_task("this_task::release");
    if (task.is_replayed()) {
        return;  // it releases all when it is complete
    }
    if (child_in_place* const child = task.in_place()) {
        release_in_place(*child, which);
        return;
    }
    require_accesses(task, which);
    for (const wanted_region& each : which) {
        if (each.row.is_empty) {
            continue;
        }
        if (access_record* const found = find_access(task, each)) {
            task.give_up(*found);
        } else if (access_record* const whole = find_whole(task, each)) {
            task.give_up_part(*whole, each);
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
