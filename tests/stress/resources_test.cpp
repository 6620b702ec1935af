// SPDX-License-Identifier: BSL-1.0
// Resources used by very many objects: a hundred thousand tasks on one latch, a hundred thousand
// that sleep, a recursion a million deep. Prints its measurements.
#include "process.hpp"
#include "stopwatch.hpp"

#include <quern/quern.hpp>

#include <algorithm>
#include <vector>

namespace {

using quern_test::k_sanitized;
using quern_test::resident_bytes;
using quern_test::scaled;
using quern_test::thread_count;

// Holds: latch: Tasks and threads may...
TEST(stress_resources, a_hundred_thousand_tasks_wait_on_one_latch) {
    const int tasks = scaled(100'000, quern::detail::k_tsan ? 2'000 : 20'000);
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::latch arrived(tasks);
    quern::latch gate(1);
    std::atomic<int> through{0};
    quern::task_group group(rt.default_pool());
    for (int i = 0; i < tasks; ++i) {
        group.run([&] {
            arrived.count_down();
            gate.wait();
            through.fetch_add(1, std::memory_order_relaxed);
        });
    }
    arrived.wait();
    EXPECT_EQ(through.load(), 0);
    std::printf("[ stress   ] %d tasks suspended: %zu threads, %zu MiB resident\n", tasks,
                thread_count(), resident_bytes() >> 20);
    if (!k_sanitized) {
        EXPECT_LE(thread_count(), 2U + 2U);
        EXPECT_LT(resident_bytes(), std::size_t{1'300} << 20);
    }
    gate.count_down();
    group.wait();
    EXPECT_EQ(through.load(), tasks);
}

long chain(quern::fork_context c, int depth) {
    if (depth == 0) {
        return 0;
    }
    auto [f, g] = quern::fork_join(
        c, [] { return 1L; }, [depth](auto next) { return chain(next, depth - 1); });
    return f + g;
}

TEST(stress_resources, a_recursion_a_million_deep) {
    const int depth = scaled(1'000'000, 20'000);
    quern::runtime rt(quern::runtime_options::with_workers(2));
    const long sum = quern::async(rt, [depth] {
                         return quern::fork_join(
                             [depth](quern::fork_context c) { return chain(c, depth); }, [] {});
                     }).get();
    EXPECT_EQ(sum, depth);
}

TEST(stress_resources, a_hundred_thousand_tasks_sleep) {
    using clock = std::chrono::steady_clock;
    const int tasks = scaled(100'000, quern::detail::k_tsan ? 2'000 : 20'000);
    quern::runtime rt(quern::runtime_options::with_workers(2));
    auto random = quern_test::random_for(0);
    std::vector<clock::time_point> due, woken(static_cast<std::size_t>(tasks));
    const auto start = clock::now() + std::chrono::seconds(1);  // all sleep by then
    for (int i = 0; i < tasks; ++i) {
        due.push_back(start + std::chrono::microseconds(random.below(1'000'000)));
    }
    quern::task_group group(rt.default_pool());
    for (std::size_t i = 0; i < due.size(); ++i) {
        group.run([&due, &woken, i] {
            quern::this_task::sleep_until(due[i]);
            woken[i] = clock::now();
        });
    }
    const double cpu = quern_test::cpu_seconds();
    group.wait();
    std::vector<double> late_us;
    for (std::size_t i = 0; i < due.size(); ++i) {
        late_us.push_back(std::chrono::duration<double, std::micro>(woken[i] - due[i]).count());
    }
    std::sort(late_us.begin(), late_us.end());
    EXPECT_GE(late_us.front(), 0.0);
    std::printf(
        "[ stress   ] %d sleepers: late by %.0f us median, %.0f us at 99 %%; %.2f s of CPU\n",
        tasks, late_us[late_us.size() / 2], late_us[late_us.size() * 99 / 100],
        quern_test::cpu_seconds() - cpu);
}

}  // namespace
