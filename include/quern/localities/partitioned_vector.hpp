// SPDX-License-Identifier: BSL-1.0
// Vectors whose elements are at several localities.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/part_steps.hpp>
#include <quern/localities/object.hpp>
#include <quern/localities/session.hpp>
#include <quern/task/when.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::localities {

namespace detail {

/// The sizes of parts for so many elements. Throws std::invalid_argument, which names the function,
/// for weights that are not one for each locality, are negative, or all 0.
std::vector<std::uint64_t> sizes_of_parts(std::uint64_t size, const std::vector<double>& weights,
                                          const char* function);
/// The same for so many localities.
std::vector<std::uint64_t> sizes_of_parts(std::uint64_t size, std::size_t parts,
                                          const std::vector<double>& weights, const char* function);
/// Throws as sizes_of_parts().
void require_weights(const std::vector<double>& weights, std::size_t parts, const char* function);
[[noreturn]] void refuse_index(std::uint64_t index, std::uint64_t size);

}  // namespace detail

/// A vector in parts, one at each locality, in their order. Operations on all elements run in
/// parallel where these are, with the algorithms of Quern at each locality; they give a future, and
/// are as calls of a global object: those of one locality run in the order in which it has made
/// them. But inclusive_scan() and sort() are several calls of each part, between which others run:
/// wait for their futures before. It is a reference, which travels: copies are the same vector.
///
///     const quern::localities::partitioned_vector<double> x(1'000'000, 1.0);
///     x.for_each([](double& each, double by) { each *= by; }, 2.0).get();
///     double sum = x.reduce(0.0, std::plus<>()).get();  // 2'000'000
///     double one = x.get(17).get();
///
/// Functions are lambdas without captures, or other function objects without members; what they
/// need is given as further arguments, which travel, and are passed as const references.
///
/// Errors: std::logic_error without a session; from the future a remote_error, of what a function
/// throws. Thread safety: as a shared_ptr. Cost of an operation: a call for each part.
template <class T>
class partitioned_vector {
public:
    /// Refers to none.
    partitioned_vector() = default;
    /// Of so many copies of a value, with parts as equal as possible. Waits until it is made; a
    /// task lets others run meanwhile.
    explicit partitioned_vector(std::uint64_t size, const T& value = T())
        : partitioned_vector(size, value, std::vector<double>()) {}
    /// Part k has a share by weights[k]. Throws std::invalid_argument for weights that are not one
    /// for each locality, are negative or not finite, or all 0.
    partitioned_vector(std::uint64_t size, const T& value, const std::vector<double>& weights) {
        static_assert(!std::is_same_v<T, bool>,
                      "quern: localities: partitioned_vector<bool>: std::vector<bool> cannot be "
                      "changed in parallel; use char");
        localities::require_can_travel<T>();
        m_ends = detail::sizes_of_parts(size, weights, "partitioned_vector");
        for (std::size_t part = 0; part < m_ends.size(); ++part) {
            m_parts.push_back(localities::make_at<std::vector<T>>(
                static_cast<int>(part), static_cast<std::size_t>(m_ends[part]), value));
        }
        std::partial_sum(m_ends.begin(), m_ends.end(), m_ends.begin());
    }

    std::uint64_t size() const noexcept { return m_ends.empty() ? 0 : m_ends.back(); }
    int parts() const noexcept { return static_cast<int>(m_parts.size()); }
    /// Of a part, whose elements have the indexes from first_of(part) on.
    std::uint64_t size_of(int part) const { return m_ends.at(to_size(part)) - first_of(part); }
    std::uint64_t first_of(int part) const { return part == 0 ? 0 : m_ends.at(to_size(part - 1)); }
    /// The elements of a part, as a global object, for functions of the program. They may be
    /// changed, but their number must stay.
    const object<std::vector<T>>& part(int which) const { return m_parts.at(to_size(which)); }

    /// An element. Throws std::out_of_range, as set().
    future<T> get(std::uint64_t index) const {
        const std::size_t part = part_with(index);
        return m_parts[part].call(
            [](const std::vector<T>& of, std::uint64_t at) {
                return of.at(static_cast<std::size_t>(at));
            },
            index - begin_of(part));
    }
    future<void> set(std::uint64_t index, T value) const {
        const std::size_t part = part_with(index);
        return m_parts[part].call(
            [](std::vector<T>& of, std::uint64_t at, T&& given) {
                of.at(static_cast<std::size_t>(at)) = std::move(given);
            },
            index - begin_of(part), std::move(value));
    }

