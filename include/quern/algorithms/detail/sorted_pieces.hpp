// SPDX-License-Identifier: BSL-1.0
// Two sorted ranges in pieces that can be worked on independently, and an output whose length is
// known when the pieces before have been: the set operations. A piece ends at a place of the merge
// of both ranges (co-ranking: Siebert and Träff, "Perfectly load-balanced, stable, synchronization-
// free parallel merge", 2013, section 2), moved to where the elements equal to the next one begin,
// so that those of one value are in one piece.
#pragma once

#include <quern/algorithms/detail/elementwise.hpp>
#include <quern/algorithms/detail/ordered_blocks.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace quern::detail {

/// A place in two ranges.
struct two_places {
    std::size_t first = 0;
    std::size_t second = 0;
};

/// Two sorted ranges as one of both lengths. Calls less(a, b) for elements of one range and of
/// both.
template <class It, class It2, class Less>
class two_sorted {
public:
    two_sorted(It first, std::size_t n, It2 first2, std::size_t n2, Less& less) noexcept
        : m_first(first), m_n(n), m_first2(first2), m_n2(n2), m_less(less) {}

    std::size_t size() const noexcept { return m_n + m_n2; }

    /// Where a piece begins that is at `merged` in the merge, or where elements equal to that
    /// begin. Cost: a binary search in each range.
    two_places place(std::size_t merged) const {
        if (merged == 0 || merged == size()) {
            return merged == 0 ? two_places{} : two_places{m_n, m_n2};
        }
        const std::size_t i = co_rank(merged);
        const std::size_t j = merged - i;
        if (i < m_n && (j == m_n2 || !m_less(second(j), one(i)))) {
            return {begin_of(m_first, i, one(i)), begin_of(m_first2, j, one(i))};
        }
        return {begin_of(m_first, i, second(j)), begin_of(m_first2, j, second(j))};
    }

    /// Calls operation(first, last, first2, last2) for the elements between two places.
    template <class Operation>
    auto between(two_places from, two_places to, Operation&& operation) const {
        return operation(detail::at(m_first, from.first), detail::at(m_first, to.first),
                         detail::at(m_first2, from.second), detail::at(m_first2, to.second));
    }

private:
    decltype(auto) one(std::size_t i) const { return *detail::at(m_first, i); }
    decltype(auto) second(std::size_t j) const { return *detail::at(m_first2, j); }

    /// How many of the first `merged` elements of a stable merge are from the first range.
    std::size_t co_rank(std::size_t merged) const {
        std::size_t low = merged - std::min(merged, m_n2);
        std::size_t high = std::min(merged, m_n);
        while (low < high) {
            const std::size_t i = low + (high - low) / 2;
            if (m_less(second(merged - 1 - i), one(i))) {
                high = i;
            } else {
                low = i + 1;
            }
        }
        return low;
    }

    /// The first of n elements, none of them greater than the value, that is not less than it.
    template <class I, class T>
    std::size_t begin_of(const I& first, std::size_t n, const T& value) const {
        if (n == 0 || m_less(*detail::at(first, n - 1), value)) {
            return n;
        }
        const auto from = detail::as_standard(first);
        return detail::length(
            from, std::lower_bound(from, detail::at(from, n - 1), value, std::ref(m_less)));
    }

    const It m_first;
    const std::size_t m_n;
    const It2 m_first2;
    const std::size_t m_n2;
    Less& m_less;
};

/// An output iterator that counts.
class counted_output {
public:
    using iterator_category = std::output_iterator_tag;
    using value_type = void;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = void;

    struct dropped {
        template <class T>
        const dropped& operator=(const T&) const noexcept {
            return *this;
        }
    };

    dropped operator*() const noexcept { return {}; }
    counted_output& operator++() noexcept {
        ++m_count;
        return *this;
    }
    counted_output operator++(int) noexcept {
        const counted_output before = *this;
        ++m_count;
        return before;
    }
    std::size_t count() const noexcept { return m_count; }

private:
    std::size_t m_count = 0;
};

/// A set operation as work in ordered blocks. serial(first, last, first2, last2, out) is that of
/// the standard. A survey writes into a buffer if elements are plain data and there is room, else
/// it counts, and the block is then done a second time.
template <class Ranges, class T, class Out, class Serial>
class set_operation {
public:
    using value = std::size_t;                       ///< the number of elements of the result
    static constexpr std::size_t k_window = 32'768;  ///< per worker, and elements of its buffer
    static constexpr bool k_is_in_place = false;
    static constexpr bool k_combines_by_program = false;
    static constexpr std::size_t k_front_part = 0;

    struct note {
        two_places from{};
        two_places to{};
        std::size_t count = 0;
        bool is_buffered = false;
    };

    set_operation(const Ranges& ranges, Out out, Serial& serial) noexcept
        : m_ranges(ranges), m_out(out), m_serial(serial) {}

    void begin_window(std::size_t first, std::size_t last) {
        if constexpr (k_is_buffered) {
            m_begin = sum_of(m_ranges.place(first));
            if (m_size < last - first) {
                m_size = last - first;
                m_buffer = std::make_unique_for_overwrite<T[]>(m_size);
            }
        }
    }

