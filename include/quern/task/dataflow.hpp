// SPDX-License-Identifier: BSL-1.0
// dataflow: a task that starts when the futures among its arguments are ready. As in HPX (Grubel
// 2016, section 2.3.3).
#pragma once

#include <quern/task/detail/join_frame.hpp>
#include <quern/task/unwrapping.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

/// Turns a function of several arguments into a function of one tuple.
template <class F>
class applied {
public:
    template <class G>
        requires(!std::is_same_v<std::remove_cvref_t<G>, applied>)
    explicit applied(G&& f) : m_function(std::forward<G>(f)) {}

    template <class Arguments>
    auto operator()(Arguments&& ready) {
        return std::apply(m_function, std::forward<Arguments>(ready));
    }

private:
    F m_function;
};

template <class F, class... Arguments>
auto start_dataflow(const task_attributes& how, F&& f, Arguments&&... arguments) {
    constexpr bool k_fits = std::is_invocable_v<std::decay_t<F>&, std::decay_t<Arguments>...>;
    constexpr bool k_wants_references =
        std::conjunction_v<std::bool_constant<!k_fits>,
                           std::is_invocable<std::decay_t<F>&, std::decay_t<Arguments>&...>>;
    static_assert(!k_wants_references,
                  "quern: dataflow: the function takes a reference, but the task keeps copies of "
                  "the arguments: take the future by value, or pass std::ref(x)");
    static_assert(k_fits || k_wants_references,
                  "quern: dataflow: the function must take the arguments as they were given, "
                  "futures as futures; quern::unwrapping(f) lets it take their values");
    if constexpr (k_fits) {
        return detail::join_futures<applied<std::decay_t<F>>>(
            how, std::tuple<std::decay_t<Arguments>...>(std::forward<Arguments>(arguments)...),
            std::forward<F>(f));
    } else {
        return future<void>();
    }
}

}  // namespace detail

/// Starts f(arguments...) as a task as soon as every future among the arguments is ready (also in
/// nested sequences and tuples). Returns the future of its result. f gets the futures themselves,
/// each ready; with unwrapping(f) it gets their values. No thread or task blocks meanwhile.
///
/// Arguments are copied or moved into the task. With std::ref, f gets the caller's object, whose
/// futures are waited for too. The object must live, unchanged, until f has been called.
///
/// Errors: the future holds what f throws. Without unwrapping, f handles exceptions of the
/// arguments.
/// Thread safety: any thread. The task goes to the calling worker's pool.
/// Cost: one allocation, and a second one if there are futures in a sequence.
///
///     auto sum = quern::dataflow(quern::unwrapping([](int a, int b) { return a + b; }),
///                                quern::async(f), quern::async(g));
template <class F, class... Arguments>
QUERN_ALWAYS_INLINE auto dataflow(const task_attributes& how, F&& f, Arguments&&... arguments) {
    const detail::creation_timing making;
    return detail::start_dataflow(detail::made_at(detail::code_address(), how), std::forward<F>(f),
                                  std::forward<Arguments>(arguments)...);
}

template <class F, class... Arguments>
QUERN_ALWAYS_INLINE auto dataflow(launch how, F&& f, Arguments&&... arguments) {
    return quern::dataflow(task_attributes{.how = how}, std::forward<F>(f),
                           std::forward<Arguments>(arguments)...);
}

template <class F, class... Arguments>
    requires(!std::is_same_v<std::remove_cvref_t<F>, launch> &&
             !std::is_same_v<std::remove_cvref_t<F>, task_attributes>)
QUERN_ALWAYS_INLINE auto dataflow(F&& f, Arguments&&... arguments) {
    const detail::creation_timing making;
    return detail::start_dataflow(detail::made_at(detail::code_address(), {}), std::forward<F>(f),
                                  std::forward<Arguments>(arguments)...);
}

}  // namespace quern
