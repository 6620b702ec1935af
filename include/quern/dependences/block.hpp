// SPDX-License-Identifier: BSL-1.0
// Regions of several rows: a block of a matrix, a sub-array of up to four dimensions.
#pragma once

#include <quern/dependences/access.hpp>
#include <quern/dependences/detail/strided_access.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

namespace quern {

/// Elements at equal distances in N dimensions; those of the last dimension are neighbours. Refers
/// to memory and copies nothing. What in(), out() and so on take, and what the body gets.
///
///     std::vector<double> cube(10 * 10 * 10);
///     const quern::strided<double, 3> corner(cube.data(), {2, 2, 2}, {100, 10});
///     corner(1, 0, 1) = 1;  // cube[101]
template <class T, std::size_t N>
class strided {
    static_assert(N >= 1 && N <= 4, "quern: strided: 1 to 4 dimensions");

public:
    using element_type = T;

    /// `counts`: elements in each dimension. `distances`: elements from one index to the next, of
    /// each dimension but the last. Throws std::invalid_argument for a negative count, for a
    /// distance smaller than what it repeats, for a null pointer unless a count is 0, and for more
    /// bytes than memory has.
    strided(T* data, const std::array<std::ptrdiff_t, N>& counts,
            const std::array<std::ptrdiff_t, N - 1>& distances)
        : m_data(data), m_counts(counts), m_distances(distances) {
        detail::check_strided(data, sizeof(T), counts, distances);
    }
    /// Of a view of elements that may be written.
    template <class U>
        requires(std::same_as<const U, T> && !std::same_as<U, T>)
    strided(const strided<U, N>& other)
    noexcept : m_data(other.data()), m_counts(other.counts()), m_distances(other.distances()) {}

    T* data() const noexcept { return m_data; }
    const std::array<std::ptrdiff_t, N>& counts() const noexcept { return m_counts; }
    const std::array<std::ptrdiff_t, N - 1>& distances() const noexcept { return m_distances; }

    /// Not checked.
    template <std::convertible_to<std::ptrdiff_t>... Index>
        requires(sizeof...(Index) == N)
    T& operator()(Index... at) const noexcept {
        const std::array<std::ptrdiff_t, N> index{static_cast<std::ptrdiff_t>(at)...};
        std::ptrdiff_t offset = index[N - 1];
        for (std::size_t k = 0; k + 1 < N; ++k) {
            offset += index[k] * m_distances[k];
        }
        return m_data[offset];
    }

    // Of a block.
    std::ptrdiff_t rows() const noexcept requires(N == 2) { return m_counts[0]; }
    std::ptrdiff_t columns() const noexcept requires(N == 2) { return m_counts[1]; }
    std::ptrdiff_t pitch() const noexcept requires(N == 2) { return m_distances[0]; }
    std::span<T> row(std::ptrdiff_t i) const noexcept requires(N == 2) {
        return {m_data + i * m_distances[0], static_cast<std::size_t>(m_counts[1])};
    }

    /// For in(), out() and so on.
    template <detail::access_kind Kind>
    auto access_of() const noexcept {
        static_assert(Kind == detail::access_kind::read || !std::is_const_v<T>,
                      "quern: a task cannot write what is const");
        using seen = std::conditional_t<Kind == detail::access_kind::read, const T, T>;
        return detail::strided_access<seen, N>(*this, Kind);
    }

private:
    T* m_data;
    std::array<std::ptrdiff_t, N> m_counts;
    std::array<std::ptrdiff_t, N - 1> m_distances;
};

/// A part of a matrix: rows of `columns` elements, `pitch` elements from row to row. For a matrix
/// that is stored column by column its rows here are that matrix's columns.
///
/// Errors: std::invalid_argument if rows or columns are negative, the pitch is smaller than the
/// columns, or the pointer is null and the block not empty. Cost of an access, if no other access
/// overlaps without being the same: that of any other region; else one step for each row.
///
///     std::vector<double> matrix(100 * 100);
///     quern::domain work;
///     // The 20 x 30 elements from row 40, column 50 on.
///     work.spawn(quern::inout(quern::block(&matrix[40 * 100 + 50], 100, 20, 30)),
///                [](quern::strided<double, 2> part) { part(0, 0) = 1; });
template <class T>
strided<T, 2> block(T* first, std::ptrdiff_t pitch, std::ptrdiff_t rows, std::ptrdiff_t columns) {
    return {first, {rows, columns}, {pitch}};
}

}  // namespace quern
