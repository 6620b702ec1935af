// SPDX-License-Identifier: BSL-1.0
// Counters count each call, at a locality and of an object, as a task where it runs, and the time
// in its function as time of tasks.
#include "on_job.hpp"

#include <quern/localities/object.hpp>
#include <quern/scheduler/sites.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::object;
using quern::localities::root;
using quern::localities::run_at;

constexpr std::uint64_t k_calls = scaled(400, 100);
constexpr std::uint64_t k_few = 20;
constexpr std::chrono::microseconds k_body{50};

struct tasks_and_time {
    std::uint64_t tasks = 0;
    double running_ns = 0;
};
tasks_and_time totals_here() {
    const quern::worker_totals now = quern::runtime::default_instance().totals();
    return {now.tasks, now.running_ns};
}

void spin_here() { spin_for(k_body); }
struct spinner {
    void alone() { spin_for(k_body); }
    void shared() const { spin_for(k_body); }
};

class localities_task_counts : public on_job {
protected:
    void SetUp() override {
        if (!quern::counts_sites()) {
            GTEST_SKIP() << "counters are compiled out";
        }
    }

    /// k_calls calls, one by one and all at once, are `each` tasks at most at the locality, and at
    /// least one. A few that were there before may be counted late.
    template <class Call>
    static void expect_tasks(int where, std::uint64_t each, Call call) {
        call().get();  // what it needs once is there
        const tasks_and_time before = run_at(where, &totals_here).get();
        for (std::uint64_t i = 0; i < k_calls / 2; ++i) {
            call().get();
        }
        std::vector<quern::future<void>> at_once;
        for (std::uint64_t i = k_calls / 2; i < k_calls; ++i) {
            at_once.push_back(call());
        }
        for (auto& one : at_once) {
            one.get();
        }
        tasks_and_time after;
        std::uint64_t looks = 0;  // each is a task too
        const double least = 0.99e3 * static_cast<double>(k_body.count() * k_calls);
        EXPECT_TRUE(eventually([&] {
            ++looks;
            after = run_at(where, &totals_here).get();
            return after.tasks - before.tasks >= k_calls &&
                   after.running_ns - before.running_ns >= least;
        })) << after.tasks - before.tasks
            << " tasks, " << after.running_ns - before.running_ns << " ns in them";
        EXPECT_LE(after.tasks - before.tasks, each * k_calls + k_few + looks);
    }
};
QUERN_ON_1_2_WORKERS(localities_task_counts);

// Holds: run_at: Each call counts as one task where it runs, and its function's time as that task's.
TEST_P(localities_task_counts, of_calls_at_localities) {
    if (here() != root) {
        return;
    }
    for (const int where : {here(), next_locality()}) {
        expect_tasks(where, 1, [where] { return run_at(where, &spin_here); });
    }
}

// Holds: object: Each call counts as one task where it runs, or two if it comes from elsewhere and
//     has to wait, and its function's time as that of one.
TEST_P(localities_task_counts, of_calls_of_objects) {
    if (here() != root) {
        return;
    }
    for (const int where : {here(), next_locality()}) {
        const auto one = make_at<spinner>(where);
        const std::uint64_t each = where == here() ? 1 : 2;
        expect_tasks(where, each, [&] { return one.call(&spinner::alone); });
        expect_tasks(where, each, [&] { return one.call(&spinner::shared); });
    }
}

}  // namespace
