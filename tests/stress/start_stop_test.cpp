// SPDX-License-Identifier: BSL-1.0
// A great many runtimes that start and end: neither memory nor threads grow, and all their tasks
// are done.
#include "process.hpp"
#include "random_program.hpp"
#include "stopwatch.hpp"

#include <cstdio>
#include <thread>
#include <vector>

namespace {

using quern::runtime;
using quern::runtime_options;
using quern_test::random_for;
using quern_test::random_program;
using quern_test::resident_bytes;
using quern_test::scaled;
using quern_test::stopwatch;

// Holds: runtime: Start and end leave nothing behind.
TEST(start_stop, ten_thousand_times_leaves_nothing_behind) {
    constexpr int k_cycles = scaled(10'000, 200);
    constexpr int k_warm_up = k_cycles / 10;
    std::size_t memory = 0;
    std::size_t threads = 0;
    for (int i = 0; i < k_cycles; ++i) {
        if (i == k_warm_up) {
            memory = resident_bytes();
            threads = quern_test::thread_count_at_rest();
        }
        runtime rt(runtime_options::with_workers(2));
        if (i % 3 == 0) {
            ASSERT_EQ(quern::async(rt, [i] { return i; }).get(), i);
        }
    }
    EXPECT_TRUE(quern_test::becomes_thread_count(threads));
    std::printf("[ stress   ] %d cycles: %zu -> %zu KiB resident\n", k_cycles - k_warm_up,
                memory >> 10, resident_bytes() >> 10);
    if (!quern_test::k_sanitized) {
        constexpr std::size_t k_noise = std::size_t{4} << 20;  // bytes: variation of the heap
        EXPECT_LT(resident_bytes(), memory + k_noise);
    }
}

TEST(start_stop, with_random_programs_under_way) {
    auto random = random_for(0);
    for (const stopwatch watch(3.0); watch.running();) {
        const unsigned workers = 1 + random.below(8);
        const std::uint64_t seed = random.next();
        constexpr int k_budget = 4;
        std::vector<std::uint64_t> values(1 + random.below(5), 0);
        {
            runtime rt(runtime_options::with_workers(
                workers, random.below(2) == 0 ? "work-stealing" : "priority-local-fifo"));
            std::vector<quern::future<void>> all;
            for (std::size_t i = 0; i < values.size(); ++i) {
                all.push_back(quern::async(
                    rt, [&v = values[i], s = seed + i] { v = random_program::run(s, k_budget); }));
            }
            if (random.below(4) == 0) {
                std::this_thread::sleep_for(std::chrono::microseconds(random.below(500)));
            }
            for (auto& f : all) {
                f.get();
            }
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            ASSERT_EQ(values[i], random_program::run_serially(seed + i, k_budget)) << seed + i;
        }
    }
}

TEST(start_stop, without_waiting_for_the_tasks) {
    auto random = random_for(1);
    for (const stopwatch watch(2.0); watch.running();) {
        std::vector<int> runs(random.below(300), 0);
        {
            runtime rt(runtime_options::with_workers(1 + random.below(8)));
            for (int& r : runs) {
                quern::post({.urgency = static_cast<quern::priority>(random.below(3)),
                             .worker = static_cast<int>(random.below(9)) - 1,
                             .pool = &rt.default_pool().get()},
                            [&r] {
                                quern_test::let_others_run();
                                ++r;
                            });
            }
        }
        ASSERT_EQ(runs, std::vector<int>(runs.size(), 1));
    }
}

TEST(start_stop, of_several_runtimes_at_once) {
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([t] {
            auto random = random_for(10 + t);
            for (const stopwatch watch(2.0); watch.running();) {
                runtime rt(runtime_options::with_workers(1 + random.below(3)));
                const std::uint64_t seed = random.next();
                ASSERT_EQ(quern::async(rt, [seed] { return random_program::run(seed, 3); }).get(),
                          random_program::run_serially(seed, 3));
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

}  // namespace
