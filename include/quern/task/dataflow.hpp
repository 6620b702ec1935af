// SPDX-License-Identifier: BSL-1.0
// dataflow: a task that starts when the futures among its arguments are ready. As in HPX (Grubel
// 2016, section 2.3.3).
#pragma once

#include <quern/task/join_frame.hpp>
#include <quern/task/unwrapping.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace quern {

/// Starts f(arguments...) as a task as soon as every future among the arguments (and in sequences
/// and tuples among them, nested too) is ready, and returns the future of its result. f gets the
/// futures themselves, each ready; with unwrapping(f) their values. Nothing waits meanwhile.
///
/// Errors: what f throws comes out of the future; without unwrapping, exceptions of the arguments
/// are f's to see.
/// Thread safety: any thread. The task goes to the calling worker's pool.
/// Cost: one allocation, and a second one when there are futures in a sequence.
///
///     auto sum = quern::dataflow(quern::unwrapping([](int a, int b) { return a + b; }),
///                                quern::async(f), quern::async(g));
template <class F, class... Arguments>
    requires(!std::is_same_v<std::remove_cvref_t<F>, launch> &&
             !std::is_same_v<std::remove_cvref_t<F>, task_attributes>)
QUERN_ALWAYS_INLINE auto dataflow(F&& f, Arguments&&... arguments) {
    return dataflow(task_attributes{}, std::forward<F>(f), std::forward<Arguments>(arguments)...);
}

template <class F, class... Arguments>
QUERN_ALWAYS_INLINE auto dataflow(launch how, F&& f, Arguments&&... arguments) {
    return dataflow(task_attributes{.how = how}, std::forward<F>(f),
                    std::forward<Arguments>(arguments)...);
}

template <class F, class... Arguments>
QUERN_ALWAYS_INLINE auto dataflow(const task_attributes& how, F&& f, Arguments&&... arguments) {
    return detail::join_futures(
        detail::made_at(detail::code_address(), how),
        std::tuple<std::decay_t<Arguments>...>(std::forward<Arguments>(arguments)...),
        [f = std::decay_t<F>(std::forward<F>(f))](auto&& ready) mutable {
            return std::apply(f, std::forward<decltype(ready)>(ready));
        });
}

}  // namespace quern
