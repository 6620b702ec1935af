// SPDX-License-Identifier: BSL-1.0
// Calls of functions at other localities.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/action.hpp>
#include <quern/localities/session.hpp>
#include <quern/task/async.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace quern::localities {

namespace detail {

/// As run_at(); `site`: in the code of its caller, for reports.
template <class F, class... Args>
auto run_from(const void* site, int where, F&& f, Args&&... args) {
    using function = std::decay_t<F>;
    detail::require_action<function, std::decay_t<Args>...>();
    if constexpr (detail::k_is_action<function, std::decay_t<Args>...>) {
        detail::job& of = detail::job_for("run_at");
        std::tuple<std::decay_t<Args>...> values(std::forward<Args>(args)...);
        if (detail::is_here(of, where, "run_at")) {
            return quern::async(
                task_attributes{.pool = &detail::pool_of_parcels(of).get(), .site = site},
                detail::local_call<function, std::decay_t<Args>...>{
                    f, std::move(values), detail::number_of_here(of), detail::counted_call(of)});
        }
        return detail::call_at<function>(of, where, f, std::move(values));
    } else {
        return future<void>();
    }
}

/// As post_to().
template <class F, class... Args>
void post_from(const void* site, int where, F&& f, Args&&... args) {
    using function = std::decay_t<F>;
    detail::require_action<function, std::decay_t<Args>...>();
    if constexpr (detail::k_is_action<function, std::decay_t<Args>...>) {
        detail::job& of = detail::job_for("post_to");
        std::tuple<std::decay_t<Args>...> values(std::forward<Args>(args)...);
        if (detail::is_here(of, where, "post_to")) {
            quern::post(task_attributes{.pool = &detail::pool_of_parcels(of).get(), .site = site},
                        [call = function(f), kept = std::move(values),
                         counted = detail::counted_call(of)]() mutable {
                            static_cast<void>(std::apply(call, std::move(kept)));
                        });
        } else {
            constexpr std::uint64_t k_no_answer = 0;
            detail::post_call_of<function>(of, where, k_no_answer, f, std::move(values));
        }
    }
}

}  // namespace detail

/// Calls f(args...) as a task at the locality `where`, and returns a future of its result, which
/// has then(), and goes into when_all and dataflow, as that of async(). `f` is a function or a
/// lambda without captures; it is neither registered nor declared anywhere, since all localities
/// run the same program. Arguments and result travel by value (archive.hpp says which types can):
/// each argument is copied or moved once from the caller, as in async(). The contents of a
/// std::vector or std::string of 16 KiB or more are not copied further: they go from the caller's
/// memory into the object that the function gets; so move large arguments.
///
///     double dot(const std::vector<double>& a, const std::vector<double>& b);
///     quern::future<double> sum = quern::localities::run_at(1, &dot, std::move(xs), ys);
///
/// A std::stop_token among the arguments, or in one, is stopped at the other locality when the
/// caller's source is asked to stop: at once if it was before, else as soon as the request arrives
/// while the function runs. It is linked until the function has ended; a copy that is kept longer
/// is not stopped later.
///
///     std::stop_source enough;
///     quern::future<int> found = quern::localities::run_at(
///         1,
///         [](std::stop_token stop) {
///             int tried = 0;
///             while (!stop.stop_requested()) { ++tried; }
///             return tried;
///         },
///         enough.get_token());
///     enough.request_stop();
///
/// Two calls to one locality may run in any order, and at the same time. A call at the caller's own
/// locality does not travel. A function that blocks its worker delays other calls that have come in
/// the same message; what it does so belongs into blocking_region.
///
/// Errors: std::out_of_range for a `where` that is no locality; std::logic_error without a session;
/// std::bad_alloc. What the function throws arrives as a remote_error, and so does what its
/// arguments throw when they are read there; what the result throws when it is read here arrives as
/// it is. Thread safety: any task or thread. While more than 2 MiB are
/// queued for that locality the caller waits; a task lets others run meanwhile. Cost: two
/// allocations and a copy of the arguments' bytes; a message of its own, unless four messages to
/// that locality are on their way: then it travels with others in the next one. A call with stop
/// tokens that can still be stopped needs a parcel and a few allocations more at both ends, and a
/// parcel for each that is stopped.
template <class F, class... Args>
QUERN_ALWAYS_INLINE auto run_at(int where, F&& f, Args&&... args) {
    return detail::run_from(quern::detail::code_address(), where, std::forward<F>(f),
                            std::forward<Args>(args)...);
}

/// The same without an answer: nothing tells the caller when the function has run, or that it has
/// thrown; an exception is treated, at the other locality, as one of a task of post(). Stop tokens
/// are linked as those of run_at(), and then the end is told to the library, which takes one parcel
/// more. Cost: no allocation for small arguments.
///
///     quern::localities::post_to(0, [](int n) { std::printf("%d\n", n); }, 7);
template <class F, class... Args>
QUERN_ALWAYS_INLINE void post_to(int where, F&& f, Args&&... args) {
    detail::post_from(quern::detail::code_address(), where, std::forward<F>(f),
                      std::forward<Args>(args)...);
}

}  // namespace quern::localities
