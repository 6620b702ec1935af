// SPDX-License-Identifier: BSL-1.0
// replay: a loop whose steps spawn the same tasks again and again. One step is recorded; the tasks
// of later ones are armed again instead of being made and ordered anew.
#pragma once

#include <quern/dependences/detail/replay_run.hpp>
#include <quern/dependences/domain.hpp>

#include <cstdint>
#include <type_traits>

namespace quern {

namespace detail {

/// Throws std::invalid_argument.
void check_steps(std::int64_t steps);

template <class F>
void replay_in(domain_core& home, std::int64_t steps, F& body) {
    detail::check_steps(steps);
    {
        replay_run run(home);
        for (std::int64_t step = 0; step < steps && !home.is_stopped(); ++step) {
            run.begin_step();
            if constexpr (std::is_void_v<std::invoke_result_t<F&, std::int64_t>>) {
                body(step);
            } else if (!body(step)) {
                break;
            }
            run.end_step();
        }
    }
    home.taskwait();
}

}  // namespace detail

/// Calls body(step) for the steps 0 to steps - 1, here and one after the other, and then
/// work.taskwait(). The body spawns tasks in the domain; it may return void, or a bool: false ends
/// the loop. The result is that of the same calls in a plain loop. When a step spawns what the step
/// before it has spawned (as many tasks, each with a function of the same type and the same
/// accesses, those of an access_list included), no task is made and no access looked up: a task
/// with the new function takes the place of the recorded one. Several steps are in flight, ordered
/// only by the data. Every step that differs is noticed: then the tasks in flight are waited for,
/// the rest of the step runs as in a plain loop, and the loop is recorded anew.
///
/// Replayed tasks release all of their accesses when they are complete with their children:
/// this_task::release() does nothing in them. taskwait(on(...)) in the body waits for all tasks.
/// Steps with a future (async), weak, commutative or renamed accesses, reductions or
/// `.deferred = false`, and those of more than 65'536 tasks, run as in a plain loop. The creator
/// waits, without its worker, when a few steps are in flight; the tasks of that loop must not wait
/// for what the creator does next.
///
/// Errors: std::logic_error if the caller is not the owner of the domain, or replays in it already;
/// std::invalid_argument for a negative number of steps; those of taskwait(); what the body throws,
/// after its tasks have ended. After the exception of a task, or cancel(), no further step begins.
/// Cost of a replayed task: a comparison of its accesses, and an atomic subtraction for each
/// dependence. Memory: tasks of four steps, or of up to 64 if they are small.
///
/// Source: recorded graphs as in OmpSs-2's taskiter (Alvarez, Beltran, "Optimizing Iterative
/// Data-Flow Scientific Applications Using Directed Cyclic Graphs", IEEE Access 2023).
///
///     std::vector<double> a(1000, 1.0), b(1000, 0.0);
///     quern::domain work;
///     quern::replay(work, 100, [&](std::int64_t) {
///         for (std::size_t i = 0; i < 1000; i += 100) {
///             work.spawn(quern::in(&a[i], 100), quern::out(&b[i], 100), [](auto from, auto to) {
///                 for (std::size_t k = 0; k < 100; ++k) to[k] = from[k] / 2;
///             });
///             work.spawn(quern::in(&b[i], 100), quern::inout(&a[i], 100), [](auto from, auto to) {
///                 for (std::size_t k = 0; k < 100; ++k) to[k] += from[k];
///             });
///         }
///     });
template <class F>
void replay(domain& work, std::int64_t steps, F&& body) {
    detail::replay_in(detail::core_of(work, "replay"), steps, body);
}

}  // namespace quern