    /// f(element, args...) for each element, in any order.
    template <class F, class... Args>
    future<void> for_each(F, const Args&... args) const {
        require_step<F, T&, const Args&...>();
        return on_parts([&](std::size_t part) {
            return m_parts[part].call(&steps::template for_each<F, Args...>, args...);
        });
    }
    /// f(index, element, args...) for each element, in any order.
    template <class F, class... Args>
    future<void> for_each_index(F, const Args&... args) const {
        require_step<F, std::uint64_t, T&, const Args&...>();
        return on_parts([&](std::size_t part) {
            return m_parts[part].call(&steps::template for_each_index<F, Args...>, begin_of(part),
                                      args...);
        });
    }

    /// `first` and all elements combined by op, which must be associative and commutative; of map,
    /// op(first, map(element)...).
    template <class R, class Op>
    future<R> reduce(R first, Op op) const {
        return reduce(std::move(first), op, [](const T& each) { return each; });
    }
    template <class R, class Op, class Map>
    future<R> reduce(R first, Op, Map) const {
        require_step<Map, const T&>();
        using mapped = std::decay_t<std::invoke_result_t<Map, const T&>>;
        require_step<Op, mapped, mapped>();
        require_step<Op, R, mapped>();
        std::vector<future<std::optional<mapped>>> sums;
        for (const object<std::vector<T>>& each : m_parts) {
            sums.push_back(each.call(&steps::template reduce<Map, Op>));
        }
        return quern::when_all(std::move(sums)).then([first = std::move(first)](auto all) mutable {
            for (auto& each : all.get()) {
                if (std::optional<mapped> sum = each.get()) {
                    first = Op{}(std::move(first), std::move(*sum));
                }
            }
            return std::move(first);
        });
    }

    /// Each element becomes those up to it, combined by op in their order. Reads all twice.
    template <class Op>
    future<void> inclusive_scan(Op) const {
        require_step<Op, T, T>();
        return quern::async([self = *this, counted = detail::counted_call(its_job())] {
            std::vector<future<std::optional<T>>> sums;
            for (const object<std::vector<T>>& each : self.m_parts) {
                sums.push_back(each.call([](const std::vector<T>& of) {
                    std::optional<T> all;
                    for (const T& one : of) {
                        all = all ? T(Op{}(*all, one)) : one;
                    }
                    return all;
                }));
            }
            std::optional<T> before;
            self.on_parts([&](std::size_t part) {
                    auto scanned =
                        self.m_parts[part].call(&steps::template scan<Op>, std::optional(before));
                    if (std::optional<T> sum = sums[part].get()) {
                        before = before ? T(Op{}(*before, *sum)) : std::move(sum);
                    }
                    return scanned;
                })
                .get();
        });
    }

    /// Sorts all elements by a sample of them (Frazer and McKellar, 1970): parts are sorted, their
    /// elements go to where about they belong, and then to their places. Not stable. Other calls
    /// meanwhile find elements that are not in their places, or a part without the element: a
    /// remote_error of a std::out_of_range. If less throws all elements are there afterwards, in
    /// some order.
    template <class Less = std::less<>>
    future<void> sort(Less = {}) const {
        require_step<Less, const T&, const T&>();
        return quern::async([self = *this, counted = detail::counted_call(its_job())] {
            self.template sort_now<Less>();
        });
    }

    /// All elements, in their order.
    future<std::vector<T>> to_vector() const {
        std::vector<future<std::vector<T>>> parts;
        for (const object<std::vector<T>>& each : m_parts) {
            parts.push_back(each.call([](const std::vector<T>& of) { return of; }));
        }
        return quern::when_all(std::move(parts)).then([](auto all) {
            std::vector<T> elements;
            for (auto& each : all.get()) {
                std::vector<T> some = each.get();
                std::move(some.begin(), some.end(), std::back_inserter(elements));
            }
            return elements;
        });
    }

    /// For the archives.
    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_parts, m_ends);
    }

