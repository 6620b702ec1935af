// SPDX-License-Identifier: BSL-1.0
// Writes a recursion once for all runtimes. It gets `here`, an object of a class of tasks, and uses
// it to say what may run in parallel:
//     here.sum(n, f)      the sum of f(there, i) for i in [0, n), n > 0
//     here.all(f, g ...)  f(there), g(there) ..., which return nothing
// where `there` is the `here` of the child. The header named as the runtime implements this in the
// way that the runtime recommends. This file must not include any of these headers.
#pragma once

#include "../harness/harness.hpp"

#include <array>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

namespace bench {

template <class Tasks, class F>
using sum_of = std::invoke_result_t<const F&, Tasks, long>;

/// Where the children of one parent store their results. Allocates only for a large family.
template <class T>
class partial_sums {
public:
    explicit partial_sums(long size) : m_size(static_cast<std::size_t>(size)) {
        if (m_size > k_few) {
            m_many.resize(m_size);
        }
    }

    T& operator[](long i) noexcept { return first()[i]; }
    T total() noexcept { return std::accumulate(first(), first() + m_size, T()); }

private:
    static constexpr std::size_t k_few = 16;  // all of skynet and nqueens, all but the root of uts

    T* first() noexcept { return m_many.empty() ? m_few.data() : m_many.data(); }

    std::size_t m_size;
    std::array<T, k_few> m_few;
    std::vector<T> m_many;
};

/// No tasks.
struct serially {
    template <class F>
    auto sum(long n, const F& f) const {
        sum_of<serially, F> total = 0;
        for (long i = 0; i < n; ++i) {
            total += f(serially{}, i);
        }
        return total;
    }

    template <class... F>
    void all(const F&... f) const {
        (f(serially{}), ...);
    }
};

/// A repetition of a problem: an object that is made once, from the size, and has solve(here) and
/// check(answer). `begin` calls solve with the first `here`.
template <class Problem, class Begin>
auto timed_problem(const arguments& a, Begin begin) {
    return [problem = std::make_shared<Problem>(a.size), begin] {
        return timed([&] { return begin(*problem); },
                     [&](const auto& answer) { problem->check(answer); });
    };
}

template <class Problem>
job solved_serially(const arguments& a) {
    return timed_problem<Problem>(a, [](Problem& p) { return p.solve(serially{}); });
}

}  // namespace bench
