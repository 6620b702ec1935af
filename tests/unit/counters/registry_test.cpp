// SPDX-License-Identifier: BSL-1.0
// Which counters exist, how they are found, and how a program adds its own.
#include <quern/counters/counter.hpp>
#include <quern/counters/registry.hpp>

#include "unit/counters/expect_refusal.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace {

namespace counters = quern::counters;
using quern_test::expect_part;
using quern_test::refusal_of;

class registry_test : public testing::Test {
protected:
    std::vector<std::string> names(std::string_view pattern) const {
        std::vector<std::string> result;
        for (const auto& each : counters::discover(pattern, rt)) {
            result.push_back(each.name);
        }
        return result;
    }

    static quern::runtime_options two_pools() {
        quern::runtime_options options;
        options.pools = {{.name = "default", .workers = 2}, {.name = "io", .workers = 1}};
        return options;
    }

    quern::runtime rt{two_pools()};
};

using texts = std::vector<std::string>;

// Holds: counters: A name without instance is the total; `*` stands for the total and every worker,
//     `pool#*` for pools.
TEST_F(registry_test, takes_the_total_where_no_instance_is_named) {
    EXPECT_EQ(names("/threads/idle-rate"), texts{"/threads{locality#0/total}/idle-rate"});
}

// Holds: counters: A name without instance...
TEST_F(registry_test, counts_workers_through_all_pools) {
    EXPECT_EQ(names("/threads{locality#*/worker-thread#*}/idle-rate"),
              (texts{"/threads{locality#0/worker-thread#0}/idle-rate",
                     "/threads{locality#0/worker-thread#1}/idle-rate",
                     "/threads{locality#0/worker-thread#2}/idle-rate"}));
}

// Holds: counters: A name without instance...
TEST_F(registry_test, takes_total_and_workers_for_a_star) {
    EXPECT_EQ(names("/threads{*}/idle-rate").size(), 4U);
    EXPECT_EQ(names("/threads{worker-thread#2}/idle-rate"),
              texts{"/threads{locality#0/worker-thread#2}/idle-rate"});
}

// Holds: counters: A name without instance...
TEST_F(registry_test, names_the_workers_of_pools) {
    EXPECT_EQ(names("/threads{pool#io/*}/idle-rate"),
              (texts{"/threads{locality#0/pool#io/total}/idle-rate",
                     "/threads{locality#0/pool#io/worker-thread#0}/idle-rate"}));
    EXPECT_EQ(names("/threads{locality#0/pool#*/total}/idle-rate").size(), 2U);
}

// Holds: counters: discover(), create(), add(): std::invalid_argument for a name that no counter
//     has, with the nearest one, and for an instance that the runtime has not.
TEST_F(registry_test, says_what_is_near_an_unknown_name) {
    const std::string why = refusal_of([&] { names("/threads/time/averge"); });
    expect_part(why, "'/threads/time/averge'");
    expect_part(why, "did you mean '/threads/time/average'?");
    expect_part(refusal_of([&] { names("/threads/idle"); }), "did you mean '/threads/idle-rate'?");
}

// Holds: counters: discover(), create(), add(): std::invalid_argument...
TEST_F(registry_test, says_which_instances_there_are) {
    const std::string why = refusal_of([&] { names("/threads{worker-thread#3}/idle-rate"); });
    expect_part(why, "no instance 'worker-thread#3'");
    expect_part(why, "locality#0/total, worker-thread#0 to #2, pool#");
    expect_part(refusal_of([&] { names("/runtime{worker-thread#0}/uptime"); }),
                "there is only locality#0/total");
}

TEST_F(registry_test, refuses_parameters_where_none_are_taken) {
    expect_part(refusal_of([&] { names("/threads/idle-rate@5"); }), "takes no parameters");
}

TEST_F(registry_test, has_every_name_once_and_all_with_help) {
    std::set<std::string> seen;
    for (const counters::counter_info& each : counters::all_counters()) {
        EXPECT_TRUE(seen.insert(each.name).second) << each.name;
        EXPECT_FALSE(each.help.empty()) << each.name;
        EXPECT_EQ(names(each.name).size(), 1U) << each.name;
    }
}

// Holds: counters: install(): a counter of the program's own; std::invalid_argument for a name that
//     is malformed or taken.
TEST_F(registry_test, reads_a_function_of_the_program) {
    double steps = 100;
    const auto kept =
        counters::install("/app/steps", [&] { return steps; }, {.unit = "steps", .help = "done"});
    auto reader = counters::create("/app/steps", rt);
    steps = 142;
    const counters::counter_value value = reader.value();
    EXPECT_TRUE(value.ok());
    EXPECT_EQ(value.value, 42);  // since the reader was made
    EXPECT_EQ(value.unit, "steps");
    EXPECT_EQ(value.name, "/app{locality#0/total}/steps");
}

