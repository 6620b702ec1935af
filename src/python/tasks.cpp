// SPDX-License-Identifier: BSL-1.0
// @quern.task: Python functions that say which arrays they read and write, ordered by the layer
// dependences.
#include "bindings.hpp"
#include "future.hpp"
#include "regions.hpp"

#include <quern/arrays/errors.hpp>
#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/scheduler/detail/spare_threads.hpp>
#include <quern/task/blocking_region.hpp>

#include <climits>
#include <utility>

namespace quern::python {

namespace {

/// What the tasks of one thread share. Members that are not atomic are used with the GIL held.
struct task_group_state {
    std::atomic<std::uint32_t> unfinished{0};
    bool has_failed = false;          ///< tasks that have not begun are dropped
    PyObject* first_error = nullptr;  ///< the future of the task that failed

    void remove() noexcept {
        if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            detail::std_atomics::futex_wake(unfinished, INT_MAX);
        }
    }
};

/// The group of the task that this thread runs; null outside.
thread_local std::shared_ptr<task_group_state>* t_group = nullptr;

class group_here {
public:
    explicit group_here(std::shared_ptr<task_group_state>& group) noexcept
        : m_outer(std::exchange(t_group, &group)) {}
    ~group_here() { t_group = m_outer; }
    group_here(const group_here&) = delete;
    group_here& operator=(const group_here&) = delete;

private:
    std::shared_ptr<task_group_state>* m_outer;
};

/// The function of a task of a domain. Owns a reference to the future's object.
class dependent_call {
public:
    dependent_call(PyObject* object, future& inside, std::shared_ptr<task_group_state> group)
        : m_object(object), m_future(&inside), m_group(std::move(group)) {}
    dependent_call(dependent_call&& other) noexcept
        : m_object(std::exchange(other.m_object, nullptr)),
          m_future(other.m_future),
          m_group(std::move(other.m_group)) {}
    dependent_call& operator=(dependent_call&&) = delete;
    ~dependent_call() { release(m_object); }

    void operator()() {
        if (has_waiting_frames()) {
            const blocking_region elsewhere;
            call();
        } else {
            call();
        }
        m_group->remove();
        unfinished_work::remove();
    }

private:
    void call() {
        const with_gil entered;
        const group_here running(m_group);
        if (m_group->has_failed) {
            m_future->cancel();
        } else if (m_future->claim()) {
            m_future->execute();
            if (m_future->has_failed() && !std::exchange(m_group->has_failed, true)) {
                m_group->first_error = std::exchange(m_object, nullptr);
            }
        }
        Py_CLEAR(m_object);
    }

    PyObject* m_object;
    future* m_future;
    std::shared_ptr<task_group_state> m_group;
};

/// The domain of a thread that is no worker.
struct domain_of_thread {
    explicit domain_of_thread(runtime& of)
        : work(of.default_pool()), generation(detail::fork_generation()) {}
    std::shared_ptr<task_group_state> group = std::make_shared<task_group_state>();
    domain work;
    unsigned generation;
    runtime* made_for = nullptr;
};

/// Left where it is when it belongs to a parent process or to a runtime that has ended.
struct kept_domain {
    domain_of_thread* of = nullptr;
    ~kept_domain() {
        if (of != nullptr && of->group->unfinished.load(std::memory_order_acquire) == 0 &&
            is_started() && of->generation == detail::fork_generation()) {
            delete of;
        }
    }
};
thread_local kept_domain t_domain;

domain_of_thread& domain_here() {
    runtime& now = runtime_here();
    if (t_domain.of == nullptr || t_domain.of->made_for != &now ||
        t_domain.of->generation != detail::fork_generation()) {
        t_domain.of = new domain_of_thread(now);
        t_domain.of->made_for = &now;
    }
    return *t_domain.of;
}

bool is_in_task() noexcept {
    return detail::current_worker() != nullptr || detail::spare_thread_context() != nullptr;
}

std::shared_ptr<task_group_state> group_of_caller() {
    if (!is_in_task()) {
        return domain_here().group;
    }
    if (t_group == nullptr) {
        throw std::logic_error(
            "quern.task: called in a function that quern.spawn, map or parallel_for runs; call it "
            "on a thread of your own or in another quern.task");
    }
    return *t_group;
}

/// Without the GIL: where there are very many tasks, it waits until some have ended.
void add_to_domain(const access_list& accesses, const void* site, dependent_call call) {
    const task_attributes wanted{.stack = stack_class::large, .site = site};
    const auto body = [made = std::make_shared<dependent_call>(std::move(call))] { (*made)(); };
    if (detail::current_worker() != nullptr) {
        const waiting_frames below;
        const without_gil away;
        const pin_to_worker here;
        spawn(wanted, accesses, body);
    } else if (detail::spare_thread_context() != nullptr) {
        const without_gil away;
        spawn(wanted, accesses, body);
    } else {
        domain& work = domain_here().work;
        const without_gil away;
        work.spawn(wanted, accesses, body);
    }
}

nb::object spawn_dependent(nb::handle function, nb::tuple arguments, nb::dict keywords,
                           nb::list reads, nb::list writes, nb::list updates) {
    access_list accesses;
    add_regions(accesses, reads, access_of_region::read);
    add_regions(accesses, writes, access_of_region::write);
    add_regions(accesses, updates, access_of_region::update);
    const auto group = group_of_caller();
    future* inside = nullptr;
    nb::object made = make_future(inside);
    inside->set_call(made.ptr(), nb::borrow(function).release().ptr(),
                     nb::borrow(arguments).release().ptr(), nb::borrow(keywords).release().ptr());
    inside->must_not_be_begun_by_waiter();
    unfinished_work::add();
    group->unfinished.fetch_add(1, std::memory_order_relaxed);
    add_to_domain(accesses, site_of(function.ptr()),
                  dependent_call(nb::borrow(made).release().ptr(), *inside, group));
    return made;
}

/// Waits for all tasks of the caller, and raises what the first that failed has raised.
void wait_for_tasks() {
    if (is_in_task()) {
        const waiting_frames below;
        const without_gil away;
        const pin_to_worker here;
        taskwait();
        return;
    }
    if (t_domain.of == nullptr || t_domain.of->generation != detail::fork_generation()) {
        return;
    }
    task_group_state& group = *t_domain.of->group;
    wait_in_slices([&group](std::chrono::nanoseconds time) {
        const std::uint32_t left = group.unfinished.load(std::memory_order_acquire);
        return left == 0 ||
               (detail::std_atomics::futex_wait_for(group.unfinished, left, time), false);
    });
    if (is_started() && t_domain.of->made_for == &runtime_here()) {
        const without_gil away;
        t_domain.of->work.taskwait();
    }
    group.has_failed = false;
    if (group.first_error != nullptr) {
        const nb::object failed = nb::steal(std::exchange(group.first_error, nullptr));
        nb::inst_ptr<future>(failed)->result();
    }
}

}  // namespace

void bind_tasks(nb::module_& m) {
    m.def("spawn_dependent", spawn_dependent, nb::arg("function"), nb::arg("arguments"),
          nb::arg("keywords"), nb::arg("reads"), nb::arg("writes"), nb::arg("updates"));
    m.def("taskwait", wait_for_tasks);
}

}  // namespace quern::python
