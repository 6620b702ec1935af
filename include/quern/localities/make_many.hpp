// SPDX-License-Identifier: BSL-1.0
// Many global objects at once, spread over the localities.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/object.hpp>
#include <quern/localities/run_at.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::localities {

/// Which of a number of objects are at which locality.
class distribution {
public:
    /// One range for each, in their order; as equal as possible.
    static distribution block() { return {}; }
    /// Object i at locality i modulo their number.
    static distribution cyclic() {
        distribution made;
        made.m_is_cyclic = true;
        return made;
    }
    /// A range for each, a share by weights[k] for locality k.
    static distribution weighted(std::vector<double> weights) {
        distribution made;
        made.m_weights = std::move(weights);
        return made;
    }

    /// The objects first, first + step, … of one locality.
    struct share {
        std::uint64_t first;
        std::uint64_t step;
        std::uint64_t count;
    };
    /// Of each locality, for so many objects. Throws std::logic_error without a session,
    /// std::invalid_argument for weights that are not one for each locality, are negative or not
    /// finite, or all 0.
    std::vector<share> shares_of(std::uint64_t objects) const;

private:
    bool m_is_cyclic = false;
    std::vector<double> m_weights{};
};

namespace detail {

template <class T, class... Args>
struct share_maker {
    static std::vector<object<T>> make(distribution::share share, Args... args) {
        std::vector<object<T>> made;
        made.reserve(share.count);
        for (std::uint64_t i = 0; i < share.count; ++i) {
            made.push_back(maker<T>::template make<std::size_t, Args...>(
                static_cast<std::size_t>(share.first + i * share.step), args...));
        }
        return made;
    }
};

/// The objects of all shares, by their numbers.
template <class T>
std::vector<object<T>> in_order(const std::vector<distribution::share>& shares,
                                std::vector<future<std::vector<object<T>>>>& calls,
                                std::uint64_t objects) {
    std::vector<object<T>> all(objects);
    for (std::size_t where = 0; where < shares.size(); ++where) {
        std::uint64_t at = shares[where].first;
        for (object<T>& each : calls[where].get()) {
            all[at] = std::move(each);
            at += shares[where].step;
        }
    }
    return all;
}

}  // namespace detail

/// Makes `objects` objects T(i, args...), or T{i, args...}, for i from 0 to objects - 1, and
/// returns references to them in this order. Waits until all are made; a task lets others run
/// meanwhile. Each locality makes its own, all at once.
///
///     struct cell {
///         std::size_t number;
///         double value;
///     };
///     using quern::localities::distribution;
///     const std::vector<quern::localities::object<cell>> cells =
///         quern::localities::make_many<cell>(1000, distribution::cyclic(), 0.5);
///
/// Errors: as run_at(), and as distribution::shares_of(). Thread safety: as make_at(). Cost: a call
/// of each locality, and of each object what make_at() costs at its own locality.
template <class T, class... Args>
std::vector<object<T>> make_many(std::size_t objects, const distribution& how, Args... args) {
    static_assert(
        std::is_constructible_v<T, std::size_t, Args...> ||
            requires {
                T{std::size_t{}, std::declval<Args>()...};
            },
        "quern: localities: make_many<T>(n, how, args...) makes T(i, args...), with the "
        "number of the object as the first argument of its constructor");
    const std::vector<distribution::share> shares = how.shares_of(objects);
    std::vector<future<std::vector<object<T>>>> calls;
    calls.reserve(shares.size());
    for (std::size_t where = 0; where < shares.size(); ++where) {
        calls.push_back(localities::run_at(static_cast<int>(where),
                                           &detail::share_maker<T, Args...>::make, shares[where],
                                           Args(args)...));
    }
    return detail::in_order(shares, calls, objects);
}

/// The same with distribution::block().
template <class T>
std::vector<object<T>> make_many(std::size_t objects) {
    return localities::make_many<T>(objects, distribution::block());
}

}  // namespace quern::localities
