// SPDX-License-Identifier: BSL-1.0
// The scans: every element becomes the combination of all elements up to it. How several workers
// share one: detail/ordered_blocks.hpp.
#pragma once

#include <quern/algorithms/detail/fold.hpp>
#include <quern/algorithms/detail/ordered_blocks.hpp>
#include <quern/algorithms/detail/standard_iterator.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

/// The values of a scan over map(element): elements, if the map hands on what * gives, also where
/// that is a proxy.
template <class It, class Map,
          class Value = std::remove_cvref_t<std::invoke_result_t<Map&, std::iter_reference_t<It>>>>
using scanned_value =
    std::conditional_t<std::is_same_v<Value, std::remove_cvref_t<std::iter_reference_t<It>>>,
                       std::iter_value_t<It>, Value>;

/// The work of a scan over map(element). The value is empty before the first element of an
/// inclusive scan without an initial value.
template <bool Inclusive, class T, class It, class Out, class Op, class Map>
class scan {
public:
    using value = std::optional<T>;
    struct note {};
    static constexpr std::size_t k_window = 65'536;  ///< per worker: 512 KiB of doubles
    static constexpr bool k_is_in_place = false;
    static constexpr bool k_combines_by_program = true;
    /// A survey of sums of numbers takes a third of the time of the scan.
    static constexpr std::size_t k_front_part = k_any_order<T, Op> ? 2 : 1;

    scan(It first, Out out, Op& op, Map& map) noexcept
        : m_first(first), m_out(out), m_op(op), m_map(map) {}

    void begin_window(std::size_t, std::size_t) const noexcept {}

    value survey(note&, std::size_t first, std::size_t last) {
        return detail::fold<T>(first, last, mapped_element<It, Map>{m_first, &m_map}, m_op);
    }

    void finish(note&, const value& before, std::size_t first, std::size_t last) {
        run(before, first, last);
    }

    value run(const value& before, std::size_t first, std::size_t last) {
        It i = detail::at(m_first, first);
        return run_serially(i, detail::at(m_first, last), detail::at(m_out, first), before);
    }

    value combine(const value& before, const value& own) {
        return before ? value(static_cast<T>(m_op(*before, *own))) : own;
    }

    /// The serial scan; `out` is moved behind its output. Requires: i != end.
    template <class From, class To>
    value run_serially(From i, const From end, To&& out, value before) {
        if constexpr (Inclusive) {
            T sum = before ? static_cast<T>(m_op(std::move(*before), std::invoke(m_map, *i)))
                           : static_cast<T>(std::invoke(m_map, *i));
            *out = sum;
            for (++i, ++out; i != end; ++i, ++out) {
                sum = static_cast<T>(m_op(std::move(sum), std::invoke(m_map, *i)));
                *out = sum;
            }
            return sum;
        } else {
            T sum = std::move(*before);
            for (; i != end; ++i, ++out) {
                // Read first: `out` may be `first`.
                T next = static_cast<T>(m_op(sum, std::invoke(m_map, *i)));
                *out = std::move(sum);
                sum = std::move(next);
            }
            return sum;
        }
    }

private:
    const It m_first;
    const Out m_out;
    Op& m_op;
    Map& m_map;
};

template <bool Inclusive, class T, class Policy, class It, class Out, class Op, class Map>
QUERN_ALWAYS_INLINE auto run_scan(const Policy& policy, It first, It last, Out out,
                                  std::optional<T> initial, Op op, Map map) {
    return detail::run_over<It, Out>(
        policy,
        [first, last, out, initial = std::move(initial), op = std::move(op),
         map = std::move(map)](auto how) mutable -> Out {
            if (first == last) {
                return out;
            }
            static_assert(!Inclusive || std::is_assignable_v<decltype(*out), T&>,
                          "quern: inclusive_scan: a sum is written and then used further, so its "
                          "type must have copies");
            scan<Inclusive, T, It, Out, Op, Map> work(first, out, op, map);
            // Several workers need copies of the sums, and read elements twice.
            if constexpr (how.k_is_parallel && std::copy_constructible<T> && !k_moves<It>) {
                const std::size_t n = detail::length(first, last);
                detail::run_in_order(how, n, work, std::move(initial),
                                     k_begin_fold<T, Op, mapped_element<It, Map>>);
                return detail::at(out, n);
            } else {
                work.run_serially(first, last, out, std::move(initial));
                return out;
            }
        });
}

}  // namespace detail

