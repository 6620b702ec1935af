// SPDX-License-Identifier: BSL-1.0
// Recursions and null tasks on Quern: the ways in which a task can have children. Reports the
// number of stolen tasks beside the time.
#pragma once

#include "../harness/quern.hpp"
#include "null_tasks.hpp"
#include "tasks.hpp"

#include <utility>
#include <vector>

namespace bench {

/// fork_join with the context passed down: a child, and the rest of the family as one fork.
class quern_context {
public:
    explicit quern_context(quern::fork_context place) : m_place(place) {}

    template <class F>
    auto sum(long n, const F& f) const {
        return sum_from(m_place, f, 0, n);
    }

    template <class F, class... Others>
    void all(const F& f, const Others&... others) const {
        if constexpr (sizeof...(others) == 0) {
            f(*this);
        } else {
            quern::fork_join(
                m_place, [&](quern::fork_context c) { quern_context(c).all(others...); },
                [&](quern::fork_context c) { f(quern_context(c)); });
        }
    }

    template <class F>
    static auto begin(F f) {
        return quern::fork_join([&f](quern::fork_context c) { return f(quern_context(c)); }, [] {});
    }

private:
    template <class F>
    static sum_of<quern_context, F> sum_from(quern::fork_context c, const F& f, long i, long n) {
        if (i + 1 == n) {
            return f(quern_context(c), i);
        }
        const auto [others, one] = quern::fork_join(
            c, [&f, i, n](quern::fork_context there) { return sum_from(there, f, i + 1, n); },
            [&f, i](quern::fork_context there) { return f(quern_context(there), i); });
        return one + others;
    }

    quern::fork_context m_place;
};

/// The same, with the context looked up at each fork.
struct quern_plain {
    template <class F>
    auto sum(long n, const F& f) const {
        return sum_from(f, 0, n);
    }

    template <class F, class... Others>
    void all(const F& f, const Others&... others) const {
        if constexpr (sizeof...(others) == 0) {
            f(quern_plain{});
        } else {
            quern::fork_join([&] { quern_plain{}.all(others...); }, [&] { f(quern_plain{}); });
        }
    }

    template <class F>
    static auto begin(F f) {
        return f(quern_plain{});
    }

private:
    template <class F>
    static sum_of<quern_plain, F> sum_from(const F& f, long i, long n) {
        if (i + 1 == n) {
            return f(quern_plain{}, i);
        }
        const auto [others, one] = quern::fork_join([&f, i, n] { return sum_from(f, i + 1, n); },
                                                    [&f, i] { return f(quern_plain{}, i); });
        return one + others;
    }
};

/// A scope for a family.
class quern_scope {
public:
    explicit quern_scope(quern::fork_context place) : m_place(place) {}

    template <class F>
    auto sum(long n, const F& f) const {
        partial_sums<sum_of<quern_scope, F>> sums(n);
        quern::scope(m_place, [&f, &sums, n](quern::fork_scope& s) {
            for (long i = 0; i < n; ++i) {
                s.spawn([&f, &result = sums[i], i](quern::fork_context c) {
                    result = f(quern_scope(c), i);
                });
            }
        });
        return sums.total();
    }

    template <class... F>
    void all(const F&... f) const {
        quern::scope(m_place, [&](quern::fork_scope& s) {
            (s.spawn([&f](quern::fork_context c) { f(quern_scope(c)); }), ...);
        });
    }

    template <class F>
    static auto begin(F f) {
        return quern::fork_join([&f](quern::fork_context c) { return f(quern_scope(c)); }, [] {});
    }

private:
    quern::fork_context m_place;
};

/// A future for each child but the last.
struct quern_future {
    template <class F>
    auto sum(long n, const F& f) const {
        using result = sum_of<quern_future, F>;
        std::vector<quern::future<result>> children;
        children.reserve(static_cast<std::size_t>(n - 1));
        for (long i = 0; i + 1 < n; ++i) {
            children.push_back(quern::async([&f, i] { return f(quern_future{}, i); }));
        }
        result total = f(quern_future{}, n - 1);
        for (auto& child : children) {
            total += child.get();
        }
        return total;
    }

    template <class F>
    static auto begin(F f) {
        return f(quern_future{});
    }
};

/// A job whose repetitions run f() as a task, and report how many tasks were stolen in each run.
template <class F>
job quern_job_with_thefts(const arguments& a, F f) {
    return quern_job(a, [f = std::move(f)] {
        const quern::pool_ref pool = quern::current_pool();
        const auto before = pool.totals().stolen;
        measurement m = f();
        m.more["stolen"] = static_cast<double>(pool.totals().stolen - before) / m.runs;
        return m;
    });
}

template <class Problem, class Tasks>
job solved_by_quern(const arguments& a) {
    return quern_job_with_thefts(a, timed_problem<Problem>(a, [](Problem& p) {
                                     return Tasks::begin([&p](auto here) { return p.solve(here); });
                                 }));
}

template <class Run>
job null_by_quern(const arguments& a, Run run) {
    return quern_job_with_thefts(a, null_problem(a.size, run));
}

}  // namespace bench
