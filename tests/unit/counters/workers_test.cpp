// SPDX-License-Identifier: BSL-1.0
// Invariants of the workers' counters at any moment, also under load: sums over the workers are
// totals, nothing is negative, means times counts are sums, and the parts make the whole.
#include <quern/counters/counter.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

namespace counters = quern::counters;
using quern_test::eventually;

long fib(int n) {
    if (n < 2) {
        return n;
    }
    auto [a, b] = quern::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

/// The available values of a snapshot by name.
std::map<std::string, double> by_name(const counters::snapshot& of) {
    std::map<std::string, double> result;
    for (const auto& each : of.values) {
        if (each.ok()) {
            result[each.name] = each.value;
        }
    }
    return result;
}

class workers_counters_test : public quern_test::on_runtime {
protected:
    void SetUp() override {
        set.add("/threads{*}/*");
        set.add("/threads{pool#default/total}/*");
        set.reset();
    }

    static std::string name(const std::string& instance, const std::string& counter) {
        return "/threads{locality#0/" + instance + "}/" + counter;
    }

    void expect_sums(const std::map<std::string, double>& values) const {
        for (const char* const each :
             {"time/cumulative", "time/cumulative-overhead", "time/cumulative-idle", "time/overall",
              "count/cumulative", "count/cumulative-phases", "count/inlined", "count/suspensions",
              "count/stolen-to-pending", "count/pending-accesses", "count/pending-misses",
              "count/objects", "count/stack-recycles", "count/parks", "count/wakes"}) {
            double sum = 0;
            for (unsigned rank = 0; rank < workers(); ++rank) {
                sum += values.at(name("worker-thread#" + std::to_string(rank), each));
            }
            const double total = values.at(name("total", each));
            // A decrease of a worker's time by a few hundred ns is cut off at 0.
            EXPECT_NEAR(sum, total, 1e-9 * total + 1e3 * workers()) << each;
            EXPECT_EQ(total, values.at(name("pool#default/total", each))) << each;
        }
    }

    static void expect_fits(const std::map<std::string, double>& values,
                            const std::string& instance) {
        const auto at = [&](const char* counter) { return values.at(name(instance, counter)); };
        EXPECT_GE(at("time/cumulative-overhead"), 0);
        // A search that was counted before the baseline may fail after it: at most one per worker.
        EXPECT_LE(at("count/pending-misses"), at("count/pending-accesses") + 8);
        const double whole = at("time/overall");
        EXPECT_NEAR(
            at("time/cumulative") + at("time/cumulative-overhead") + at("time/cumulative-idle"),
            whole, 0.01 * whole + 1000);
        if (at("count/cumulative") > 0) {
            EXPECT_NEAR(at("time/average") * at("count/cumulative"), at("time/cumulative"),
                        1e-9 * whole);
            EXPECT_NEAR(at("time/average-overhead") * at("count/cumulative"),
                        at("time/cumulative-overhead"), 1e-9 * whole);
        }
        // A task that began before the baseline may end after it: its phase is not counted.
        if (at("count/cumulative-phases") > 0) {
            EXPECT_NEAR(at("time/average-phase") * at("count/cumulative-phases"),
                        at("time/cumulative"), 1e-9 * whole);
        }
        ASSERT_GT(whole, 0);
        EXPECT_NEAR(at("starvation-rate") + at("overhead-rate"), at("idle-rate"), 1e-3);
        EXPECT_LE(at("idle-rate"), 10'000.001);
    }

    void expect_all(const counters::snapshot& of) const {
        const auto values = by_name(of);
        expect_sums(values);
        expect_fits(values, "total");
        for (unsigned rank = 0; rank < workers(); ++rank) {
            expect_fits(values, "worker-thread#" + std::to_string(rank));
        }
    }

    /// Once every worker has begun, no time is 0.
    bool all_have_begun() {
        return eventually([this] {
            for (unsigned rank = 0; rank < workers(); ++rank) {
                if (rt.default_pool().worker(rank).total_ns() == 0) {
                    return false;
                }
            }
            return true;
        });
    }

    counters::counter_set set{rt};
};
QUERN_ON_STEALING_POLICIES(workers_counters_test);

// Holds: counters: A set reads each...
// Holds: counters: The three times add up to the whole, nothing is negative, means times counts are
//     sums.
TEST_P(workers_counters_test, fit_together_after_work) {
    ASSERT_TRUE(all_have_begun());
    set.reset();
    EXPECT_EQ(inside([] { return fib(quern_test::scaled(20, 12)); }),
              quern_test::scaled(6765, 144));
    rt.default_pool().get().wait_until_quiet();
    expect_all(set.evaluate());
}

// Holds: counters: A set reads each...
// Holds: counters: The three times add...
TEST_P(workers_counters_test, fit_together_under_load) {
    ASSERT_TRUE(all_have_begun());
    set.reset();
    std::atomic<bool> stop{false};
    struct tasks {
        std::atomic<bool>& stop;
        std::vector<quern::future<void>> all{};
        ~tasks() {
            stop = true;
            for (auto& f : all) {
                f.wait();
            }
        }
    } load{stop};
    for (unsigned i = 0; i < 2 * workers(); ++i) {
        load.all.push_back(quern::async(rt, [&stop, seed = i] {
            std::minstd_rand random(seed + 1);
            while (!stop) {
                switch (random() % 3) {
                    case 0:
                        fib(8);
                        break;
                    case 1:
                        quern::async([] {}).get();
                        break;
                    default:
                        quern_test::let_others_run();
                }
            }
        }));
    }
    for (int i = 0; i < quern_test::scaled(100, 20); ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        expect_all(set.evaluate(i % 7 == 0));
    }
}

TEST_P(workers_counters_test, count_every_task) {
    constexpr int k_tasks = 100;
    std::vector<quern::future<void>> all;
    for (int i = 0; i < k_tasks; ++i) {
        all.push_back(quern::async(rt, [] {}));
    }
    for (auto& f : all) {
        f.get();
    }
    rt.default_pool().get().wait_until_quiet();
    EXPECT_EQ(by_name(set.evaluate()).at(name("total", "count/cumulative")), k_tasks);
}

// Holds: counters: The numbers of the moment: running, ready, suspended tasks.
TEST_P(workers_counters_test, show_the_tasks_of_the_moment) {
    quern_test::waiting_room room;
    quern_test::spin_gate hold;
    std::vector<quern::future<void>> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(quern::async(rt, [&] { room.wait(); }));
    }
    ASSERT_TRUE(eventually([&] { return room.size() == 3; }));
    for (unsigned i = 0; i < workers(); ++i) {
        all.push_back(quern::async(rt, [&] { hold.pass(); }));
    }
    const auto now = [this](const char* counter) {
        return by_name(set.evaluate())[name("total", counter)];
    };
    EXPECT_TRUE(eventually([&] { return now("count/instantaneous/active") == workers(); }));
    for (int i = 0; i < 5; ++i) {
        all.push_back(quern::async(rt, [] {}));
    }
    EXPECT_EQ(now("count/instantaneous/suspended"), 3);
    EXPECT_EQ(now("count/instantaneous/pending"), 5);
    EXPECT_EQ(now("count/instantaneous/all"), 8 + workers());
    EXPECT_EQ(counters::create("/threadqueue/length", rt).value().value, 5);
    EXPECT_EQ(counters::create("/scheduler/utilization/instantaneous", rt).value().value, 100);
    hold.open();
    room.resume_all();
    for (auto& f : all) {
        f.get();
    }
    rt.default_pool().get().wait_until_quiet();
    EXPECT_EQ(now("count/instantaneous/all"), 0);
}

TEST_P(workers_counters_test, tell_how_long_workers_have_had_work_or_none) {
    quern_test::spin_gate hold;
    const auto now = [this](const char* counter) {
        const counters::counter_value read = counters::create(counter, rt).value();
        return read.ok() ? read.value : -1.0;
    };
    std::vector<quern::future<void>> all;
    for (unsigned i = 0; i < workers(); ++i) {
        all.push_back(quern::async(rt, [&] { hold.pass(); }));
    }
    EXPECT_TRUE(
        eventually([&] { return now("/threads/count/instantaneous/active") == workers(); }));
    EXPECT_EQ(now("/threads/idle-loop-count/instantaneous"), 0);
    EXPECT_GE(now("/threads/busy-loop-count/instantaneous"), workers());
    hold.open();
    for (auto& f : all) {
        f.get();
    }
    rt.default_pool().get().wait_until_quiet();
    EXPECT_GE(now("/threads/idle-loop-count/instantaneous"), workers());
    EXPECT_EQ(now("/threads/busy-loop-count/instantaneous"), 0);
}

// Holds: counters: What is unavailable says why and is never 0.
TEST_P(workers_counters_test, say_why_a_number_is_missing) {
    for (const auto& each : set.evaluate().values) {
        EXPECT_TRUE(each.ok() || !each.why.empty()) << each.name;
    }
}

/// With one worker it is certain which tasks it takes, and when.
std::vector<quern_test::setting> with_one_worker() {
    std::vector<quern_test::setting> all;
    for (const quern::scheduling_policy& policy : quern::scheduling_policies()) {
        all.push_back({1, policy.name.data()});  // a literal
    }
    return all;
}

class wait_time_counters_test : public workers_counters_test {};
INSTANTIATE_TEST_SUITE_P(on, wait_time_counters_test, testing::ValuesIn(with_one_worker()),
                         quern_test::name_of_setting);

TEST_P(wait_time_counters_test, are_those_of_tasks_behind_others) {
    using namespace std::chrono_literals;
    inside([] {});
    set.reset();
    const auto start = std::chrono::steady_clock::now();
    inside([] {
        quern::task_group group;
        for (int i = 0; i < 201; ++i) {  // of which three are timed
            group.run([] { quern_test::spin_for(100us); });
        }
        group.wait();
    });
    const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - start;
    const auto values = by_name(set.evaluate());
    for (const char* const each : {"wait-time/pending", "wait-time/staged"}) {
        // First in, first out: 0, 6.7 and 13.4 ms, and nearly 0 for the task around them.
        EXPECT_GT(values.at(name("total", each)), 4e6) << each;
        EXPECT_LT(values.at(name("total", each)), all.count()) << each;
    }
}

TEST_P(wait_time_counters_test, are_those_of_tasks_that_go_on_too) {
    using namespace std::chrono_literals;
    inside([] {});
    set.reset();
    inside([] {
        quern::counting_semaphore<> turn(0);
        auto other = quern::async([&turn] {
            for (int i = 0; i < 201; ++i) {  // of which three are timed
                turn.acquire();
            }
        });
        for (int i = 0; i < 201; ++i) {
            quern::this_task::yield();  // is queued behind the other tasks
            turn.release();
            quern_test::spin_for(50us);
        }
        other.get();
    });
    const auto values = by_name(set.evaluate());
    EXPECT_GT(values.at(name("total", "wait-time/pending")), 25e3);
}

}  // namespace
