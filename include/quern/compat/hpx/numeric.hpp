// SPDX-License-Identifier: BSL-1.0
// The parallel algorithms that combine elements: reduce, transform_reduce, minimum and maximum,
// inclusive and exclusive scans. Operations must be associative.
#pragma once

#include <quern/compat/hpx/algorithm.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

namespace hpx {

template <detail::policy Policy, class It, class T, class Reduce, class Convert>
    requires std::invocable<Convert&, std::iter_reference_t<It>>
auto transform_reduce(Policy&& how, It first, It last, T initial, Reduce reduce, Convert convert) {
    return detail::run_under(how, [=]() -> T {
        if constexpr (detail::k_splits<Policy, It>) {
            return detail::reduce_indices<true>(
                how, detail::count_between(first, last), initial,
                [&](std::size_t i) -> T { return std::invoke(convert, *detail::moved(first, i)); },
                reduce);
        } else {
            return std::transform_reduce(first, last, initial, reduce, convert);
        }
    });
}
template <detail::policy Policy, class It, class It2, class T, class Reduce, class Convert>
    requires std::invocable<Convert&, std::iter_reference_t<It>, std::iter_reference_t<It2>>
auto transform_reduce(Policy&& how, It first, It last, It2 first2, T initial, Reduce reduce,
                      Convert convert) {
    return detail::run_under(how, [=]() -> T {
        if constexpr (detail::k_splits<Policy, It, It2>) {
            return detail::reduce_indices<true>(
                how, detail::count_between(first, last), initial,
                [&](std::size_t i) -> T {
                    return std::invoke(convert, *detail::moved(first, i),
                                       *detail::moved(first2, i));
                },
                reduce);
        } else {
            return std::inner_product(first, last, first2, initial, reduce, convert);
        }
    });
}
template <detail::policy Policy, class It, class It2, class T>
auto transform_reduce(Policy&& how, It first, It last, It2 first2, T initial) {
    return hpx::transform_reduce(how, first, last, first2, std::move(initial), std::plus<>(),
                                 std::multiplies<>());
}
template <class It, class T, class Reduce, class Convert>
    requires(!detail::policy<It>)
T transform_reduce(It first, It last, T initial, Reduce reduce, Convert convert) {
    return std::transform_reduce(first, last, std::move(initial), reduce, convert);
}

template <detail::policy Policy, class It, class T, class Reduce>
auto reduce(Policy&& how, It first, It last, T initial, Reduce reduce) {
    return hpx::transform_reduce(
        how, first, last, std::move(initial), std::move(reduce),
        [](const auto& each) -> const auto& { return each; });
}
template <detail::policy Policy, class It, class T>
auto reduce(Policy&& how, It first, It last, T initial) {
    return hpx::reduce(how, first, last, std::move(initial), std::plus<>());
}
template <detail::policy Policy, class It>
auto reduce(Policy&& how, It first, It last) {
    return hpx::reduce(how, first, last, typename std::iterator_traits<It>::value_type{});
}
template <class It, class T, class Reduce>
    requires(!detail::policy<It>)
T reduce(It first, It last, T initial, Reduce reduce) {
    return std::reduce(first, last, std::move(initial), reduce);
}
template <class It, class T>
    requires(!detail::policy<It>)
T reduce(It first, It last, T initial) { return std::reduce(first, last, std::move(initial)); }

namespace detail {

/// The first index that no other beats; n if there is none. `beats(a, b)`: element a is preferred
/// to b.
template <class Policy, class It, class Beats>
std::size_t best_index(const Policy& how, It first, std::size_t n, Beats beats) {
    return reduce_indices<k_splits<Policy, It>>(
        how, n, n, [](std::size_t i) { return i; },
        [&](std::size_t a, std::size_t b) {
            return a == n || (b != n && beats(*moved(first, b), *moved(first, a))) ? b : a;
        });
}

}  // namespace detail

template <detail::policy Policy, class It, class Less = std::less<>>
auto min_element(Policy&& how, It first, It last, Less less = {}) {
    return detail::run_under(how, [=] {
        return detail::moved(
            first, detail::best_index(how, first, detail::count_between(first, last), less));
    });
}
template <detail::policy Policy, class It, class Less = std::less<>>
auto max_element(Policy&& how, It first, It last, Less less = {}) {
    return detail::run_under(how, [=] {
        return detail::moved(
            first, detail::best_index(how, first, detail::count_between(first, last),
                                      [&](const auto& a, const auto& b) { return less(b, a); }));
    });
}

namespace detail {

/// Two passes over blocks: first their sums; then, in each block, the elements from the preceding
/// sum on. `write(out, before, element)` returns the sum before the next element.
template <class Policy, class It, class Out, class T, class Op, class Write>
Out scan(const Policy& how, It first, std::size_t n, Out out, T initial, Op op, Write write) {
    constexpr std::size_t k_block = 4096;  // guessed: a block outweighs its cost in the first pass
    const std::size_t blocks = (n + k_block - 1) / k_block;
    std::vector<T> before(blocks + 1, initial);
    const auto block_end = [n](std::size_t b) { return std::min(n, (b + 1) * k_block); };
    constexpr bool k_parallel = k_splits<Policy, It, Out>;
    for_indices<k_parallel>(how, blocks, [&](std::size_t b) {
        T sum = *moved(first, b * k_block);
        for (std::size_t i = b * k_block + 1; i < block_end(b); ++i) {
            sum = op(std::move(sum), *moved(first, i));
        }
        before[b + 1] = std::move(sum);
    });
    for (std::size_t b = 1; b <= blocks; ++b) {
        before[b] = op(before[b - 1], before[b]);
    }
    for_indices<k_parallel>(how, blocks, [&](std::size_t b) {
        T sum = before[b];
        for (std::size_t i = b * k_block; i < block_end(b); ++i) {
            sum = write(*moved(out, i), std::move(sum), *moved(first, i));
        }
    });
    return moved(out, n);
}

}  // namespace detail

template <detail::policy Policy, class It, class Out, class Op, class T>
auto inclusive_scan(Policy&& how, It first, It last, Out out, Op op, T initial) {
    return detail::run_under(how, [=] {
        return detail::scan(how, first, detail::count_between(first, last), out, initial, op,
                            [&](auto&& to, T before, const auto& each) -> T {
                                T sum = op(std::move(before), each);
                                to = sum;
                                return sum;
                            });
    });
}
template <detail::policy Policy, class It, class Out>
auto inclusive_scan(Policy&& how, It first, It last, Out out) {
    return hpx::inclusive_scan(how, first, last, out, std::plus<>(),
                               typename std::iterator_traits<It>::value_type{});
}
template <detail::policy Policy, class It, class Out, class T, class Op = std::plus<>>
auto exclusive_scan(Policy&& how, It first, It last, Out out, T initial, Op op = {}) {
    return detail::run_under(how, [=] {
        return detail::scan(how, first, detail::count_between(first, last), out, initial, op,
                            [&](auto&& to, T before, const auto& each) -> T {
                                T sum = op(before, each);  // computed first: `to` may be `each`
                                to = std::move(before);
                                return sum;
                            });
    });
}

}  // namespace hpx