// Holds: counters: install(): a counter of...
TEST_F(registry_test, reads_a_level_as_it_is) {
    const auto kept = counters::install("/app/level", [] { return 7.0; },
                                        {.kind = counters::counter_kind::level});
    EXPECT_EQ(counters::create("/app/level", rt).value().value, 7);
}

// Holds: counters: installation: after its end the counter is not read any more; remove() waits for
//     readers.
TEST_F(registry_test, forgets_a_counter_whose_installation_has_gone) {
    auto kept = counters::install("/app/short", [] { return 1.0; });
    auto reader = counters::create("/app/short", rt);
    kept.remove();
    EXPECT_EQ(reader.value().state, counters::source_state::absent);
    expect_part(reader.value().why, "removed");
    expect_part(refusal_of([&] { names("/app/short"); }), "no counter is called");
    const auto again = counters::install("/app/short", [] { return 2.0; });
    EXPECT_EQ(names("/app/short").size(), 1U);
}

// Holds: counters: install(): what the function throws makes the counter unavailable with that
//     text.
TEST_F(registry_test, shows_what_the_function_throws) {
    const auto kept = counters::install(
        "/app/broken", []() -> double { throw std::runtime_error("no such sensor"); });
    const auto value = counters::create("/app/broken", rt).value();
    EXPECT_FALSE(value.ok());
    EXPECT_EQ(value.why, "no such sensor");
}

// Holds: counters: install(): a counter of...
TEST_F(registry_test, refuses_names_that_cannot_be_installed) {
    const auto install = [](const char* name) {
        return refusal_of([name] { (void)counters::install(name, [] { return 0.0; }); });
    };
    expect_part(install("/threads/idle-rate"), "already");
    expect_part(install("app"), "at character 1");
    expect_part(install("/app/a*"), "wildcards");
    expect_part(install("/app{total}/a"), "without instance");
    expect_part(install("/statistics/a"), "not /arithmetics or /statistics");
    expect_part(refusal_of([] { (void)counters::install("/app/none", nullptr); }), "no function");
}

// Holds: counters: installation: after its end...
TEST_F(registry_test, waits_at_a_removal_for_readers_inside) {
    for (int i = 0; i < quern_test::scaled(200, 20); ++i) {
        auto alive = std::make_unique<std::atomic<bool>>(true);
        std::atomic<bool> stop{false};
        std::atomic<int> faults{0};
        auto kept = counters::install("/app/fleeting", [&, of = alive.get()] {
            faults += of->load() ? 0 : 1;
            return 1.0;
        });
        counters::counter_set set(rt);
        set.add("/app/fleeting");
        std::thread other([&] {
            while (!stop) {
                set.evaluate();
            }
        });
        kept.remove();
        alive->store(false);
        stop = true;
        other.join();
        EXPECT_EQ(faults, 0);
    }
}

// Holds: counters: The runtime that is meant is that of the task, or the only one; std::logic_error
//     where there are several.
TEST(runtime_that_is_meant, is_that_of_the_task) {
    quern::runtime one(quern::runtime_options::with_workers(1));
    quern::runtime two(quern::runtime_options::with_workers(2));
    const auto workers = [] { return counters::discover("/threads{worker-thread#*}/idle-rate"); };
    EXPECT_EQ(quern::async(one, workers).get().size(), 1U);
    EXPECT_EQ(quern::async(two, workers).get().size(), 2U);
    EXPECT_THROW(workers(), std::logic_error);
}

// Holds: counters: The runtime that is...
TEST(runtime_that_is_meant, is_the_only_one) {
    quern::runtime one(quern::runtime_options::with_workers(3));
    EXPECT_EQ(counters::discover("/threads{worker-thread#*}/idle-rate").size(), 3U);
}

// Holds: counters: A set may outlive its runtime: its values are unavailable then.
TEST(reader, may_outlive_its_runtime) {
    auto rt = std::make_unique<quern::runtime>(quern::runtime_options::with_workers(2));
    counters::counter_set set(*rt);
    set.add("/threads{*}/count/cumulative");
    rt.reset();
    for (const auto& each : set.evaluate().values) {
        EXPECT_FALSE(each.ok());
        expect_part(each.why, "has ended");
    }
}

}  // namespace
