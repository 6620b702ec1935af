// SPDX-License-Identifier: BSL-1.0
// The parallel algorithms that handle each element separately: for_each, transform, copy, fill,
// generate, count, find and similar ones. Each takes an optional execution policy first. Iterators
// without random access are walked in order.
#pragma once

#include <quern/compat/hpx/policy.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

namespace hpx {

namespace detail {

/// Calls f(*first, *others...) for each of n steps; returns the final iterators.
template <class Policy, class F, class It, class... Its>
auto step_through(const Policy& how, F f, std::size_t n, It first, Its... others) {
    if constexpr (k_splits<Policy, It, Its...>) {
        for_indices<true>(
            how, n, [&](std::size_t i) { std::invoke(f, *moved(first, i), *moved(others, i)...); });
        return std::tuple(moved(first, n), moved(others, n)...);
    } else {
        for (std::size_t i = 0; i < n; ++i, ++first, (++others, ...)) {
            std::invoke(f, *first, *others...);
        }
        return std::tuple(first, others...);
    }
}

}  // namespace detail

template <detail::policy Policy, class It, class Size, class F>
auto for_each_n(Policy&& how, It first, Size n, F f) {
    return detail::run_under(how, [=] {
        return std::get<0>(detail::step_through(how, f, static_cast<std::size_t>(n), first));
    });
}
template <detail::policy Policy, class It, class F>
auto for_each(Policy&& how, It first, It last, F f) {
    return hpx::for_each_n(how, first, detail::count_between(first, last), std::move(f));
}
template <class It, class F>
    requires(!detail::policy<It>)
F for_each(It first, It last, F f) { return std::for_each(first, last, std::move(f)); }
template <class It, class Size, class F>
    requires(!detail::policy<It>)
It for_each_n(It first, Size n, F f) {
    return hpx::for_each_n(execution::seq, first, n, std::move(f));
}

template <detail::policy Policy, class It, class Out, class F>
auto transform(Policy&& how, It first, It last, Out out, F f) {
    return detail::run_under(how, [=] {
        return std::get<1>(detail::step_through(
            how, [&f](auto&& from, auto&& to) { to = std::invoke(f, from); },
            detail::count_between(first, last), first, out));
    });
}
template <detail::policy Policy, class It, class It2, class Out, class F>
auto transform(Policy&& how, It first, It last, It2 first2, Out out, F f) {
    return detail::run_under(how, [=] {
        return std::get<2>(detail::step_through(
            how, [&f](auto&& a, auto&& b, auto&& to) { to = std::invoke(f, a, b); },
            detail::count_between(first, last), first, first2, out));
    });
}
template <class It, class Out, class F>
    requires(!detail::policy<It>)
Out transform(It first, It last, Out out, F f) {
    return std::transform(first, last, out, std::move(f));
}
template <class It, class It2, class Out, class F>
    requires(!detail::policy<It>)
Out transform(It first, It last, It2 first2, Out out, F f) {
    return std::transform(first, last, first2, out, std::move(f));
}

template <detail::policy Policy, class It, class Size, class Out>
auto copy_n(Policy&& how, It first, Size n, Out out) {
    return detail::run_under(how, [=] {
        return std::get<1>(detail::step_through(
            how, [](auto&& from, auto&& to) { to = from; }, static_cast<std::size_t>(n), first,
            out));
    });
}
template <detail::policy Policy, class It, class Out>
auto copy(Policy&& how, It first, It last, Out out) {
    return hpx::copy_n(how, first, detail::count_between(first, last), out);
}
template <class It, class Out>
    requires(!detail::policy<It>)
Out copy(It first, It last, Out out) { return std::copy(first, last, out); }
template <detail::policy Policy, class It, class Out>
auto move(Policy&& how, It first, It last, Out out) {
    return detail::run_under(how, [=] {
        return std::get<1>(detail::step_through(
            how,
            [](auto&& from, auto&& to) {
                to = std::move(from);  // NOLINT(bugprone-move-forwarding-reference): intended
            },
            detail::count_between(first, last), first, out));
    });
}

template <detail::policy Policy, class It, class Size, class T>
auto fill_n(Policy&& how, It first, Size n, const T& value) {
    return hpx::for_each_n(how, first, n, [value](auto&& to) { to = value; });
}
template <detail::policy Policy, class It, class T>
auto fill(Policy&& how, It first, It last, const T& value) {
    return detail::run_under(how, [=] {
        detail::step_through(
            how, [&value](auto&& to) { to = value; }, detail::count_between(first, last), first);
    });
}
template <class It, class T>
    requires(!detail::policy<It>)
void fill(It first, It last, const T& value) { std::fill(first, last, value); }
template <class It, class Size, class T>
    requires(!detail::policy<It>)
It fill_n(It first, Size n, const T& value) { return std::fill_n(first, n, value); }

/// Several workers call the function at the same time, in no order.
template <detail::policy Policy, class It, class F>
auto generate(Policy&& how, It first, It last, F f) {
    return hpx::for_each(how, first, last, [f](auto&& to) mutable { to = f(); });
}
template <class It, class F>
    requires(!detail::policy<It>)
void generate(It first, It last, F f) { std::generate(first, last, std::move(f)); }

template <detail::policy Policy, class It, class Test>
auto count_if(Policy&& how, It first, It last, Test test) {
    using count = typename std::iterator_traits<It>::difference_type;
    return detail::run_under(how, [=]() -> count {
        if constexpr (detail::k_splits<Policy, It>) {
            return detail::reduce_indices<true>(
                how, detail::count_between(first, last), count(0),
                [&](std::size_t i) {
                    return static_cast<count>(std::invoke(test, *detail::moved(first, i)) ? 1 : 0);
                },
                std::plus<>());
        } else {
            return std::count_if(first, last, test);
        }
    });
}
template <detail::policy Policy, class It, class T>
auto count(Policy&& how, It first, It last, const T& value) {
    return hpx::count_if(how, first, last, [value](const auto& each) { return each == value; });
}
template <class It, class Test>
    requires(!detail::policy<It>)
auto count_if(It first, It last, Test test) { return std::count_if(first, last, std::move(test)); }
template <class It, class T>
    requires(!detail::policy<It>)
auto count(It first, It last, const T& value) { return std::count(first, last, value); }

template <detail::policy Policy, class It, class Test>
auto find_if(Policy&& how, It first, It last, Test test) {
    return detail::run_under(how, [=]() -> It {
        if constexpr (detail::k_splits<Policy, It>) {
            return detail::moved(
                first, detail::find_index<true>(
                           how, detail::count_between(first, last), [&](std::size_t i) -> bool {
                               return std::invoke(test, *detail::moved(first, i));
                           }));
        } else {
            return std::find_if(first, last, test);
        }
    });
}
template <detail::policy Policy, class It, class T>
auto find(Policy&& how, It first, It last, const T& value) {
    return hpx::find_if(how, first, last, [value](const auto& each) { return each == value; });
}

namespace detail {

/// Whether an element passes; negated for all_of and none_of.
template <class Policy, class It, class Test>
auto looks_for(const Policy& how, It first, It last, Test test, bool wanted, bool found_means) {
    return run_under(how, [=]() -> bool {
        const std::size_t n = count_between(first, last);
        const auto holds = [&](std::size_t i) {
            return static_cast<bool>(std::invoke(test, *moved(first, i))) == wanted;
        };
        const bool found = find_index<k_splits<Policy, It>>(how, n, holds) != n;
        return found == found_means;
    });
}

}  // namespace detail

template <detail::policy Policy, class It, class Test>
auto any_of(Policy&& how, It first, It last, Test test) {
    return detail::looks_for(how, first, last, std::move(test), true, true);
}
template <detail::policy Policy, class It, class Test>
auto all_of(Policy&& how, It first, It last, Test test) {
    return detail::looks_for(how, first, last, std::move(test), false, false);
}
template <detail::policy Policy, class It, class Test>
auto none_of(Policy&& how, It first, It last, Test test) {
    return detail::looks_for(how, first, last, std::move(test), true, false);
}
template <detail::policy Policy, class It, class It2>
auto equal(Policy&& how, It first, It last, It2 first2) {
    return detail::run_under(how, [=]() -> bool {
        const std::size_t n = detail::count_between(first, last);
        return detail::find_index<detail::k_splits<Policy, It, It2>>(how, n, [&](std::size_t i) {
                   return !(*detail::moved(first, i) == *detail::moved(first2, i));
               }) == n;
    });
}

template <detail::policy Policy, class It, class T>
auto replace(Policy&& how, It first, It last, const T& old_value, const T& new_value) {
    return hpx::for_each(how, first, last, [old_value, new_value](auto&& each) {
        if (each == old_value) {
            each = new_value;
        }
    });
}
template <detail::policy Policy, class It>
auto reverse(Policy&& how, It first, It last) {
    return detail::run_under(how, [=] {
        const std::size_t n = detail::count_between(first, last);
        if constexpr (detail::k_splits<Policy, It>) {
            detail::for_indices<true>(how, n / 2, [&](std::size_t i) {
                std::iter_swap(detail::moved(first, i), detail::moved(first, n - 1 - i));
            });
        } else {
            std::reverse(first, last);
        }
    });
}

}  // namespace hpx
