// SPDX-License-Identifier: BSL-1.0
// What must not grow or burn: runtimes made and ended ten thousand times, a hundred thousand tasks
// suspended at once, a recursion a million deep, an idle runtime.
#include "seed.hpp"

#include <quern/quern.hpp>

#include <sys/resource.h>
#include <fstream>
#include <string>

namespace {

using quern_test::k_sanitized;
using quern_test::scaled;

long resident_kib() {
    std::ifstream file("/proc/self/statm");
    long size = 0;
    long resident = 0;
    file >> size >> resident;
    return resident * 4;
}

int threads_of_process() {
    std::ifstream file("/proc/self/status");
    std::string word;
    while (file >> word) {
        if (word == "Threads:") {
            int count = 0;
            file >> count;
            return count;
        }
    }
    return -1;
}

double cpu_seconds() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

TEST(stress_resources, ten_thousand_runtimes_leave_nothing_behind) {
    const int cycles = scaled(10'000, 200);
    const auto one_cycle = [](int i) {
        quern::runtime rt(quern::runtime_options::with_workers(2));
        if (i % 4 == 0) {
            EXPECT_EQ(quern::async(rt, [i] { return i; }).get(), i);
        }
    };
    for (int i = 0; i < cycles / 10; ++i) {
        one_cycle(i);
    }
    const long before = resident_kib();
    const int threads = threads_of_process();
    for (int i = 0; i < cycles; ++i) {
        one_cycle(i);
    }
    EXPECT_EQ(threads_of_process(), threads);
    if (!k_sanitized) {
        constexpr long k_noise_kib = 1024;
        EXPECT_LT(resident_kib() - before, k_noise_kib);
    }
}

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
    std::printf("[ stress   ] %d tasks suspended: %d threads, %ld MiB resident\n", tasks,
                threads_of_process(), resident_kib() / 1024);
    if (!k_sanitized) {
        EXPECT_LE(threads_of_process(), 2 + 2);
        EXPECT_LT(resident_kib(), 1'300'000);
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

TEST(stress_resources, idle_workers_use_no_cpu) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::async(rt, [] { quern::parallel_for(0, 1'000'000, [](int) {}); }).get();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const double before = cpu_seconds();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    constexpr double k_allowed = 0.004;  // 20 ms in ten seconds
    EXPECT_LT(cpu_seconds() - before, k_allowed);
}

}  // namespace
