// SPDX-License-Identifier: BSL-1.0
// oversubscribed: fib when the process has at most two CPUs, with 2 workers and with 8.
// busy_neighbour: the same while another process keeps the second CPU busy; a fair system gives the
// workers 1.5 CPUs then. Size: the argument.
#pragma once

#include "neighbour.hpp"

#include "../fib/problem.hpp"
#include "../harness/threads.hpp"

#include <functional>

namespace bench::oversubscribed {

constexpr int k_cpus = 2;

/// A way to compute fib, as a contender in both problems.
class disturbed {
public:
    using maker = std::function<job(const arguments&)>;

    disturbed(const char* variant, const maker& make)
        : m_oversubscribed("oversubscribed", variant, alone(make)),
          m_busy_neighbour("busy_neighbour", variant, beside(make)) {}

private:
    static maker alone(maker make) {
        return [make](const arguments& a) {
            keep_cpus(k_cpus);
            return make(a);
        };
    }
    static maker beside(maker make) {
        return [make](const arguments& a) -> job {
            keep_cpus(k_cpus);
            return [repeat = make(a)] {
                const busy_neighbour neighbour;
                return repeat();
            };
        };
    }

    contender m_oversubscribed;
    contender m_busy_neighbour;
};

}  // namespace bench::oversubscribed
