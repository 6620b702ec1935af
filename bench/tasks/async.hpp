// SPDX-License-Identifier: BSL-1.0
// Recursions on the standard library: a thread for each child.
#pragma once

#include "../harness/threads.hpp"
#include "tasks.hpp"

#include <future>
#include <vector>

namespace bench {

struct async_threads {
    template <class F>
    auto sum(long n, const F& f) const {
        using result = sum_of<async_threads, F>;
        std::vector<std::future<result>> children;
        for (long i = 0; i + 1 < n; ++i) {
            children.push_back(
                std::async(std::launch::async, [&f, i] { return f(async_threads{}, i); }));
        }
        result total = f(async_threads{}, n - 1);
        for (auto& child : children) {
            total += child.get();
        }
        return total;
    }

    template <class F, class... Others>
    void all(const F& f, const Others&... others) const {
        if constexpr (sizeof...(others) == 0) {
            f(async_threads{});
        } else {
            auto child = std::async(std::launch::async, [&f] { f(async_threads{}); });
            all(others...);
            child.get();
        }
    }
};

template <class Problem>
job solved_by_async(const arguments& a) {
    return threads_job(
        a, timed_problem<Problem>(a, [](Problem& p) { return p.solve(async_threads{}); }));
}

}  // namespace bench