/// *(out + i) = *first op ... op *(first + i), where op is associative; it need not be commutative.
/// `out` may be `first`. Returns the end of the output. Policies, errors, thread safety: as
/// for_each.
/// Cost: one pass and n calls of op; where workers share the work, up to twice as many, and the
/// grouping differs between runs. 64 sums per worker are kept.
/// Sums must have copies. Over move iterators the call runs on the calling thread, in order.
///
///     quern::inclusive_scan(quern::par, x.begin(), x.end(), y.begin());
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class Op = std::plus<>>
QUERN_ALWAYS_INLINE auto inclusive_scan(Policy&& policy, It first, It last, Out out, Op op = {}) {
    using T = std::iter_value_t<It>;
    return detail::run_scan<true, T>(policy, first, last, out, std::optional<T>(), std::move(op),
                                     std::identity());
}
/// The same with `initial` combined in front of every output.
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class Op, class T>
QUERN_ALWAYS_INLINE auto inclusive_scan(Policy&& policy, It first, It last, Out out, Op op,
                                        T initial) {
    return detail::run_scan<true, T>(policy, first, last, out, std::optional<T>(std::move(initial)),
                                     std::move(op), std::identity());
}

/// *(out + i) = initial op *first op ... op *(first + i - 1). Otherwise as inclusive_scan; sums
/// without copies are computed on the calling thread.
///
///     quern::exclusive_scan(quern::par, x.begin(), x.end(), y.begin(), 0.0);
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class T, class Op = std::plus<>>
QUERN_ALWAYS_INLINE auto exclusive_scan(Policy&& policy, It first, It last, Out out, T initial,
                                        Op op = {}) {
    return detail::run_scan<false, T>(policy, first, last, out,
                                      std::optional<T>(std::move(initial)), std::move(op),
                                      std::identity());
}

/// inclusive_scan of the values map(element).
///
///     quern::transform_inclusive_scan(quern::par, x.begin(), x.end(), y.begin(), std::plus<>{},
///                                     [](double e) { return e * e; });
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class Op, class Map>
QUERN_ALWAYS_INLINE auto transform_inclusive_scan(Policy&& policy, It first, It last, Out out,
                                                  Op op, Map map) {
    using T = detail::scanned_value<It, Map>;
    return detail::run_scan<true, T>(policy, first, last, out, std::optional<T>(), std::move(op),
                                     std::move(map));
}
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class Op, class Map, class T>
QUERN_ALWAYS_INLINE auto transform_inclusive_scan(Policy&& policy, It first, It last, Out out,
                                                  Op op, Map map, T initial) {
    return detail::run_scan<true, T>(policy, first, last, out, std::optional<T>(std::move(initial)),
                                     std::move(op), std::move(map));
}

/// exclusive_scan of the values map(element).
///
///     quern::transform_exclusive_scan(quern::par, x.begin(), x.end(), y.begin(), 0.0,
///                                     std::plus<>{}, [](double e) { return e * e; });
template <execution_policy Policy, std::input_iterator It, std::input_or_output_iterator Out,
          class T, class Op, class Map>
QUERN_ALWAYS_INLINE auto transform_exclusive_scan(Policy&& policy, It first, It last, Out out,
                                                  T initial, Op op, Map map) {
    return detail::run_scan<false, T>(policy, first, last, out,
                                      std::optional<T>(std::move(initial)), std::move(op),
                                      std::move(map));
}

}  // namespace quern
