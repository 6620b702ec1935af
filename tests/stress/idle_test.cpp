// SPDX-License-Identifier: BSL-1.0
// An idle runtime uses no CPU time: never used, after work, throttled, and with waiting tasks.
#include "process.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using quern_test::cpu_seconds_of_others;

constexpr double k_limit = 20e-3 / 10;  // 20 ms in 10 s

/// In half a second. The hang watch looks half a second after the last task, and then ever more
/// rarely; the test wakes itself.
constexpr long k_most_wakes = 10;

/// CPU time that the other threads use while this one sleeps, as a share of one CPU: the least of
/// up to three measurements. This one's own sleep costs 0.2 to 0.8 ms on some machines. On a
/// machine whose memory is taken away meanwhile the first touch of a page may take a millisecond,
/// so a single look of the hang watch may exceed the limit there; what spins or polls exceeds it
/// each time. How often threads wake does not depend on the machine.
double idle_share() {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // searches end meanwhile
    constexpr double k_seconds = quern_test::scaled(0.5, 0.2);
    double least = 1;
    for (int i = 0; i < 3 && least >= k_limit; ++i) {
        const long wakes_before = quern_test::wake_ups();
        const double before = cpu_seconds_of_others();
        std::this_thread::sleep_for(std::chrono::duration<double>(k_seconds));
        least = std::min(least, (cpu_seconds_of_others() - before) / k_seconds);
        EXPECT_LE(quern_test::wake_ups() - wakes_before, k_most_wakes);
    }
    return least;
}

class idle : public quern_test::on_runtime {
protected:
    void SetUp() override {
        if (quern_test::k_sanitized) {
            GTEST_SKIP() << "sanitizers have threads of their own";
        }
    }
};
QUERN_ON_FIRST_POLICIES(idle, 2);

// Holds: runtime: Idle workers cost no processor time.
TEST_P(idle, costs_nothing_before_and_after_work) {
    EXPECT_LT(idle_share(), k_limit);
    std::vector<quern::future<void>> all;
    for (int i = 0; i < 10'000; ++i) {
        all.push_back(quern::async(rt, [] { quern_test::let_others_run(); }));
    }
    for (auto& f : all) {
        f.get();
    }
    EXPECT_LT(idle_share(), k_limit);
}

// Holds: runtime: Idle workers cost no...
TEST_P(idle, costs_nothing_while_tasks_wait_or_workers_are_throttled) {
    quern_test::waiting_room room;
    std::vector<quern::future<void>> all;
    for (int i = 0; i < 100; ++i) {
        all.push_back(quern::async(rt, [&room] { room.wait(); }));
    }
    ASSERT_TRUE(quern_test::eventually([&] { return room.size() == 100U; }));
    EXPECT_LT(idle_share(), k_limit);
    rt.default_pool().set_active_workers(1);
    EXPECT_LT(idle_share(), k_limit);
    room.resume_all();
    for (auto& f : all) {
        f.get();
    }
    EXPECT_LT(idle_share(), k_limit);
}

}  // namespace
