// SPDX-License-Identifier: BSL-1.0
// nqueens: the number of ways to place n queens on a board without attacks; a task for each queen
// that is placed and no cut-off. Size: n, up to 17.
#pragma once

#include "../tasks/tasks.hpp"

#include <cstdint>

namespace bench::nqueens {

/// Bits are columns of the next row.
using row = std::uint32_t;

/// The filled rows: the columns, and the diagonals to the left and right, on which they attack the
/// next row.
struct board {
    row all, columns, left, right;

    row places() const noexcept { return all & ~(columns | left | right); }
    board with(row queen) const noexcept {
        return {all, columns | queen, (left | queen) << 1, (right | queen) >> 1};
    }
};

constexpr row lowest(row places) noexcept { return places & (~places + 1); }

inline std::uint64_t count(const board& b) {
    if (b.columns == b.all) {
        return 1;
    }
    std::uint64_t ways = 0;
    for (row places = b.places(); places != 0; places &= places - 1) {
        ways += count(b.with(lowest(places)));
    }
    return ways;
}

/// The same, a task for each queen.
template <class Tasks>
inline std::uint64_t count(Tasks here, const board& b) {
    if (b.columns == b.all) {
        return 1;
    }
    std::array<row, 32> queens;
    long n = 0;
    for (row places = b.places(); places != 0; places &= places - 1) {
        queens[n++] = lowest(places);
    }
    if (n == 0) {
        return 0;
    }
    return here.sum(n,
                    [&b, &queens](auto there, long i) { return count(there, b.with(queens[i])); });
}

class problem {
public:
    explicit problem(long n) : m_n(static_cast<std::size_t>(n)) {
        if (m_n >= k_known.size()) {
            throw std::invalid_argument("nqueens: the size is at most 17");
        }
    }

    board empty() const { return {(row(1) << m_n) - 1, 0, 0, 0}; }

    template <class Tasks>
    std::uint64_t solve(Tasks here) const {
        return count(here, empty());
    }

    void check(std::uint64_t ways) const { expect_equal("ways", ways, k_known[m_n]); }

private:
    /// OEIS A000170.
    static constexpr std::array<std::uint64_t, 18> k_known = {
        1,   1,   0,    0,     2,     10,     4,       40,       92,
        352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512, 95815104};

    std::size_t m_n;
};

}  // namespace bench::nqueens
