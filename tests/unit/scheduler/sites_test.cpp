// SPDX-License-Identifier: BSL-1.0
// Statistics of sites against what the program itself has counted: calls, time and suspensions.
// Bounds are eight standard deviations of the sample, so that chance does not matter.
#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/symbols.hpp>
#include <quern/scheduler/sites.hpp>
#include <quern/task/task_group.hpp>

#include "in_child.hpp"
#include "on_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using quern::site_statistics;
using quern_test::on_lone_runtime;
using quern_test::scaled;

constexpr double k_sigmas = 8;

/// What was not sampled before the first sample: twice the largest weight.
constexpr double k_unseen = 2048;

site_statistics of_name(const std::vector<site_statistics>& all, const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const site_statistics& each) { return each.name == name; });
    return found != all.end() ? *found : site_statistics();
}

/// Spins, and adds what that took to a sum: a thread that is interrupted takes longer.
void spin(double ns, std::atomic<std::uint64_t>& sum) {
    const auto begun = quern::detail::ticks();
    const auto enough = quern::detail::ticks_of_ns(ns);
    quern::detail::tick_count spent = 0;
    while (spent < enough) {
        spent = quern::detail::ticks() - begun;
    }
    sum.fetch_add(spent, std::memory_order_relaxed);
}

double in_ns(const std::atomic<std::uint64_t>& ticks) {
    return static_cast<double>(ticks.load()) * quern::detail::ns_per_tick();
}

class sites_test : public on_lone_runtime {
protected:
    void SetUp() override {
        if (!quern::counts_sites()) {
            GTEST_SKIP() << "counters are compiled out";
        }
    }

    site_statistics now(const std::string& name) const {
        return of_name(quern::site_statistics_of(rt), name);
    }

    quern::task_attributes named(const char* name) const {
        return {.name = name, .pool = &rt.default_pool().get()};
    }

    void expect_calls(const std::string& name, double calls) const {
        const site_statistics seen = now(name);
        EXPECT_NEAR(seen.calls, calls, k_sigmas * seen.calls_error + k_unseen) << name;
        EXPECT_LT(seen.calls_error, calls / 4) << name << ": says nothing";
        EXPECT_GT(seen.samples, 0U) << name;
    }

    /// Between what the tasks were to take and what they have taken: a rare interruption of a
    /// thread counts where it hits a sample, with the weight of that. `each`: what a task takes
    /// beside its spinning.
    void expect_time(const std::string& name, double least_ns, double most_ns, double each) const {
        const site_statistics seen = now(name);
        const double chance = k_sigmas * seen.exclusive_error_ns;
        EXPECT_GE(seen.exclusive_ns, 0.8 * least_ns - chance) << name;
        EXPECT_LE(seen.exclusive_ns, 1.2 * most_ns + chance + each * seen.calls) << name;
    }
};
QUERN_ON_1_2_8_WORKERS(sites_test);

// Holds: site_statistics: calls: an estimate without bias, of tasks however they are made.
TEST_P(sites_test, count_calls_of_tiny_tasks_of_every_kind) {
    const int calls = scaled(200'000, 20'000);
    inside([&] {
        quern::task_group group;
        quern::task_group bounded(quern::bounded(64));
        for (int i = 0; i < calls; ++i) {
            group.run({.name = "grouped"}, [] {});
            bounded.run({.name = "bounded"}, [] {});
            quern::post({.name = "posted"}, [] {});
            quern::async({.name = "waited for"}, [] {}).get();
            if (i % 1024 == 0) {
                group.wait();
                quern::this_task::yield();
            }
        }
        group.wait();
        bounded.wait();
    });
    rt.default_pool().get().wait_until_quiet();
    for (const char* name : {"grouped", "bounded", "posted", "waited for"}) {
        expect_calls(name, calls);
    }
}

