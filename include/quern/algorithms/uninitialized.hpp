// SPDX-License-Identifier: BSL-1.0
// Construction of elements in raw memory, and their destruction: uninitialized_copy, _move, _fill,
// _default_construct, _value_construct, destroy, and their forms for a number of elements.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern {

namespace detail {

/// The parts of a range that are constructed, to be destroyed if another part fails.
template <class It>
class constructed_parts {
public:
    void add(std::size_t first, std::size_t last) {
        const std::scoped_lock lock(m_mutex);
        for (auto& part : m_parts) {
            if (part.second == first) {
                part.second = last;
                return;
            }
        }
        m_parts.emplace_back(first, last);
    }

    void destroy_all(It start) noexcept {
        for (const auto& [first, last] : m_parts) {
            const auto from = detail::as_standard(start);
            std::destroy(detail::at(from, first), detail::at(from, last));
        }
    }

private:
    std::mutex m_mutex;  ///< held for some ns per chunk
    std::vector<std::pair<std::size_t, std::size_t>> m_parts;
};

/// Calls construct(i, end) for chunks of n elements from `first`. If one throws, which has
/// destroyed its own elements, those of the others are destroyed.
template <class How, class It, class Construct>
void construct_chunks(const How& how, It first, std::size_t n, std::size_t begin_with,
                      Construct&& construct) {
    if constexpr (std::is_trivially_destructible_v<std::iter_value_t<It>>) {
        detail::for_chunks(how, n, construct, begin_with);
    } else {
        constructed_parts<It> parts;
        try {
            detail::for_chunks(how, n, [&](std::size_t i, std::size_t end) {
                construct(i, end);
                parts.add(i, end);
            });
        } catch (...) {
            parts.destroy_all(first);
            throw;
        }
    }
}

/// construct(first, last, out) from a range into raw memory.
template <class Policy, class It, class Out, class Construct>
QUERN_ALWAYS_INLINE auto construct_from(const Policy& policy, It first, It last, Out out,
                                        Construct construct) {
    return detail::run_over<It, Out>(
        policy, [first, last, out, construct](auto how) mutable -> Out {
            if constexpr (how.k_is_parallel) {
                const std::size_t n = detail::length(first, last);
                detail::construct_chunks(how, out, n, k_begin_with_elements<It, Out>,
                                         [&](std::size_t i, std::size_t end) {
                                             construct(detail::as_standard(detail::at(first, i)),
                                                       detail::as_standard(detail::at(first, end)),
                                                       detail::as_standard(detail::at(out, i)));
                                         });
                return detail::at(out, n);
            } else {
                return detail::as_given(construct(detail::as_standard(first),
                                                  detail::as_standard(last),
                                                  detail::as_standard(out)));
            }
        });
}

/// The range of n elements from `first`, with iterators of any kind.
template <class It, class Size>
It end_of_n(It first, Size n) {
    std::ranges::advance(first, static_cast<std::iter_difference_t<It>>(detail::size_of(n)));
    return first;
}

/// construct(first, last) in raw memory.
template <class Policy, class It, class Construct>
QUERN_ALWAYS_INLINE auto construct_in(const Policy& policy, It first, It last,
                                      Construct construct) {
    return detail::run_over<It>(
        policy, [first, last, construct = std::move(construct)](auto how) mutable {
            if constexpr (how.k_is_parallel) {
                detail::construct_chunks(how, first, detail::length(first, last),
                                         k_begin_with_elements<It>,
                                         [&](std::size_t i, std::size_t end) {
                                             construct(detail::as_standard(detail::at(first, i)),
                                                       detail::as_standard(detail::at(first, end)));
                                         });
            } else {
                construct(detail::as_standard(first), detail::as_standard(last));
            }
        });
}

/// The same for n elements; returns the iterator behind them.
template <class Policy, class It, class Size, class Construct>
QUERN_ALWAYS_INLINE auto construct_n(const Policy& policy, It first, Size n, Construct construct) {
    return detail::run_over<It>(
        policy, [first, n, construct = std::move(construct)](auto how) mutable -> It {
            const It last = detail::end_of_n(first, n);
            detail::construct_in(how.policy, first, last, std::move(construct));
            return last;
        });
}

}  // namespace detail

