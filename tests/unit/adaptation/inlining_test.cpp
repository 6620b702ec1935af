// SPDX-License-Identifier: BSL-1.0
// launch::adaptive under each rule: results, suspension, what is inlined and what is logged.
#include "on_workers.hpp"

#include <quern/scheduler/sites.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/async.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/promise.hpp>

#include <algorithm>
#include <atomic>
#include <bitset>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

using quern::async;
using quern::dataflow;
using quern::launch;
using quern_test::decisions_of;
using quern_test::message_of;
using quern_test::with_mode;

constexpr const char* k_rules[] = {"quern", "baseline", "adaptive", "always", "never"};

/// An instance that no test has used: kinds are never forgotten.
std::uint64_t new_instance() {
    static std::atomic<std::uint64_t> next{1};
    return next.fetch_add(1);
}

/// The rule of runtimes made from now on; the destructor sets the usual one again.
class with_rule {
public:
    explicit with_rule(const char* rule, const char* plain = "async") {
        quern::set_setting("inlining", rule);
        quern::set_setting("launch", plain);
    }
    with_rule(const with_rule&) = delete;
    with_rule& operator=(const with_rule&) = delete;
    ~with_rule() {
        quern::set_setting("inlining", "quern");
        quern::set_setting("launch", "async");
        const quern::runtime resets_the_rule(quern::runtime_options::with_workers(1));
    }
};

std::uint64_t inlined_of(const char* name) {
    for (const auto& each : quern::all_sites()) {
        if (each.name == name) {
            return each.inlined;
        }
    }
    return 0;
}

class inlining : public quern_test::on_workers {};
QUERN_ON_WORKERS(inlining);

/// Runs `f` in a task of a runtime with each of the rules.
template <class F>
void under_each_rule(const quern::runtime_options& options, F f) {
    for (const char* const rule : k_rules) {
        SCOPED_TRACE(rule);
        const with_rule chosen(rule);
        const quern::runtime rt(options);
        async(rt, f).get();
    }
}

// Holds: launch: adaptive: results and exceptions are delivered under each rule, in tasks and
//     outside.
TEST_P(inlining, delivers_results_and_exceptions) {
    const auto check = [] {
        for (int i = 0; i < 300; ++i) {
            ASSERT_EQ(async(launch::adaptive, [i] { return i; }).get(), i);
            int place = 0;
            ASSERT_EQ(&async(launch::adaptive, [&]() -> int& { return place; }).get(), &place);
            auto owned = async(launch::adaptive, [i] { return std::make_unique<int>(i); });
            ASSERT_EQ(*owned.get(), i);
            ASSERT_THROW(async({.how = launch::adaptive, .name = "throws"},
                               [] { throw std::runtime_error("child"); })
                             .get(),
                         std::runtime_error);
            ASSERT_EQ(async(launch::adaptive, [i] { return i; })
                          .then(launch::adaptive, [](auto f) { return f.get() + 1; })
                          .get(),
                      i + 1);
            ASSERT_EQ(dataflow(
                          launch::adaptive, [](auto a, auto b) { return a.get() + b.get(); },
                          async([i] { return i; }), async(launch::adaptive, [] { return 1; }))
                          .get(),
                      i + 1);
        }
    };
    under_each_rule(options(), check);
    for (const char* const rule : k_rules) {
        SCOPED_TRACE(rule);
        const with_rule chosen(rule);
        const quern::runtime rt(options());
        for (int i = 0; i < 20; ++i) {  // from this thread
            auto where = rt.default_pool();
            const quern::task_attributes how{.how = launch::adaptive, .pool = &where.get()};
            ASSERT_EQ(async(how, [i] { return i; }).get(), i);
            ASSERT_EQ(async(how, [i] { return i; }).then(how, [](auto f) { return f.get(); }).get(),
                      i);
        }
    }
}

// Holds: launch: adaptive: a child whose stop was requested does not run.
TEST_P(inlining, obeys_stop_requests) {
    under_each_rule(options(), [] {
        std::stop_source stop;
        stop.request_stop();
        for (int i = 0; i < 20; ++i) {
            auto f = async({.how = launch::adaptive, .stop = stop.get_token()},
                           [] { ADD_FAILURE() << "it was stopped"; });
            ASSERT_THROW(f.get(), quern::task_cancelled);
        }
    });
}

// Holds: launch: adaptive: always: a child runs at once, and has ended when async returns.
TEST_P(inlining, by_the_rule_always_runs_the_child_at_once) {
    const with_rule chosen("always");
    const quern::runtime rt(options());
    async(rt, [] {
        bool ran = false;
        auto f = async({.how = launch::adaptive, .instance = new_instance()}, [&ran] {
            ran = true;
            EXPECT_TRUE(quern::current_worker_rank() >= 0);
        });
        EXPECT_TRUE(ran);
        EXPECT_TRUE(f.is_ready());
        f.get();
        quern::promise<int> p;
        auto next = p.get_future().then({.how = launch::adaptive, .instance = new_instance()},
                                        [&ran](auto g) {
                                            ran = false;
                                            return g.get();
                                        });
        p.set_value(3);
        EXPECT_FALSE(ran);
        EXPECT_EQ(next.get(), 3);
    }).get();
}