// Holds: site_statistics: calls_error: 0 where every task was timed, as long ones are.
TEST_P(sites_test, time_every_long_task) {
    // Each worker samples its first tasks. Instrumented, these are more, so that more must follow.
    constexpr int k_calls = scaled(400, 4'000);
    std::atomic<std::uint64_t> spent{0};
    inside([&] {
        for (int i = 0; i < k_calls; ++i) {
            quern::async({.name = "long"}, [&] { spin(50'000, spent); }).get();
        }
    });
    const site_statistics seen = now("long");
    EXPECT_NEAR(seen.calls, k_calls, k_sigmas * seen.calls_error + k_calls / 50.0);
    EXPECT_LT(seen.calls_error, k_calls / 10.0);
    expect_time("long", k_calls * 50e3, in_ns(spent), 500);
}

// Holds: site_statistics: exclusive_ns: without the tasks that they run meanwhile.
TEST_P(sites_test, tell_the_time_of_a_task_from_that_of_one_that_it_runs_in_its_place) {
    const int calls = scaled(20'000, 2'000);
    constexpr double k_us = scaled(1e3, 1e4);  // so that instrumented code is a small part, too
    std::atomic<std::uint64_t> outer{0}, inner{0};
    inside([&] {
        for (int i = 0; i < calls; ++i) {
            quern::async({.name = "outer"}, [&] {
                spin(1 * k_us, outer);
                quern::async({.name = "inner"}, [&] {
                    quern::post({.name = "made within"}, [] {});
                    spin(3 * k_us, inner);  // the last piece, which begins within the task
                }).get();
                spin(6 * k_us, outer);
            }).get();
        }
    });
    expect_time("outer", calls * 7 * k_us, in_ns(outer), 500);
    expect_time("inner", calls * 3 * k_us, in_ns(inner), 500);
}

// Holds: site_statistics: exclusive_ns: two sites whose tasks take 1 and 3 parts of the time.
TEST_P(sites_test, show_the_ratio_of_two_kinds_of_tasks) {
    constexpr int k_calls = 20'000;  // fewer give too few samples for the bound of the error
    std::atomic<std::uint64_t> one{0}, three{0};
    inside([&] {
        quern::task_group group;
        for (int i = 0; i < k_calls; ++i) {
            group.run({.name = "one"}, [&] { spin(2'000, one); });
            group.run({.name = "three"}, [&] { spin(6'000, three); });
        }
        group.wait();
    });
    expect_calls("one", k_calls);
    expect_calls("three", k_calls);
    expect_time("one", k_calls * 2e3, in_ns(one), 500);
    expect_time("three", k_calls * 6e3, in_ns(three), 500);
}

// Holds: site_statistics: suspensions: exact.
TEST_P(sites_test, count_each_suspension) {
    constexpr int k_tasks = 20;
    quern_test::waiting_room room;
    std::vector<quern::future<void>> all;
    for (int i = 0; i < k_tasks; ++i) {
        all.push_back(quern::async(named("waits"), [&] {
            room.wait();
            room.wait();
        }));
    }
    for (int round = 1; round <= 2; ++round) {
        ASSERT_TRUE(quern_test::eventually([&] { return room.size() == k_tasks; }));
        EXPECT_EQ(now("waits").suspensions, static_cast<std::uint64_t>(round * k_tasks));
        room.resume_all();
    }
    for (auto& each : all) {
        each.get();
    }
    EXPECT_EQ(now("waits").suspensions, 2U * k_tasks);
    std::uint64_t sum = 0;
    for (const site_statistics& each : quern::site_statistics_of(rt)) {
        sum += each.suspensions;
    }
    EXPECT_EQ(sum, rt.totals().suspensions);
}

// Holds: site_statistics: any thread, also a task, while tasks run.
TEST_P(sites_test, can_be_read_while_tasks_run) {
    std::atomic<bool> stop{false};
    std::thread reader([&] {
        double before = 0;
        while (!stop.load()) {
            const double calls = of_name(quern::all_sites(), "read meanwhile").calls;
            EXPECT_GE(calls, before);
            before = calls;
        }
    });
    inside([] {
        for (int i = 0; i < 2'000; ++i) {
            quern::async({.name = "read meanwhile"}, [] {}).get();
            if (i % 100 == 0) {
                EXPECT_FALSE(quern::all_sites().empty());
            }
        }
    });
    stop.store(true);
    reader.join();
}

#if QUERN_TEST_HAS_LINES
// Holds: site_statistics: id: name@file:line.
TEST_P(sites_test, have_a_name_that_does_not_depend_on_addresses) {
    const std::string line = std::to_string(__LINE__ + 1);
    inside([&] { quern::async({.name = "identified"}, [] { quern::this_task::yield(); }).get(); });
    const site_statistics seen = now("identified");
    EXPECT_EQ(seen.location, "sites_test.cpp:" + line);
    EXPECT_EQ(seen.id, "identified@sites_test.cpp:" + line);
}
#endif

// Holds: site_statistics: register_site(): statistics print the place in the stead of a code
//     address; the same place gives the same token.
TEST_P(sites_test, may_be_places_of_another_language) {
    const quern::foreign_site place{
        .language = "Python", .function = "relax", .file = "/home/x/solver.py", .line = 42};
    const void* const token = quern::register_site(place);
    EXPECT_EQ(quern::register_site(place), token);
    EXPECT_NE(quern::register_site({.language = "Python", .function = "relax"}), token);
    auto made = named(nullptr);
    made.site = token;
    quern::async(made, [] { quern::this_task::yield(); }).get();
    const site_statistics seen = now("relax (Python)");
    EXPECT_EQ(seen.site, token);
    EXPECT_EQ(seen.location, "solver.py:42");
    EXPECT_EQ(seen.id, "relax (Python)@solver.py:42");
    EXPECT_EQ(seen.suspensions, 1U);
}

// Holds: site_statistics: register_site() throws std::invalid_argument for a place without function
//     and file, or with a line below 0.
TEST(a_foreign_site, without_function_and_file_is_refused) {
    EXPECT_THROW(quern::register_site({.language = "Python", .line = 3}), std::invalid_argument);
    try {
        quern::register_site({.function = "f", .line = -3});
        ADD_FAILURE();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("line -3"), std::string::npos) << error.what();
    }
}

// Holds: site_statistics: register_site(): further places share one token, which says so. In a
//     process of its own, as the table is full then.
TEST(a_foreign_site, beyond_the_room_shares_a_token_that_says_so) {
    const auto end = quern_test::in_child({}, [](int&, char**) {
        std::set<const void*> tokens;
        const void* last = nullptr;
        for (int i = 1; i <= 5'000; ++i) {
            last = quern::register_site({.file = "many.py", .line = i});
            tokens.insert(last);
        }
        const auto first = quern::register_site({.file = "many.py", .line = 1});
        std::fputs(quern::detail::describe_site(last).c_str(), stdout);
        return tokens.size() == 4096 && tokens.count(first) == 1 && first != last ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.output, "(further places of other languages)");
}

// Holds: site_statistics: room for 4095 sites in a process; the rest is counted together.
TEST(more_sites_than_there_is_room_for, are_counted_together) {
    if (!quern::counts_sites()) {
        GTEST_SKIP() << "counters are compiled out";
    }
    const auto end = quern_test::in_child({}, [](int&, char**) {
        static const char k_addresses[6'000] = {};
        const quern::runtime rt(quern::runtime_options::with_workers(1));
        std::uint64_t suspended = 0;
        quern::async(rt, [&] {
            for (const char& each : k_addresses) {
                quern::post({.site = &each}, [] { quern::this_task::yield(); });
                quern::this_task::yield();
                quern::this_task::yield();
            }
        }).get();
        rt.default_pool().get().wait_until_quiet();
        const auto all = quern::site_statistics_of(rt);
        for (const site_statistics& each : all) {
            suspended += each.suspensions;
        }
        const site_statistics others = of_name(all, "(other sites)");
        return all.size() <= 4096 && all.size() > 3'000 && others.suspensions >= 1'900 &&
                       suspended == rt.totals().suspensions
                   ? 0
                   : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

TEST(without_counters, sites_show_nothing) {
    if (quern::counts_sites()) {
        GTEST_SKIP() << "there are counters";
    }
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::async(rt, [] { quern::this_task::yield(); }).get();
    EXPECT_TRUE(quern::site_statistics_of(rt).empty());
}

}  // namespace
