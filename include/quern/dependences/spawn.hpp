// SPDX-License-Identifier: BSL-1.0
// Children of a dependent task: tasks of the running task's own domain.
#pragma once

#include <quern/dependences/domain.hpp>

namespace quern {

namespace detail {

/// The domain of the children of the running dependent task. Throws std::logic_error, which names
/// the function, if none runs here.
domain_core& domain_of_running(const char* function);

}  // namespace detail

/// Adds a child to the running dependent task, as domain::spawn() does. Its accesses order it among
/// its siblings; towards other tasks the parent's accesses count, so they should contain it.
///
/// Errors: std::logic_error if the caller is not a dependent task (its own tasks by async or
/// task_group, its forked children and the iterations of its parallel loops are none): make a
/// quern::domain there. Otherwise as domain::spawn().
///
///     quern::domain work;
///     int left = 0, right = 0;
///     work.spawn(quern::inout(left), quern::inout(right), [](int& l, int& r) {
///         quern::spawn(quern::inout(l), [](int& v) { ++v; });
///         quern::spawn(quern::inout(r), [](int& v) { ++v; });  // beside the other
///     });
template <class First, class... Rest>
    requires(!std::is_same_v<std::remove_cvref_t<First>, task_attributes>)
QUERN_ALWAYS_INLINE void spawn(First&& first, Rest&&... rest) {
    const detail::creation_timing making;
    detail::spawn_in(detail::domain_of_running("spawn"),
                     detail::usual_attributes{detail::code_address()}, std::forward<First>(first),
                     std::forward<Rest>(rest)...);
}
template <class... Parts>
QUERN_ALWAYS_INLINE void spawn(const task_attributes& wanted, Parts&&... parts) {
    const detail::creation_timing making;
    detail::spawn_in(detail::domain_of_running("spawn"),
                     detail::dependent_at(detail::code_address(), wanted),
                     std::forward<Parts>(parts)...);
}

/// Returns when all children of the running dependent task are complete. Throws as
/// domain::taskwait() does; std::logic_error if the caller is not a dependent task.
void taskwait();

/// Returns when a child with these accesses could begin.
template <detail::an_access... Accesses>
void taskwait(const std::tuple<Accesses...>& wanted) {
    detail::taskwait_on(detail::domain_of_running("taskwait"), wanted);
}

}  // namespace quern
