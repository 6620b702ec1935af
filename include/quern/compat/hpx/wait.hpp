// SPDX-License-Identifier: BSL-1.0
// wait_all, wait_any, wait_some and wait_each. The futures stay in place. The plain forms throw the
// exception of a ready future; those with _nothrow return whether there is one.
#pragma once

#include <quern/compat/hpx/when.hpp>
#include <quern/task/wait.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpx {

namespace detail {

/// Futures as a range for quern::wait_*: other objects than the given ones, with the same states.
template <class F>
using watched = decltype(quern::detail::watch(std::declval<const F&>()));

template <class Visit, class... Futures>
    requires futures<Futures...>
void visit_all(Visit&& visit, const Futures&... all) { (visit(all), ...); }
template <class Visit, future_sequence Container>
void visit_all(Visit&& visit, const Container& all) {
    for (const auto& each : all) {
        visit(each);
    }
}

/// Iterators as a container.
template <class It>
struct range {
    using value_type = typename std::iterator_traits<It>::value_type;
    It first, last;
    It begin() const { return first; }
    It end() const { return last; }
};
template <class It>
range<It> range_of(It first, It last) {
    return {first, last};
}
template <class It>
range<It> range_of_n(It first, std::size_t count) {
    return {first, std::next(first, static_cast<std::ptrdiff_t>(count))};
}

template <class... All>
bool has_failed(const All&... all) {
    bool failed = false;
    visit_all([&failed](const auto& f) { failed = failed || f.has_exception(); }, all...);
    return failed;
}

template <class... All>
void throw_first(const All&... all) {
    visit_all(
        [](const auto& f) {
            if (f.has_exception()) {
                std::rethrow_exception(f.get_exception_ptr());
            }
        },
        all...);
}

/// Skips invalid futures.
template <class... All>
bool wait_for_all(const All&... all) {
    visit_all(
        [](const auto& f) {
            if (f.valid()) {
                f.wait();
            }
        },
        all...);
    return has_failed(all...);
}

template <class... Futures>
    requires futures<Futures...>
bool wait_for_some(std::size_t wanted, const Futures&... all) {
    (void)some_of(wanted, std::tuple(quern::detail::watch(all)...)).get();
    return has_failed(all...);
}
template <future_sequence Container>
bool wait_for_some(std::size_t wanted, const Container& all) {
    std::vector<watched<typename Container::value_type>> others;
    for (const auto& each : all) {
        others.push_back(quern::detail::watch(each));
    }
    (void)some_of(wanted, std::move(others)).get();
    return has_failed(all);
}

template <class... All>
std::size_t count_of(const All&... all) {
    std::size_t count = 0;
    visit_all([&count](const auto&) { ++count; }, all...);
    return count;
}

template <class... All>
concept waitable = futures<All...> ||(sizeof...(All) == 1 && (future_sequence<All> && ...));

}  // namespace detail

template <class... All>
    requires detail::waitable<All...>
bool wait_all_nothrow(const All&... all) { return detail::wait_for_all(all...); }
template <std::input_iterator It>
bool wait_all_nothrow(It first, It last) {
    return detail::wait_for_all(detail::range_of(first, last));
}
template <std::input_iterator It>
bool wait_all_n_nothrow(It first, std::size_t count) {
    return detail::wait_for_all(detail::range_of_n(first, count));
}
template <class... All>
    requires detail::waitable<All...>
void wait_all(const All&... all) {
    if (detail::wait_for_all(all...)) {
        detail::throw_first(all...);
    }
}
template <std::input_iterator It>
void wait_all(It first, It last) {
    hpx::wait_all(detail::range_of(first, last));
}
template <std::input_iterator It>
void wait_all_n(It first, std::size_t count) {
    hpx::wait_all(detail::range_of_n(first, count));
}

/// Whether all were ready in time.
template <class Clock, class Duration, class... All>
    requires detail::waitable<All...>
bool wait_all_until(const std::chrono::time_point<Clock, Duration>& when, const All&... all) {
    bool ready = true;
    detail::visit_all(
        [&](const auto& f) {
            ready = ready && (!f.valid() || f.wait_until(when) == future_status::ready);
        },
        all...);
    return ready;
}
template <class Rep, class Period, class... All>
    requires detail::waitable<All...>
bool wait_all_for(const std::chrono::duration<Rep, Period>& time, const All&... all) {
    return hpx::wait_all_until(std::chrono::steady_clock::now() + time, all...);
}

template <class... All>
    requires detail::waitable<All...>
bool wait_some_nothrow(std::size_t wanted, const All&... all) {
    return detail::wait_for_some(wanted, all...);
}
template <std::input_iterator It>
bool wait_some_nothrow(std::size_t wanted, It first, It last) {
    return detail::wait_for_some(wanted, detail::range_of(first, last));
}
template <std::input_iterator It>
bool wait_some_n_nothrow(std::size_t wanted, It first, std::size_t count) {
    return detail::wait_for_some(wanted, detail::range_of_n(first, count));
}
template <class... All>
    requires detail::waitable<All...>
void wait_some(std::size_t wanted, const All&... all) {
    if (detail::wait_for_some(wanted, all...)) {
        detail::throw_first(all...);
    }
}
template <std::input_iterator It>
void wait_some(std::size_t wanted, It first, It last) {
    hpx::wait_some(wanted, detail::range_of(first, last));
}
template <std::input_iterator It>
void wait_some_n(std::size_t wanted, It first, std::size_t count) {
    hpx::wait_some(wanted, detail::range_of_n(first, count));
}

/// Without futures it returns at once.
template <class... All>
    requires detail::waitable<All...>
bool wait_any_nothrow(const All&... all) {
    return detail::wait_for_some(detail::count_of(all...) == 0 ? 0 : 1, all...);
}
template <std::input_iterator It>
bool wait_any_nothrow(It first, It last) {
    return hpx::wait_any_nothrow(detail::range_of(first, last));
}
template <std::input_iterator It>
bool wait_any_n_nothrow(It first, std::size_t count) {
    return hpx::wait_any_nothrow(detail::range_of_n(first, count));
}
template <class... All>
    requires detail::waitable<All...>
void wait_any(const All&... all) {
    if (hpx::wait_any_nothrow(all...)) {
        detail::throw_first(all...);
    }
}
template <std::input_iterator It>
void wait_any(It first, It last) {
    hpx::wait_any(detail::range_of(first, last));
}
template <std::input_iterator It>
void wait_any_n(It first, std::size_t count) {
    hpx::wait_any(detail::range_of_n(first, count));
}

/// Calls f with each future as it becomes ready, as when_each, and waits for the last call.
template <class F, class... All>
    requires detail::futures<All...>
void wait_each(F&& f, All&&... all) {
    when_each(std::forward<F>(f), std::forward<All>(all)...).get();
}
template <class F, detail::future_sequence Container>
void wait_each(F&& f, Container&& all) {
    when_each(std::forward<F>(f), all).get();
}
template <class F, std::input_iterator It>
void wait_each(F&& f, It first, It last) {
    when_each(std::forward<F>(f), first, last).get();
}
template <class F, std::input_iterator It>
void wait_each_n(F&& f, It first, std::size_t count) {
    when_each_n(std::forward<F>(f), first, count).get();
}
template <class F, class... All>
void wait_each_nothrow(F&& f, All&&... all) {
    hpx::wait_each(std::forward<F>(f), std::forward<All>(all)...);
}

namespace lcos {
using hpx::wait_all;
using hpx::wait_any;
using hpx::wait_each;
using hpx::wait_some;
}  // namespace lcos

}  // namespace hpx