/// Constructs copies of the elements in the raw memory at `out`; returns the end of the copies. The
/// nine functions of this file that construct destroy again what they have constructed when a
/// constructor throws. Policies, errors, thread safety, cost: as for_each.
///
///     quern::uninitialized_copy(quern::par, x.begin(), x.end(), y.begin());
template <execution_policy Policy, std::input_iterator It, std::forward_iterator Out>
QUERN_ALWAYS_INLINE auto uninitialized_copy(Policy&& policy, It first, It last, Out out) {
    return detail::construct_from(policy, first, last, out, [](auto i, auto end, auto o) {
        return std::uninitialized_copy(i, end, o);
    });
}
template <execution_policy Policy, std::input_iterator It, std::integral Size,
          std::forward_iterator Out>
QUERN_ALWAYS_INLINE auto uninitialized_copy_n(Policy&& policy, It first, Size n, Out out) {
    return quern::uninitialized_copy(policy, first, detail::end_of_n(first, n), out);
}

/// The same, moving the elements. The n-form returns both ends.
template <execution_policy Policy, std::input_iterator It, std::forward_iterator Out>
QUERN_ALWAYS_INLINE auto uninitialized_move(Policy&& policy, It first, It last, Out out) {
    return detail::construct_from(policy, first, last, out, [](auto i, auto end, auto o) {
        return std::uninitialized_move(i, end, o);
    });
}
template <execution_policy Policy, std::input_iterator It, std::integral Size,
          std::forward_iterator Out>
QUERN_ALWAYS_INLINE auto uninitialized_move_n(Policy&& policy, It first, Size n, Out out) {
    return detail::run_over<It, Out>(policy, [first, n, out](auto how) -> std::pair<It, Out> {
        const It last = detail::end_of_n(first, n);
        return {last, quern::uninitialized_move(how.policy, first, last, out)};
    });
}

/// Constructs copies of `value` in raw memory.
///
///     quern::uninitialized_fill(quern::par, x.begin(), x.end(), 0.0);
template <execution_policy Policy, std::forward_iterator It, class T>
QUERN_ALWAYS_INLINE auto uninitialized_fill(Policy&& policy, It first, It last, const T& value) {
    return detail::construct_in(policy, first, last,
                                [value = detail::keep_value(policy, value)](auto i, auto end) {
                                    std::uninitialized_fill(i, end, value());
                                });
}
template <execution_policy Policy, std::forward_iterator It, std::integral Size, class T>
QUERN_ALWAYS_INLINE auto uninitialized_fill_n(Policy&& policy, It first, Size n, const T& value) {
    return detail::construct_n(policy, first, n,
                               [value = detail::keep_value(policy, value)](auto i, auto end) {
                                   std::uninitialized_fill(i, end, value());
                               });
}

/// Constructs elements as `T x;` does.
template <execution_policy Policy, std::forward_iterator It>
QUERN_ALWAYS_INLINE auto uninitialized_default_construct(Policy&& policy, It first, It last) {
    return detail::construct_in(policy, first, last, [](auto i, auto end) {
        std::uninitialized_default_construct(i, end);
    });
}
template <execution_policy Policy, std::forward_iterator It, std::integral Size>
QUERN_ALWAYS_INLINE auto uninitialized_default_construct_n(Policy&& policy, It first, Size n) {
    return detail::construct_n(
        policy, first, n, [](auto i, auto end) { std::uninitialized_default_construct(i, end); });
}

/// Constructs elements as `T x{};` does.
template <execution_policy Policy, std::forward_iterator It>
QUERN_ALWAYS_INLINE auto uninitialized_value_construct(Policy&& policy, It first, It last) {
    return detail::construct_in(
        policy, first, last, [](auto i, auto end) { std::uninitialized_value_construct(i, end); });
}
template <execution_policy Policy, std::forward_iterator It, std::integral Size>
QUERN_ALWAYS_INLINE auto uninitialized_value_construct_n(Policy&& policy, It first, Size n) {
    return detail::construct_n(
        policy, first, n, [](auto i, auto end) { std::uninitialized_value_construct(i, end); });
}

/// Destroys the elements. Nothing to do for types without a destructor of their own.
template <execution_policy Policy, std::forward_iterator It>
QUERN_ALWAYS_INLINE auto destroy(Policy&& policy, It first, It last) {
    return detail::on_elements(policy, first, last, 1,
                               [](auto i, auto end) { std::destroy(i, end); });
}
template <execution_policy Policy, std::forward_iterator It, std::integral Size>
QUERN_ALWAYS_INLINE auto destroy_n(Policy&& policy, It first, Size n) {
    return detail::on_n_elements(
        policy, first, n, 1, nullptr, [](auto&, auto i, auto end) { std::destroy(i, end); },
        [](auto&, It& i) { std::destroy_at(std::addressof(*i)); });
}

}  // namespace quern
