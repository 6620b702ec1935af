// SPDX-License-Identifier: BSL-1.0
// loops: parallel loops whose iterations are even or uneven, short or long, and one that is limited
// by memory. Each runtime runs them as it chooses by itself, and with fixed chunks. Size: the
// number of iterations. The check: each iteration's result, added up, against a serial run.
#pragma once

#include "../harness/harness.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench::loops {

/// A form of loop: how many steps of a random generator, of about a ns, iteration i of n takes.
struct shape {
    const char* problem;
    double (*steps)(long i, long n);
};

inline double random_share(long i) {
    std::uint64_t z = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

inline constexpr shape k_shapes[] = {
    {"loop_1ns", [](long, long) { return 1.0; }},
    {"loop_1us", [](long, long) { return 800.0; }},
    {"loop_triangular", [](long i, long) { return static_cast<double>(i); }},
    // Pareto, alpha 1.2: a few iterations take a large part of the time.
    {"loop_heavy_tailed",
     [](long i, long) { return std::min(50 * std::pow(1 - random_share(i), -1 / 1.2), 1e6); }},
    {"loop_cluster",
     [](long i, long n) { return i >= n / 2 && i < n / 2 + n / 100 ? 20'000.0 : 20.0; }},
    {"loop_100", [](long, long) { return 100'000.0; }}};

/// The barrier of each step makes all compilers do the same work: clang composes several steps into
/// one multiplication.
inline std::uint64_t result_of(long i, std::uint32_t steps) noexcept {
    std::uint64_t x = static_cast<std::uint64_t>(i) | 1;
    for (std::uint32_t k = 0; k < steps; ++k) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        asm volatile("" : "+r"(x));
    }
    return x;
}

/// The data of a loop, and the iteration.
class work {
public:
    work(const shape& of, long n)
        : m_steps(static_cast<std::size_t>(n)), m_results(static_cast<std::size_t>(n)) {
        for (long i = 0; i < n; ++i) {
            const auto at = static_cast<std::size_t>(i);
            m_steps[at] = static_cast<std::uint32_t>(of.steps(i, n));
            m_right += result_of(i, m_steps[at]);
        }
    }

    void operator()(long i) noexcept {
        const auto at = static_cast<std::size_t>(i);
        m_results[at] = result_of(i, m_steps[at]);
    }

    void check() {
        std::uint64_t sum = 0;
        for (std::uint64_t& each : m_results) {
            sum += std::exchange(each, 0);
        }
        expect_equal("the sum of all results", sum, m_right);
    }

private:
    std::vector<std::uint32_t> m_steps;
    std::vector<std::uint64_t> m_results;
    std::uint64_t m_right = 0;
};

/// a = b + 3 c, limited by memory. One iteration is a run of 64 elements.
class triad {
public:
    static constexpr long k_run = 64;

    explicit triad(long n)
        : m_a(static_cast<std::size_t>(n * k_run)), m_b(m_a.size(), 1), m_c(m_a.size(), 2) {}

    void operator()(long i) noexcept {
        const auto first = static_cast<std::size_t>(i * k_run);
        for (std::size_t k = first; k < first + k_run; ++k) {
            m_a[k] = m_b[k] + 3 * m_c[k];
        }
    }

    void check() {
        for (const double each : m_a) {
            if (each != 7) {
                throw wrong_answer("an element of a is " + std::to_string(each) + " and not 7");
            }
        }
    }

private:
    std::vector<double> m_a, m_b, m_c;
};

/// Registers a way to run loops for every shape: loop(n, f) calls f(i) for each i. `run` makes a
/// job of a repetition, where the runtime expects its work.
template <class Loop, class Run>
class on_all_shapes {
public:
    on_all_shapes(const std::string& variant, Loop loop, Run run) {
        for (const shape& each : k_shapes) {
            contender(each.problem, variant, [loop, run, &each](const arguments& a) -> job {
                return repeated(a, loop, run, std::make_shared<work>(each, a.size));
            });
        }
        contender("loop_triad", variant, [loop, run](const arguments& a) -> job {
            return repeated(a, loop, run, std::make_shared<triad>(a.size));
        });
    }

private:
    template <class Work>
    static job repeated(const arguments& a, const Loop& loop, const Run& run,
                        std::shared_ptr<Work> what) {
        return run(a, [loop, a, what] {
            return timed(
                [&] {
                    loop(a, [&work = *what](long i) { work(i); });
                    return true;
                },
                [&](bool) { what->check(); });
        });
    }
};

}  // namespace bench::loops
