// SPDX-License-Identifier: BSL-1.0
// domain: tasks that say what they read and write, and begin when their data are ready. The order
// of creation is the order that counts: the result is that of the serial program.
#pragma once

#include <quern/dependences/access.hpp>
#include <quern/dependences/detail/attach.hpp>
#include <quern/dependences/detail/spawn.hpp>

#include <type_traits>
#include <utility>

namespace quern {

class domain;

namespace detail {

/// For functions that add tasks to it. Throws std::logic_error, which names the function, if the
/// caller is not its owner.
domain_core& core_of(domain& of, const char* function);

}  // namespace detail

/// A sequence of tasks with accesses. A task begins when all earlier tasks of the domain whose
/// accesses conflict with its own have released them. Two accesses conflict when their regions
/// share a byte, unless both are of one kind that runs together: `in`, `concurrent`,
/// `commutative`, or `reduction` by one operator. So a program that declares all its
/// accesses computes what it would compute if each spawn() called its function at once.
///
/// Owner: the task or thread that made the domain; only it may spawn and wait. A forked child of it
/// (of fork_join the first function, of a scope each child) and an iteration of a parallel loop are
/// not the owner, stolen or not: to find that, the owner forks on a slower path, about 0.1 us for
/// each branch. The destructor waits; from another task or thread it aborts. In a coroutine, no
/// co_await may occur between creation and end of a domain.
///
/// Children: within a dependent task, quern::spawn() adds tasks to a domain of that task's own. A
/// task is complete when its function and its children have ended. When its function has returned,
/// the accesses that no child uses are released at once, the others when those children end.
///
/// Errors: taskwait() throws the first exception of a task. Tasks that have not begun by then are
/// dropped, running ones are asked to stop (this_task::stop_requested()). Later exceptions, and one
/// that no taskwait() has thrown when the domain is destroyed, go to the handler (exceptions.hpp).
/// An exception of a child goes to its parent's quern::taskwait(), or, once the parent's function
/// has returned, to the parent's domain.
///
/// Limit: at `live-tasks` tasks of a domain that have not ended (a setting and a knob), spawn() is
/// a scheduling point: it lets other tasks run until half of them are left. When nothing runs any
/// more, the limit gives way. Far below it, from 256 tasks for each worker on, spawn() is one too
/// while the tasks are tiny, so that their records stay in the cache. With the setting
/// `check-accesses` it returns when the task is complete, and accesses that tasks do not declare
/// are reported.
///
/// Locality: a ready task whose accesses have at least `locality-bytes` bytes (a setting and a
/// knob; 0: no task) goes to the worker that last wrote most of them, if that is free or will be
/// soon. What a busy worker has no time for goes to its NUMA node. A worker without other work runs
/// such a task itself, and workers without work take those of busy ones. A hint of the user counts
/// instead.
///
/// Source: data-flow order by a map of last accesses as in SMPSs (Perez, Badia, Labarta, CLUSTER
/// 2008) and OmpSs; overlaps by fragments as in OmpSs-2's regions. Protocol:
/// src/dependences/README.md.
///
///     quern::domain work;
///     int value = 0;
///     work.spawn(quern::out(value), [](int& v) { v = 6; });
///     work.spawn({.name = "square", .rank = 1}, quern::inout(value), [](int& v) { v *= v; });
///     work.taskwait();  // value == 36
class domain {
public:
    /// Its tasks run in the caller's pool, outside of tasks in the default runtime's.
    domain() : domain(current_pool()) {}
    explicit domain(pool_ref where) : m_core(where.get()) {}
    ~domain();
    domain(const domain&) = delete;
    domain& operator=(const domain&) = delete;

    /// Adds a task: attributes, if any, then accesses, then the function. The function gets a
    /// reference or span for each access, in their order, or nothing; a sentinel gives no view. It
    /// is copied or moved into the task; the data are not.
    ///
    /// Errors: std::logic_error if the caller is not the owner; std::invalid_argument for a launch
    /// policy other than async, another pool, or a stop token in the attributes; std::bad_alloc;
    /// what copying the function throws. Then no task was added, and renamed objects are as before.
    /// Cost: one allocation; for each access one lookup in a hash if the same region was accessed
    /// before and no overlapping one, else a split of the fragments of the map.
    template <class First, class... Rest>
        requires(!std::is_same_v<std::remove_cvref_t<First>, task_attributes>)
    QUERN_ALWAYS_INLINE void spawn(First&& first, Rest&&... rest) {
        m_core.require_owner("spawn");
        const detail::creation_timing making;
        detail::spawn_in(m_core, detail::usual_attributes{detail::code_address()},
                         std::forward<First>(first), std::forward<Rest>(rest)...);
    }
    template <class... Parts>
    QUERN_ALWAYS_INLINE void spawn(const task_attributes& wanted, Parts&&... parts) {
        m_core.require_owner("spawn");
        const detail::creation_timing making;
        detail::spawn_in(m_core, detail::dependent_at(detail::code_address(), wanted),
                         std::forward<Parts>(parts)...);
    }

    /// The same; returns the future of the function's result. It is ready when the task is
    /// complete. It holds the exception of the function or of a child, which the domain's
    /// taskwait() throws too, or task_cancelled if the task was dropped.
    template <class First, class... Rest>
        requires(!std::is_same_v<std::remove_cvref_t<First>, task_attributes>)
    QUERN_ALWAYS_INLINE auto async(First&& first, Rest&&... rest) {
        m_core.require_owner("async");
        const detail::creation_timing making;
        return detail::async_in(m_core, detail::usual_attributes{detail::code_address()},
                                std::forward<First>(first), std::forward<Rest>(rest)...);
    }
    template <class... Parts>
    QUERN_ALWAYS_INLINE auto async(const task_attributes& wanted, Parts&&... parts) {
        m_core.require_owner("async");
        const detail::creation_timing making;
        return detail::async_in(m_core, detail::dependent_at(detail::code_address(), wanted),
                                std::forward<Parts>(parts)...);
    }

    /// Returns when all tasks are complete. Throws the first exception of one, or task_cancelled
    /// after cancel(); the domain can be used again. std::logic_error if the caller is not the
    /// owner.
    void taskwait();

    /// Returns when a task with these accesses could begin, and the data may be used here until the
    /// next spawn(). A bare object means inout. If the domain is stopped then, waits for all and
    /// throws as taskwait() does.
    ///
    ///     quern::domain work;
    ///     int value = 0;
    ///     work.spawn(quern::out(value), [](int& v) { v = 6; });
    ///     work.taskwait(quern::on(quern::in(value)));  // value == 6
    template <detail::an_access... Accesses>
    void taskwait(const std::tuple<Accesses...>& wanted) {
        m_core.require_owner("taskwait");
        detail::taskwait_on(m_core, wanted);
    }

    /// Drops tasks that have not begun, until the next taskwait(). Running tasks continue unless
    /// they ask. Any thread.
    void cancel() noexcept { m_core.cancel(); }
    bool is_cancelled() const noexcept { return m_core.is_stopped(); }

private:
    friend detail::domain_core& detail::core_of(domain& of, const char* function);

    detail::domain_core m_core;
};

}  // namespace quern
