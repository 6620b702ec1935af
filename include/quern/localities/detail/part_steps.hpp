// SPDX-License-Identifier: BSL-1.0
// What the operations of a partitioned_vector do at one part, as functions for object::call(). F
// and Op are function objects without members, so their types say all.
#pragma once

#include <quern/algorithms/for_each.hpp>
#include <quern/algorithms/parallel_for.hpp>
#include <quern/algorithms/reduce.hpp>
#include <quern/algorithms/scan.hpp>
#include <quern/algorithms/sort.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/localities/object.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace quern::localities::detail {

/// Elements of some part that belong to another one.
template <class T>
struct piece {
    std::uint64_t order = 0;  ///< pieces are joined by it
    std::vector<T> elements{};
};

/// Takes pieces while the parts themselves are busy. At the same locality as its part.
template <class T>
class inbox {
public:
    void add(piece<T> one) { m_pieces.push_back(std::move(one)); }
    std::vector<T> take_all() {
        std::sort(m_pieces.begin(), m_pieces.end(),
                  [](const piece<T>& a, const piece<T>& b) { return a.order < b.order; });
        std::vector<T> all;
        for (piece<T>& each : m_pieces) {
            std::move(each.elements.begin(), each.elements.end(), std::back_inserter(all));
        }
        m_pieces.clear();
        return all;
    }

private:
    std::vector<piece<T>> m_pieces{};
};

template <class F, class... Args>
inline constexpr bool k_is_step = k_is_stateless<F>&& std::is_invocable_v<F, Args...>;

template <class T>
struct part_steps {
    using elements = std::vector<T>;

    template <class F, class... Args>
    static void for_each(elements& of, const Args&... args) {
        quern::for_each(quern::par, of.begin(), of.end(), [&](T& each) { F{}(each, args...); });
    }

    /// `first`: the index of the part's first element.
    template <class F, class... Args>
    static void for_each_index(elements& of, std::uint64_t first, const Args&... args) {
        quern::parallel_for(std::size_t{0}, of.size(),
                            [&](std::size_t i) { F{}(first + i, of[i], args...); });
    }

    /// std::nullopt of an empty part.
    template <class Map, class Op>
    static auto reduce(const elements& of) {
        using result = std::decay_t<std::invoke_result_t<Map, const T&>>;
        std::optional<result> all;
        if (!of.empty()) {
            all = quern::transform_reduce(quern::par, of.begin() + 1, of.end(),
                                          result(Map{}(of.front())), Op{}, Map{});
        }
        return all;
    }

    /// `before`: what the parts before give.
    template <class Op>
    static void scan(elements& of, const std::optional<T>& before) {
        if (before && !of.empty()) {
            of.front() = Op{}(*before, of.front());
        }
        quern::inclusive_scan(quern::par, of.begin(), of.end(), of.begin(), Op{});
    }

    /// Sorts, and returns about so many elements, evenly spaced.
    template <class Less>
    static elements sort(elements& of, std::uint64_t samples) {
        quern::sort(quern::par, of.begin(), of.end(), Less{});
        elements some;
        const std::uint64_t count = std::min<std::uint64_t>(samples, of.size());
        for (std::uint64_t i = 0; i < count; ++i) {
            some.push_back(of[static_cast<std::size_t>(i * of.size() / count)]);
        }
        return some;
    }

    /// Part k gets what is not less than splitters[k - 1], and less than splitters[k],
    /// where there are such.
    template <class Less>
    static void send_by_value(elements& of, const elements& splitters,
                              const std::vector<object<inbox<T>>>& to, std::uint64_t order) {
        std::vector<std::uint64_t> ends;
        for (const T& each : splitters) {
            ends.push_back(static_cast<std::uint64_t>(
                std::lower_bound(of.begin(), of.end(), each, Less{}) - of.begin()));
        }
        ends.resize(to.size(), of.size());
        send(of, ends, to, order);
    }

    /// Part k gets those that are at indexes below ends[k], and not in a part before.
    static void send_by_index(elements& of, std::uint64_t first,
                              const std::vector<std::uint64_t>& ends,
                              const std::vector<object<inbox<T>>>& to, std::uint64_t order) {
        std::vector<std::uint64_t> own;
        for (const std::uint64_t end : ends) {
            own.push_back(std::clamp<std::uint64_t>(end, first, first + of.size()) - first);
        }
        send(of, own, to, order);
    }

    /// Adds what has come, and returns how many there are.
    static std::uint64_t receive(elements& of, const object<inbox<T>>& from) {
        elements more = from.call(&inbox<T>::take_all).get();
        if (of.empty()) {
            of = std::move(more);
        } else {
            std::move(more.begin(), more.end(), std::back_inserter(of));
        }
        return of.size();
    }
    template <class Less>
    static void receive_and_sort(elements& of, const object<inbox<T>>& from) {
        receive(of, from);
        quern::sort(quern::par, of.begin(), of.end(), Less{});
    }

private:
    /// The elements leave.
    static void send(elements& of, const std::vector<std::uint64_t>& ends,
                     const std::vector<object<inbox<T>>>& to, std::uint64_t order) {
        std::vector<future<void>> sent;
        std::uint64_t begin = 0;
        for (std::size_t k = 0; k < to.size(); ++k) {
            const auto at = [&of](std::uint64_t index) {
                return std::make_move_iterator(of.begin() + static_cast<std::ptrdiff_t>(index));
            };
            if (ends[k] > begin) {
                sent.push_back(
                    to[k].call(&inbox<T>::add, piece<T>{order, elements(at(begin), at(ends[k]))}));
                begin = ends[k];
            }
        }
        of.clear();
        for (future<void>& each : sent) {
            each.get();
        }
    }
};

}  // namespace quern::localities::detail