    value survey(note& found, std::size_t first, std::size_t last) {
        found.from = m_ranges.place(first);
        found.to = m_ranges.place(last);
        found.is_buffered = false;
        if constexpr (k_is_buffered) {
            // A piece that ends with a long row of equal elements may be longer than the room.
            if (sum_of(found.to) - m_begin <= m_size) {
                found.is_buffered = true;
                found.count =
                    static_cast<std::size_t>(run(found, begin_of(found)) - begin_of(found));
                return found.count;
            }
        }
        return run(found, counted_output()).count();
    }

    void finish(note& found, value before, std::size_t, std::size_t) {
        const Out out = detail::at(m_out, before);
        if constexpr (k_is_buffered) {
            if (found.is_buffered) {
                std::copy_n(begin_of(found), found.count, detail::as_standard(out));
                return;
            }
        }
        run(found, out);
    }

    value run(value before, std::size_t first, std::size_t last) {
        const Out out = detail::at(m_out, before);
        return before +
               detail::length(out, run(note{m_ranges.place(first), m_ranges.place(last)}, out));
    }

    value combine(value before, value own) const noexcept { return before + own; }

private:
    static constexpr bool k_is_buffered = k_is_plain_data<T> &&
                                          std::is_trivially_default_constructible_v<T> &&
                                          requires(Out out, T& element) {
        *out = element;
    };

    static std::size_t sum_of(two_places at) noexcept { return at.first + at.second; }

    /// Where the result of a piece begins in the buffer: so that as many elements as it has fit.
    T* begin_of(const note& found) const noexcept {
        return m_buffer.get() + (sum_of(found.from) - m_begin);
    }

    template <class To>
    To run(const note& found, To to) {
        return m_ranges.between(found.from, found.to, [&](auto i, auto last, auto j, auto last2) {
            return m_serial(i, last, j, last2, to);
        });
    }

    const Ranges& m_ranges;
    const Out m_out;
    Serial& m_serial;
    std::size_t m_begin = 0;  ///< the place of the window, as a number of elements before it
    std::size_t m_size = 0;   ///< of the buffer
    std::unique_ptr<T[]> m_buffer{};
};

/// The type of the elements of a result: one that is not plain data if the ranges have two types.
template <class It, class It2>
struct result_of_two {
    struct none {
        none() = delete;
    };
    using type = std::conditional_t<std::is_same_v<std::iter_value_t<It>, std::iter_value_t<It2>>,
                                    std::iter_value_t<It>, none>;
};

/// Whether comparing two elements takes about a nanosecond.
template <class Less, class... Its>
inline constexpr std::size_t k_begin_to_order =
    same_as_one_of<Less, std::less<>, std::greater<>> ? k_begin_with_elements<Its...> : 1;

/// A set operation of n and n2 elements by the workers that are free. Returns the end of the
/// result.
template <class How, class It, class It2, class Out, class Less, class Serial>
Out set_operation_in_blocks(const How& how, It first, std::size_t n, It2 first2, std::size_t n2,
                            Out out, Less& less, Serial serial) {
    if (n + n2 == 0 || !detail::is_shared(how)) {
        return serial(first, detail::at(first, n), first2, detail::at(first2, n2), out);
    }
    using ranges = two_sorted<It, It2, Less>;
    const ranges both(first, n, first2, n2, less);
    set_operation<ranges, typename result_of_two<It, It2>::type, Out, Serial> work(both, out,
                                                                                   serial);
    return detail::at(out, detail::run_in_order(how, both.size(), work, std::size_t{0},
                                                k_begin_to_order<Less, It, It2>));
}

/// The least size of a piece of std::includes: longer than the searches for its ends.
template <class Less, class... Its>
inline constexpr std::size_t k_inclusion_block = k_begin_to_order<Less, Its...> == 1 ? 128 : 8'192;

/// std::includes by the workers that are free; they stop when one has found an element missing.
template <class How, class It, class It2, class Less>
bool includes_in_blocks(const How& how, It first, std::size_t n, It2 first2, std::size_t n2,
                        Less& less) {
    const auto serial = [&less](It i, It last, It2 j, It2 last2) -> bool {
        return std::includes(detail::as_standard(i), detail::as_standard(last),
                             detail::as_standard(j), detail::as_standard(last2),
                             detail::for_chunk(less));
    };
    if (!detail::is_shared(how)) {
        return serial(first, detail::at(first, n), first2, detail::at(first2, n2));
    }
    constexpr std::size_t size = k_inclusion_block<Less, It, It2>;
    const two_sorted<It, It2, Less> both(first, n, first2, n2, less);
    return !detail::any_match(how.in_lazy_chunks(), detail::divide_up(both.size(), size),
                              [&](std::size_t block, std::size_t last) -> bool {
                                  return !both.between(
                                      both.place(block * size),
                                      both.place(std::min(last * size, both.size())), serial);
                              });
}

}  // namespace quern::detail