// Holds: launch: adaptive: `then` and dataflow decide when the last input arrives: outside a
//     worker as async.
TEST_P(inlining, of_a_continuation_from_a_thread_outside_queues_it) {
    const with_rule chosen("always");
    const quern::runtime rt(options());
    auto where = rt.default_pool();
    const auto outside = std::this_thread::get_id();
    for (int i = 0; i < 20; ++i) {
        quern::promise<int> p;
        auto next = p.get_future().then(
            {.how = launch::adaptive, .pool = &where.get(), .instance = new_instance()},
            [outside](auto f) {
                EXPECT_NE(std::this_thread::get_id(), outside);
                return f.get();
            });
        p.set_value(i);
        while (!next.is_ready()) {
            std::this_thread::yield();
        }
        EXPECT_EQ(next.get(), i);
    }
}

// Holds: launch: adaptive: a child may wait for what its parent does next.
TEST_P(inlining, of_a_child_that_waits_for_its_parent_does_not_deadlock) {
    under_each_rule(options(), [] {
        const std::uint64_t instance = new_instance();
        for (int i = 0; i < 50; ++i) {
            quern::latch next(1);
            auto f = async({.how = launch::adaptive, .instance = instance}, [&next, i] {
                next.wait();
                return i;
            });
            next.count_down();
            ASSERT_EQ(f.get(), i);
            quern::mutex held;
            std::unique_lock lock(held);
            auto g = async({.how = launch::adaptive, .instance = new_instance()}, [&held, i] {
                const std::scoped_lock own(held);
                return i;
            });
            lock.unlock();
            ASSERT_EQ(g.get(), i);
        }
    });
}

/// The same nested, with children that yield.
long nested(int depth) {
    if (depth == 0) {
        quern::this_task::yield();
        return 1;
    }
    quern::latch next(1);
    auto f = async({.how = launch::adaptive, .instance = new_instance()}, [&next, depth] {
        const long below = nested(depth - 1);
        next.wait();
        return below;
    });
    const long own = nested(depth - 1);
    next.count_down();
    return own + f.get();
}

TEST_P(inlining, of_children_that_wait_may_be_nested) {
    under_each_rule(options(), [] { EXPECT_EQ(nested(6), 64); });
}

// Holds: launch: adaptive: A site that has suspended when it was inlined is spawned from then on.
TEST_P(inlining, of_a_site_that_has_suspended_ends) {
    const with_rule chosen("always");
    const quern::runtime rt(options());
    const std::uint64_t before = inlined_of("suspends");
    async(rt, [] {
        const quern::task_attributes how{
            .how = launch::adaptive, .name = "suspends", .instance = new_instance()};
        for (int i = 0; i < 20; ++i) {
            quern::latch next(1);
            auto f = async(how, [&next] { next.wait(); });
            next.count_down();
            f.get();
        }
    }).get();
    if (quern::counts_sites()) {
        EXPECT_EQ(inlined_of("suspends") - before, 1U);
    }
    const auto logged = decisions_of("inlining-always");
    ASSERT_FALSE(logged.empty());
    EXPECT_EQ(logged.back().after_text, "spawned");
    EXPECT_TRUE(logged.back().subject.starts_with("suspends")) << logged.back().subject;
}

// Holds: launch: adaptive: A site whose inlined child waits for a task is inlined further on.
TEST_P(inlining, continues_for_a_site_that_waits_for_tasks) {
    if (!quern::counts_sites()) {
        GTEST_SKIP() << "counts no sites";
    }
    const with_rule chosen("always");
    const quern::runtime rt(options());
    const std::uint64_t before = inlined_of("waits for a task");
    constexpr std::uint64_t k_times = 10;
    async(rt, [] {
        const quern::task_attributes how{
            .how = launch::adaptive, .name = "waits for a task", .instance = new_instance()};
        for (std::uint64_t i = 0; i < k_times; ++i) {
            quern::latch begun(1);
            quern::latch next(1);
            auto task = async([&] {
                begun.count_down();
                next.wait();
            });
            begun.wait();
            auto f = async(how, [&task] { task.get(); });
            next.count_down();
            f.get();
        }
    }).get();
    EXPECT_EQ(inlined_of("waits for a task") - before, k_times);
}

long chain(int depth) {
    return depth == 0 ? 0 : 1 + async(launch::adaptive, chain, depth - 1).get();
}

// Holds: launch: adaptive: a recursion may be deeper than the limit of nesting.
TEST_P(inlining, may_be_deep) {
    static constexpr int k_depth = quern_test::scaled(3'000, 1'500);  // above the limit of 1000
    under_each_rule(options(), [] { EXPECT_EQ(chain(k_depth), k_depth); });
}

