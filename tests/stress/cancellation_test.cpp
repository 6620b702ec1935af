// SPDX-License-Identifier: BSL-1.0
// Requests to stop at random times: of long loops, by threads and tasks, and of groups, scopes and
// chains of futures. Every call must return, and say whether work is missing.
#include "stopwatch.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/task_group.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

using quern::task_cancelled;
using quern::detail::rng;
using quern_test::random_for;
using quern_test::stopwatch;
using clock = std::chrono::steady_clock;

class cancellation : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(cancellation);

/// 10^8 iterations of some ns each, more than run before the request to stop.
[[noreturn]] void long_loop(const std::stop_token& stop) {
    constexpr int k_iterations = quern_test::scaled(100'000'000, 10'000'000);
    const auto term = [](int i) { return 1.0 / (1.0 + i); };
    for (;;) {  // on a fast machine more than once
        quern::parallel_reduce(stop, 0, k_iterations, 0.0, term, std::plus<>());
    }
}

TEST_P(cancellation, ends_a_long_loop_from_a_thread_and_from_a_task) {
    auto random = random_for(workers());
    std::vector<double> microseconds;
    for (const stopwatch watch(1.0); watch.running();) {
        std::stop_source source;
        const auto wait = std::chrono::microseconds(random.below(5'000));
        std::atomic<clock::rep> asked{0};
        const auto ask = [&] {
            asked = clock::now().time_since_epoch().count();
            source.request_stop();
        };
        quern::future<void> by_task;
        std::thread by_thread;
        if (random.below(2) == 0) {
            by_task = quern::async(rt, [&] {
                quern::this_task::sleep_for(wait);
                ask();
            });
        }
        // A sleeping task needs a free worker to wake it, but the loop occupies all. So the thread
        // requests the stop too.
        by_thread = std::thread([&] {
            std::this_thread::sleep_for(wait + std::chrono::milliseconds(by_task.valid() ? 5 : 0));
            if (!source.stop_requested()) {
                ask();
            }
        });
        EXPECT_THROW(inside([&] { long_loop(source.get_token()); }), task_cancelled);
        const auto ended = clock::now().time_since_epoch().count();
        microseconds.push_back(
            std::chrono::duration<double, std::micro>(clock::duration(ended - asked)).count());
        by_thread.join();
        if (by_task.valid()) {
            by_task.get();
        }
    }
    std::sort(microseconds.begin(), microseconds.end());
    std::printf("[ stress   ] %zu loops ended after %.0f us (median), %.0f us (longest)\n",
                microseconds.size(), microseconds[microseconds.size() / 2], microseconds.back());
}

/// Outlives all tasks: a task without a waiter may still run when the others have been stopped.
std::atomic<int> g_done{0};

/// Work of every kind under a token; counts the completed parts.
void under(const std::stop_token& stop, rng& random) {
    const auto count = [] { g_done.fetch_add(1, std::memory_order_relaxed); };
    quern::task_group group(stop);
    std::vector<quern::future<void>> futures;
    for (std::uint32_t i = 0; i < 100; ++i) {
        group.run(count);
        auto done = quern::async({.stop = stop}, count);
        if (random.below(2) == 0) {
            done = done.then({.stop = stop}, [count](auto before) {
                before.get();
                count();
            });
        }
        futures.push_back(std::move(done));
    }
    quern::scope(stop, [&](quern::fork_scope& s) {
        for (int i = 0; i < 100; ++i) {
            s.spawn(count);
        }
    });
    for (auto& f : futures) {
        f.get();
    }
    group.wait();
}

// Holds: stop tokens: Requests may come at any time.
TEST_P(cancellation, at_any_time_ends_work_of_every_kind) {
    auto random = random_for(100 + workers());
    std::size_t stopped = 0, rounds = 0;
    for (const stopwatch watch(1.0); watch.running(); ++rounds) {
        std::stop_source source;
        const int before = g_done;
        std::thread stopper([&source, wait = random.below(300)] {
            quern_test::spin_for(std::chrono::microseconds(wait));
            source.request_stop();
        });
        inside([&] {
            try {
                under(source.get_token(), random);
                EXPECT_GE(g_done - before, 300);
            } catch (const task_cancelled&) {
                ++stopped;
            }
        });
        stopper.join();
    }
    std::printf("[ stress   ] %zu of %zu rounds were stopped\n", stopped, rounds);
    EXPECT_GT(rounds, 0U);
}

}  // namespace
