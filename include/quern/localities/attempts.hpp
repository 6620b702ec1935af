// SPDX-License-Identifier: BSL-1.0
// Calls that are made again, or several times at once, where a function may fail or give a wrong
// result.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/localities/session.hpp>
#include <quern/task/async.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::localities {

/// No attempt of a retry() or replicate() gave a result that was accepted, though not all of them
/// threw.
class no_result : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

namespace detail {

/// Throws std::invalid_argument for no place or attempt, std::out_of_range for one that is no
/// locality.
void require_places(const std::vector<int>& places, int attempts, const char* function);

struct accept_any {
    template <class R>
    bool operator()(const R&) const noexcept {
        return true;
    }
};

template <class R, class Accept, class Call>
R first_accepted(int attempts, const std::vector<int>& places, Accept& accept, const Call& call) {
    for (int i = 0;; ++i) {
        const bool is_last = i + 1 == attempts;
        const int where = places[static_cast<std::size_t>(i) % places.size()];
        try {
            if constexpr (std::is_void_v<R>) {
                return call(where).get();
            } else {
                R value = call(where).get();
                if (std::invoke(accept, std::as_const(value))) {
                    return value;
                }
                if (is_last) {
                    throw no_result("quern: localities::retry: no result of " +
                                    std::to_string(attempts) + " attempts was accepted");
                }
            }
        } catch (...) {
            if (is_last) {
                throw;
            }
        }
    }
}

template <class R>
std::vector<R> all_that_come(std::vector<future<R>>& calls) {
    std::vector<R> values;
    values.reserve(calls.size());
    std::exception_ptr failed;
    for (future<R>& each : calls) {
        try {
            values.push_back(each.get());
        } catch (...) {
            failed = std::current_exception();
        }
    }
    if (values.empty()) {
        std::rethrow_exception(failed);
    }
    return values;
}

}  // namespace detail

/// Calls f(args...) at one of these localities after the other until it returns a result that
/// `accept(result)` finds right: at most `attempts` calls, in turn from the first place on. The
/// future gets that result, or the exception of the last attempt; no_result if that one returned a
/// value. A locality may stand in `places` several times. f and arguments as those of run_at();
/// arguments are copied for each attempt. `accept` is called where retry() was, and not for a void
/// function.
///
///     const auto is_finite = [](double x) { return std::isfinite(x); };
///     quern::future<double> root = quern::localities::retry_if(
///         3, quern::localities::all(), is_finite, [](double x) { return std::sqrt(x); }, 2.0);
///
/// Errors: std::invalid_argument for no places, or attempts below 1; std::out_of_range for a place
/// that is no locality; as run_at(). A locality whose process ends, ends the job: what is tried
/// again is what throws. Thread safety: as run_at(). Cost: a task, and that of the calls.
template <class Accept, class F, class... Args>
auto retry_if(int attempts, std::vector<int> places, Accept accept, F f, Args... args) {
    detail::require_action<F, Args...>();
    if constexpr (detail::k_is_action<F, Args...>) {
        detail::require_places(places, attempts, "retry");
        using result = detail::result_of<F, Args...>;
        return quern::async([attempts, places = std::move(places), accept = std::move(accept), f,
                             ... args = std::move(args)]() mutable -> result {
            return detail::first_accepted<result>(attempts, places, accept, [&](int where) {
                return localities::run_at(where, f, Args(args)...);
            });
        });
    } else {
        return future<void>();
    }
}

/// The same, of any result: tries again what has thrown.
///
///     quern::future<int> one = quern::localities::retry(
///         3, {0}, [](int x) { return x > 0 ? x : throw std::domain_error("negative"); }, 1);
template <class F, class... Args>
auto retry(int attempts, std::vector<int> places, F f, Args... args) {
    return localities::retry_if(attempts, std::move(places), detail::accept_any(), f,
                                std::move(args)...);
}

/// Calls f(args...) at all of these localities at once, and gives the future what
/// `choose(results)` makes of those that returned, in the order of `places`; if all have thrown,
/// the exception of the last one. For example a majority(), or the median.
///
///     quern::future<int> sure = quern::localities::replicate(
///         {0, 0, 0}, quern::localities::majority(), [] { return 42; });
///
/// Errors, thread safety: as retry_if(). Cost: a task, and that of the calls; waits for all.
template <class Choose, class F, class... Args>
auto replicate(std::vector<int> places, Choose choose, F f, Args... args) {
    detail::require_action<F, Args...>();
    if constexpr (detail::k_is_action<F, Args...>) {
        detail::require_places(places, 1, "replicate");
        using result = detail::result_of<F, Args...>;
        static_assert(!std::is_void_v<result>,
                      "quern: localities: replicate() chooses among results: the function must "
                      "return one");
        return quern::async([places = std::move(places), choose = std::move(choose), f,
                             ... args = std::move(args)]() mutable {
            std::vector<future<result>> calls;
            calls.reserve(places.size());
            for (const int where : places) {
                calls.push_back(localities::run_at(where, f, Args(args)...));
            }
            const std::vector<result> values = detail::all_that_come(calls);
            return std::decay_t<std::invoke_result_t<Choose&, const std::vector<result>&>>(
                std::invoke(choose, values));
        });
    } else {
        return future<void>();
    }
}

/// Chooses the result that more than half of all that returned have in common, by ==; throws
/// no_result if there is none.
struct majority {
    template <class R>
    R operator()(const std::vector<R>& results) const {
        for (const R& each : results) {
            const auto same = std::count(results.begin(), results.end(), each);
            if (2 * static_cast<std::size_t>(same) > results.size()) {
                return each;
            }
        }
        throw no_result("quern: localities::majority: of " + std::to_string(results.size()) +
                        " results no one is that of more than half");
    }
};

}  // namespace quern::localities