long sum(long first, long last) {
    if (last - first == 1) {
        return first;
    }
    const long middle = std::midpoint(first, last);
    auto left = async(launch::adaptive, sum, first, middle);
    const long right = sum(middle, last);
    return left.get() + right;
}

TEST_P(inlining, sums_by_recursion) {
    constexpr long k_size = quern_test::scaled(5'000L, 500L);
    under_each_rule(options(), [] {
        for (int i = 0; i < 3; ++i) {
            EXPECT_EQ(sum(0, k_size), k_size * (k_size - 1) / 2);
        }
    });
}

// Holds: launch: adaptive: baseline: five short children of an instance are spawned, the next ones
//     inlined, and the change is logged.
TEST_P(inlining, by_the_rule_baseline_begins_after_five) {
    const with_rule chosen("baseline");
    const quern::runtime rt(options());
    constexpr std::size_t k_children = 20;
    using per_child = std::bitset<k_children>;
    const auto children_that_ran_at_once = [&rt] {
        const auto parent = [] {
            const std::uint64_t instance = new_instance();
            per_child at_once;
            for (std::size_t i = 0; i < k_children; ++i) {
                std::atomic<bool> ran = false;
                auto f = async({.how = launch::adaptive, .name = "short", .instance = instance},
                               [&ran] { ran = true; });
                at_once[i] = ran;
                f.get();
            }
            return at_once;
        };
        return async(rt, parent).get();
    };
    const per_child first_five(0b11111);
    // A child that another program interrupts is not short: then with another instance.
    std::size_t before = 0;
    per_child at_once;
    for (int i = 0; i < 50 && (at_once | first_five) != per_child().set(); ++i) {
        before = decisions_of("inlining-baseline").size();
        at_once = children_that_ran_at_once();
        if (GetParam() == 1) {  // else a spawned child may run before its parent looks
            EXPECT_EQ(at_once & first_five, 0) << at_once;
        }
    }
    EXPECT_EQ(at_once | first_five, per_child().set()) << at_once;
    const auto logged = decisions_of("inlining-baseline");
    ASSERT_EQ(logged.size(), before + 1);
    EXPECT_EQ(logged.back().before_text, "spawned");
    EXPECT_EQ(logged.back().after_text, "inlined");
    EXPECT_TRUE(logged.back().applied);
}

// Holds: launch: adaptive: dry-run: changes are logged and every child is spawned; off: neither.
TEST_P(inlining, in_a_dry_run_is_only_logged) {
    for (const char* const mode : {"dry-run", "off"}) {
        SCOPED_TRACE(mode);
        const with_mode as(mode);
        const with_rule chosen("baseline");
        const quern::runtime rt(options());
        const auto before = decisions_of("inlining-baseline").size();
        const std::uint64_t inlined = inlined_of("dry");
        async(rt, [] {
            const std::uint64_t instance = new_instance();
            for (int i = 0; i < 20; ++i) {
                async({.how = launch::adaptive, .name = "dry", .instance = instance}, [] {}).get();
            }
        }).get();
        EXPECT_EQ(inlined_of("dry"), inlined);
        const auto logged = decisions_of("inlining-baseline");
        if (std::string(mode) == "off") {
            EXPECT_EQ(logged.size(), before);
        } else {
            ASSERT_EQ(logged.size(), before + 1);
            EXPECT_FALSE(logged.back().applied);
        }
    }
}

// Holds: launch: adaptive: the setting launch=adaptive lets tasks with launch::async ask the rule.
TEST_P(inlining, may_be_asked_for_by_a_setting) {
    const with_rule chosen("always", "adaptive");
    const quern::runtime rt(options());
    async(rt, [] {
        bool ran = false;
        auto f = async([&ran] { ran = true; });
        EXPECT_TRUE(ran);
        auto g = async({.name = "plain"}, [&ran] { ran = false; });
        EXPECT_FALSE(ran);
        f.get();
        g.get();
    }).get();
}

// Holds: launch: adaptive: reports name inlined children.
TEST_P(inlining, shows_in_reports) {
    const with_rule chosen("always");
    const quern::runtime rt(options());
    async(rt, [] {
        quern::latch next(1);
        auto f =
            async({.how = launch::adaptive, .name = "waiting child", .instance = new_instance()},
                  [&next] { next.wait(); });
        const std::string report = quern::task_report();
        EXPECT_NE(report.find("'waiting child'"), std::string::npos) << report;
        EXPECT_NE(report.find("inlined into its parent"), std::string::npos) << report;
        next.count_down();
        f.get();
    }).get();
}

// Holds: launch: adaptive: A wrong value of a setting: an error that names the accepted ones.
TEST(inlining_settings, refuse_other_words) {
    const std::string rule = message_of([] { quern::set_setting("inlining", "allways"); });
    EXPECT_NE(rule.find("always"), std::string::npos) << rule;
    EXPECT_NE(rule.find("baseline"), std::string::npos) << rule;
    const std::string how = message_of([] { quern::set_setting("launch", "sync"); });
    EXPECT_NE(how.find("adaptive"), std::string::npos) << how;
}

}  // namespace