private:
    using steps = detail::part_steps<T>;

    static detail::job& its_job() { return detail::job_for("partitioned_vector"); }
    static std::size_t to_size(int number) noexcept { return static_cast<std::size_t>(number); }
    std::uint64_t begin_of(std::size_t part) const noexcept {
        return part == 0 ? 0 : m_ends[part - 1];
    }
    std::size_t part_with(std::uint64_t index) const {
        if (index >= size()) {
            detail::refuse_index(index, size());
        }
        return static_cast<std::size_t>(std::upper_bound(m_ends.begin(), m_ends.end(), index) -
                                        m_ends.begin());
    }

    template <class F, class... Args>
    static constexpr void require_step() {
        static_assert(detail::k_is_stateless<F>,
                      "quern: localities: a function for a partitioned_vector must be a lambda "
                      "without captures or a function object without members: what it needs is "
                      "given as further arguments, x.for_each(f, a)");
        static_assert(std::is_invocable_v<F, Args...>,
                      "quern: localities: the function cannot be called with an element of the "
                      "partitioned_vector and these arguments, which are const references");
    }

    template <class Call>
    future<void> on_parts(Call call) const {
        std::vector<future<void>> all;
        for (std::size_t part = 0; part < m_parts.size(); ++part) {
            all.push_back(call(part));
        }
        return quern::when_all(std::move(all)).then([](auto each_of) {
            for (auto& each : each_of.get()) {
                each.get();
            }
        });
    }

    using inboxes_type = std::vector<object<detail::inbox<T>>>;

    template <class Less>
    void sort_now() const {
        inboxes_type inboxes;
        for (int part = 0; part < parts(); ++part) {
            inboxes.push_back(localities::make_at<detail::inbox<T>>(part));
        }
        try {
            const std::vector<T> splitters = sort_parts<Less>();
            on_parts([&](std::size_t part) {
                return m_parts[part].call(&steps::template send_by_value<Less>, splitters, inboxes,
                                          std::uint64_t{part});
            }).get();
            on_parts([&](std::size_t part) {
                return m_parts[part].call(&steps::template receive_and_sort<Less>, inboxes[part]);
            }).get();
        } catch (...) {
            move_to_places(inboxes);
            throw;
        }
        move_to_places(inboxes);
    }

    /// Wherever the elements are, in their order: each goes to the part with its index.
    void move_to_places(const inboxes_type& inboxes) const {
        std::vector<future<std::uint64_t>> sizes;
        for (std::size_t part = 0; part < m_parts.size(); ++part) {
            sizes.push_back(m_parts[part].call(&steps::receive, inboxes[part]));
        }
        std::vector<std::uint64_t> begins(1, 0);
        for (future<std::uint64_t>& each : sizes) {
            begins.push_back(begins.back() + each.get());
        }
        on_parts([&](std::size_t part) {
            return m_parts[part].call(&steps::send_by_index, begins[part], m_ends, inboxes,
                                      std::uint64_t{part});
        }).get();
        on_parts([&](std::size_t part) {
            return m_parts[part].call(
                [](std::vector<T>& of, const object<detail::inbox<T>>& from) {
                    static_cast<void>(steps::receive(of, from));
                },
                inboxes[part]);
        }).get();
    }

    /// Returns the values that separate the parts; none of an empty vector.
    template <class Less>
    std::vector<T> sort_parts() const {
        const std::uint64_t samples = 16 * m_parts.size();  // parts differ by some percent then
        std::vector<future<std::vector<T>>> sorted;
        for (const object<std::vector<T>>& each : m_parts) {
            sorted.push_back(each.call(&steps::template sort<Less>, samples));
        }
        std::vector<T> sample;
        for (auto& each : sorted) {
            std::vector<T> some = each.get();
            std::move(some.begin(), some.end(), std::back_inserter(sample));
        }
        std::sort(sample.begin(), sample.end(), Less{});
        std::vector<T> splitters;
        for (std::size_t part = 1; part < m_parts.size() && !sample.empty(); ++part) {
            splitters.push_back(sample[part * sample.size() / m_parts.size()]);
        }
        return splitters;
    }

    std::vector<object<std::vector<T>>> m_parts{};
    std::vector<std::uint64_t> m_ends{};  ///< the index behind the last element of each
};

}  // namespace quern::localities
