// SPDX-License-Identifier: BSL-1.0
// The examples of docs/porting/openmp.md, run and checked: the OpenMP version of a program
// (`..._omp`; without OpenMP the pragmas are ignored and the code is serial) and Quern's. The lines
// between two markers `// [name]` are those of the page, which ../check_examples.py compares.
#include <quern/quern.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

TEST(porting_from_openmp, a_loop) {
    const int n = 10'000;
    const double a = 2.0;
    std::vector<double> x(n, 1.0), y(n, 1.0);
    // [for_omp]
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        y[i] += a * x[i];
    }
    // [for_omp]
    EXPECT_EQ(y, std::vector<double>(n, 3.0));
    // [for]
    quern::parallel_for(0, n, [&](int i) { y[i] += a * x[i]; });
    // [for]
    EXPECT_EQ(y, std::vector<double>(n, 5.0));
}

TEST(porting_from_openmp, a_reduction) {
    const int n = 10'000;
    std::vector<double> x(n, 0.5), y(n, 2.0);
    // [reduction_omp]
    double dot = 0;
#pragma omp parallel for reduction(+ : dot)
    for (int i = 0; i < n; ++i) {
        dot += x[i] * y[i];
    }
    // [reduction_omp]
    EXPECT_EQ(dot, n);
    const double before = std::exchange(dot, 0);
    // [reduction]
    dot = quern::parallel_reduce(
        0, n, 0.0, [&](int i) { return x[i] * y[i]; }, std::plus<>{});
    // [reduction]
    EXPECT_EQ(dot, before);
}

// [tasks_omp]
long fib_omp(int n) {
    if (n < 2) return n;
    long a, b;
#pragma omp task shared(a) if (n > 20)
    a = fib_omp(n - 1);
    b = fib_omp(n - 2);
#pragma omp taskwait
    return a + b;
}
// [tasks_omp]

// [tasks]
long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = quern::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}
// [tasks]

TEST(porting_from_openmp, recursive_tasks) {
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = fib_omp(23);
    EXPECT_EQ(result, 28'657);
    EXPECT_EQ(fib(23), 28'657);
}

struct node {
    std::atomic<int> visits{0};
    node* next = nullptr;
};

void process(node& n) { ++n.visits; }

TEST(porting_from_openmp, tasks_over_a_list) {
    std::vector<node> nodes(1'000);
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
        nodes[i].next = &nodes[i + 1];
    }
    node* const first = nodes.data();
    // [list_omp]
#pragma omp parallel
#pragma omp single
    for (node* n = first; n != nullptr; n = n->next) {
#pragma omp task firstprivate(n)
        process(*n);
    }
    // [list_omp]
    // [list]
    quern::scope([&](quern::fork_scope& s) {
        for (node* n = first; n != nullptr; n = n->next) {
            s.spawn([n] { process(*n); });
        }
    });
    // [list]
    for (const node& n : nodes) {
        EXPECT_EQ(n.visits, 2);
    }
}

TEST(porting_from_openmp, a_taskloop) {
    const int n = 100;
    std::vector<int> solved(n);
    const auto solve = [&](int i) { ++solved[i]; };
    // [taskloop_omp]
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < n; ++i) {
        solve(i);
    }
    // [taskloop_omp]
    // [taskloop]
    quern::parallel_for(0, n, quern::grain::fixed(1), [&](int i) { solve(i); });
    // [taskloop]
    EXPECT_EQ(solved, std::vector<int>(n, 2));
}

int first() { return 20; }
int second() { return 1; }
int both(int a, int b) { return 2 * (a + b); }

TEST(porting_from_openmp, tasks_that_depend_on_others) {
    int result_omp = 0;
    {
        // [depend_omp]
        int a = 0, b = 0, c = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task depend(out : a) shared(a)
            a = first();
#pragma omp task depend(out : b) shared(b)
            b = second();
#pragma omp task depend(in : a, b) shared(a, b, c)
            c = both(a, b);
        }
        // [depend_omp]
        result_omp = c;
    }
    EXPECT_EQ(result_omp, 42);
    // [depend]
    quern::future<int> a = quern::async(first);
    quern::future<int> b = quern::async(second);
    quern::future<int> c = quern::dataflow(quern::unwrapping(both), std::move(a), std::move(b));
    // [depend]
    EXPECT_EQ(c.get(), 42);
}

TEST(porting_from_openmp, a_critical_section) {
    const int n = 1'000;
    std::vector<std::string> lines;
    // [critical_omp]
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
        std::string line = std::to_string(i);
#pragma omp critical(lines)
        lines.push_back(std::move(line));
    }
    // [critical_omp]
    // [critical]
    quern::mutex m;
    quern::parallel_for(0, n, [&](int i) {
        std::string line = std::to_string(i);
        const std::scoped_lock lock(m);
        lines.push_back(std::move(line));
    });
    // [critical]
    EXPECT_EQ(lines.size(), 2U * n);
}

TEST(porting_from_openmp, a_loop_that_is_cancelled) {
    const int n = 10'000;
    const auto fits = [](int i) { return i % 100 == 77; };
    int found = -1;
    // [cancel_omp]
#pragma omp parallel
#pragma omp for
    for (int i = 0; i < n; ++i) {
        if (fits(i)) {
#pragma omp atomic write
            found = i;
#pragma omp cancel for
        }
    }
    // [cancel_omp]
    EXPECT_TRUE(fits(found));
}

TEST(porting_from_openmp, a_parallel_region_with_a_barrier) {
    const int n = 4, steps = 20;
    std::atomic<int> calls{0};
    std::atomic<bool> in_step{true};
    const auto relax = [&](int, int step) {
        const int before = calls++;
        in_step = in_step && before >= step * n && before < (step + 1) * n;
    };
    // [region]
    quern::barrier all(n);
    quern::task_group team;
    for (int me = 0; me < n; ++me) {
        team.run([&, me] {
            for (int step = 0; step < steps; ++step) {
                relax(me, step);
                all.arrive_and_wait();
            }
        });
    }
    team.wait();
    // [region]
    EXPECT_EQ(calls, n * steps);
    EXPECT_TRUE(in_step);
}

}  // namespace
