// SPDX-License-Identifier: BSL-1.0
// skynet: a task makes ten, each of those ten more, down to leaves that return their numbers;
// parents return the sums. Size: the number of leaves, a power of ten.
#pragma once

#include "../tasks/tasks.hpp"

#include <cstdint>

namespace bench::skynet {

inline constexpr long k_children = 10;

/// The sum of the `leaves` leaves first, first + 1, ...
[[gnu::noinline]] inline std::int64_t sum(long first, long leaves) {
    if (leaves == 1) {
        return first;
    }
    std::int64_t total = 0;
    for (long i = 0; i < k_children; ++i) {
        total += sum(first + i * (leaves / k_children), leaves / k_children);
    }
    return total;
}

/// The same, a task for each.
template <class Tasks>
inline std::int64_t sum(Tasks here, long first, long leaves) {
    if (leaves == 1) {
        return first;
    }
    return here.sum(k_children, [first, part = leaves / k_children](auto there, long i) {
        return sum(there, first + i * part, part);
    });
}

class problem {
public:
    explicit problem(long leaves) : m_leaves(leaves) {
        for (; leaves > 1; leaves /= k_children) {
            if (leaves % k_children != 0) {
                throw std::invalid_argument("skynet: the size is no power of ten");
            }
        }
    }

    long leaves() const noexcept { return m_leaves; }

    template <class Tasks>
    std::int64_t solve(Tasks here) const {
        return sum(here, 0, m_leaves);
    }

    void check(std::int64_t total) const {
        expect_equal("sum", total, std::int64_t(m_leaves) * (m_leaves - 1) / 2);
    }

private:
    long m_leaves;
};

}  // namespace bench::skynet
