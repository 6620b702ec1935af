// SPDX-License-Identifier: BSL-1.0
// When only a sample of short tasks is recorded, it stands for the others: numbers and times are
// about right, and no long task is left out.
#include "record/sampling.hpp"

#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_group.hpp>
#include <quern/trace/efficiency.hpp>
#include <quern/trace/recorder.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using quern::trace::recording;
using quern::trace::site;
using quern::trace::detail::sampling;

TEST(sampling, takes_all_unless_told_otherwise) {
    sampling all;
    EXPECT_TRUE(all.takes_all());
    all.aim(16);
    EXPECT_FALSE(all.takes_all());
    all.aim(sampling::k_all);
    EXPECT_TRUE(all.takes_all());
}

TEST(sampling, weights_add_up_to_what_there_was) {
    sampling some;
    some.aim(16);
    constexpr int k_tasks = 100'000;
    int sum = 0;
    int taken = 0;
    for (int i = 0; i < k_tasks; ++i) {
        const int weight = some.weigh();
        sum += weight;
        taken += weight != 0 ? 1 : 0;
    }
    EXPECT_NEAR(sum, k_tasks, 0.05 * k_tasks);
    EXPECT_NEAR(taken, k_tasks / 16, 0.05 * k_tasks / 16);
}

TEST(sampling, begins_anew_with_each_aim) {
    sampling some;
    some.aim(sampling::k_most);
    some.weigh();
    some.weigh();
    some.aim(4);
    int sum = 0;
    for (int i = 0; i < 1'000; ++i) {
        sum += some.weigh();
    }
    EXPECT_NEAR(sum, 1'000, 200);
}

TEST(sampling, is_not_in_step_with_kinds_that_come_in_turn) {
    sampling some;
    some.aim(16);
    constexpr int k_tasks = 100'000;
    int sums[2] = {0, 0};
    for (int i = 0; i < k_tasks; ++i) {
        sums[i % 2] += some.weigh();
    }
    EXPECT_NEAR(sums[0], k_tasks / 2, 0.1 * k_tasks);
    EXPECT_NEAR(sums[1], k_tasks / 2, 0.1 * k_tasks);
}

TEST(sampling, adapts_to_how_short_tasks_are) {
    const auto us = quern::detail::ticks_of_ns(1'000);
    const auto taken_of = [us](sampling& some, int tasks, std::uint64_t per_us) {
        int taken = 0;
        for (int i = 0; i < tasks; ++i) {
            if (some.weigh() != 0) {
                ++taken;
                some.adapt(us * 1'000 + static_cast<std::uint64_t>(i) * us / per_us);
            }
        }
        return taken;
    };
    sampling tiny;
    tiny.aim(sampling::k_auto);
    EXPECT_LT(taken_of(tiny, 20'000, 20), 1'200);  // in 1 ms: one in 2 us, and those at the begin
    sampling fair;
    fair.aim(sampling::k_auto);
    EXPECT_GT(taken_of(fair, 1'000, 1), 100);  // in 1 ms too
}

site named(const recording& run, std::string_view name) {
    for (const site& s : run.sites) {
        if (s.name == name) {
            return s;
        }
    }
    return {};
}

class sampling_test : public quern_test::on_runtime {
protected:
    template <class F>
    recording record(std::uint32_t sample, F&& f) {
        quern::trace::recorder_options options;
        options.events_per_worker = 0;
        options.sample = sample;
        quern::trace::recorder recorder(rt, options);
        inside(std::forward<F>(f));
        rt.default_pool().get().wait_until_quiet();
        return recorder.stop();
    }

    /// Records until the times of all kinds agree with the workers'. A few attempts, because an
    /// interruption of a sampled task counts for all the tasks that it stands for.
    template <class F>
    recording record_whole(std::uint32_t sample, const F& f) {
        constexpr int k_attempts = 10;
        recording run = record(sample, f);
        for (int i = 1; i < k_attempts && !is_whole(run); ++i) {
            run = record(sample, f);
        }
        EXPECT_TRUE(quern_test::k_sanitized || is_whole(run));
        return run;
    }

    /// The times of all kinds agree with the workers': at least the time of bodies, at most that of
    /// bodies and the runtime's work; a piece includes the work between the loop and the body.
    static bool is_whole(const recording& run) {
        double sites = 0;
        for (const site& s : run.sites) {
            sites += s.total_ns;
        }
        double bodies = 0;
        double work = 0;
        for (const auto& lane : run.lanes) {
            bodies += lane.totals.running_ns;
            work += lane.totals.managing_ns;
        }
        return sites >= 0.7 * bodies - 1e5 && sites <= 1.3 * (bodies + work) + 1e5;
    }
};
QUERN_ON_STEALING_POLICIES(sampling_test);

TEST_P(sampling_test, estimates_short_tasks_and_counts_long_ones) {
    constexpr int k_rounds = 40;
    const recording run = record_whole(16, [] {
        quern::task_group group;
        for (int round = 0; round < k_rounds; ++round) {
            for (int i = 0; i < 50; ++i) {
                group.run({.name = "even"}, [] {});
                group.run({.name = "odd"}, [] {});
            }
            group.run({.name = "long"}, [] { quern_test::spin_for(50us); });
        }
        group.wait();
    });
    EXPECT_EQ(named(run, "long").tasks, k_rounds);
    EXPECT_GE(named(run, "long").total_ns, k_rounds * 50e3);
    if (!quern_test::k_sanitized) {  // sanitized tasks take 2 us or more
        for (const char* const kind : {"even", "odd"}) {
            EXPECT_NEAR(static_cast<double>(named(run, kind).tasks), 50 * k_rounds,
                        0.5 * 50 * k_rounds)
                << kind;
        }
        EXPECT_LT(run.tasks_seen, 1'500U);
        const std::string note = quern::trace::efficiency_of(run).note;
        EXPECT_NE(note.find("are a sample"), std::string::npos) << note;
    }
}

TEST_P(sampling_test, gives_the_time_of_inlined_tasks_to_nobody_else) {
    constexpr int k_tasks = 2'000;
    const recording run = record_whole(16, [] {
        quern::async({.name = "outer"}, [] {
            quern_test::spin_for(5ms);
            for (int i = 0; i < k_tasks; ++i) {
                const auto time = i % 100 == 0 ? 50us : 0us;
                quern::async({.name = time > 0us ? "long" : "short"}, [time] {
                    quern_test::spin_for(time);
                }).get();
            }
        }).get();
    });
    EXPECT_EQ(named(run, "outer").tasks, 1U);
    EXPECT_GE(named(run, "outer").total_ns, 5e6);
    EXPECT_EQ(named(run, "long").tasks, k_tasks / 100);
    if (!quern_test::k_sanitized) {
        EXPECT_NEAR(static_cast<double>(named(run, "short").tasks), 0.99 * k_tasks, 0.5 * k_tasks);
    }
}

TEST_P(sampling_test, follows_tasks_that_wait) {
    constexpr int k_tasks = 400;
    const recording run = record(4, [] {
        std::vector<quern::promise<void>> gates(k_tasks);
        std::vector<quern::future<void>> all;
        for (auto& gate : gates) {
            all.push_back(quern::async({.name = "waits"}, [f = gate.get_future()]() mutable {
                f.get();
                quern_test::spin_for(10us);
            }));
        }
        quern_test::let_others_run();
        for (auto& gate : gates) {
            gate.set_value();
        }
        for (auto& each : all) {
            each.get();
        }
    });
    EXPECT_EQ(named(run, "waits").tasks, k_tasks);  // long, because of their wait
    EXPECT_GE(named(run, "waits").total_ns, k_tasks * 10e3);
}

TEST_P(sampling_test, none_is_passed_over_when_all_are_wanted) {
    const recording run = record(1, [] {
        for (int i = 0; i < 1'000; ++i) {
            quern::async({.name = "short"}, [] {}).get();
        }
    });
    EXPECT_EQ(named(run, "short").tasks, 1'000U);
}

TEST(sampling, refuses_what_it_cannot_do) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::trace::recorder_options options;
    options.sample = 40'000;
    EXPECT_THROW(quern::trace::recorder(rt, options), std::invalid_argument);
}

}  // namespace
