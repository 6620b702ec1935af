// SPDX-License-Identifier: BSL-1.0
// The hooks and the counts: every begin has one end or one suspension, also when a worker switches
// directly from the end of one task to its waiter.
#include <quern/scheduler/detail/hooks.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_group.hpp>

#include "on_runtime.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace {

using quern::detail::context;
using quern::detail::hooks;
using quern::detail::work;
using quern::detail::worker;

/// The events, in order; of one worker, so no lock is needed.
std::vector<char> events;  // NOLINT: the hooks are plain functions

constexpr hooks k_recorder{
    .item_begins = [](const hooks&, worker&, work&, context*) { events.push_back('b'); },
    .item_ends = [](const hooks&, worker&) { events.push_back('e'); },
    .suspends = [](const hooks&, worker&) { events.push_back('s'); },
};

class accounting_test : public testing::Test {
protected:
    template <class F>
    void record(F&& f) {
        events.clear();
        rt.default_pool().get().set_hooks(&k_recorder);
        quern::async(rt, std::forward<F>(f)).get();
        rt.default_pool().get().wait_until_quiet();
        rt.default_pool().get().set_hooks(nullptr);
    }

    /// Between two beginnings there is exactly one end or suspension.
    static void expect_pairs() {
        bool begun = false;
        for (const char event : events) {
            ASSERT_EQ(event == 'b', !begun) << std::string(events.begin(), events.end());
            begun = event == 'b';
        }
        EXPECT_FALSE(begun);
    }

    static auto count(char event) { return std::count(events.begin(), events.end(), event); }

    quern::runtime rt{quern::runtime_options::with_workers(1)};
};

TEST_F(accounting_test, pairs_beginnings_with_ends_and_suspensions) {
    record([] {
        for (int i = 0; i < 3; ++i) {
            quern_test::let_others_run();
        }
    });
    expect_pairs();
    EXPECT_EQ(count('b'), 4);
    EXPECT_EQ(count('s'), 3);
    EXPECT_EQ(count('e'), 1);
}

TEST_F(accounting_test, pairs_them_when_a_group_hands_over_to_its_owner) {
    record([] {
        quern::task_group group;
        group.run({.stack = quern::stack_class::medium}, [] {});  // not run by the owner itself
        group.wait();
    });
    expect_pairs();
    EXPECT_EQ(count('b'), 3);  // the owner, the task, the owner again
    EXPECT_EQ(count('s'), 1);
    EXPECT_EQ(count('e'), 2);
}

TEST_F(accounting_test, counts_a_task_that_gives_way_as_suspended) {
    const auto before = rt.totals().suspensions;
    record([] {
        auto forked = quern::async(quern::launch::fork, [] {});
        forked.get();
    });
    expect_pairs();
    EXPECT_EQ(rt.totals().suspensions - before, 1U);
}

TEST_F(accounting_test, counts_an_activation_once_when_a_task_moves_to_a_larger_stack) {
    const auto before = rt.totals().activations;
    quern::async({.stack = quern::stack_class::large, .pool = &rt.default_pool().get()}, [] {
    }).get();
    rt.default_pool().get().wait_until_quiet();
    EXPECT_EQ(rt.totals().activations - before, 1U);
}

// Holds: task_attributes: urgency: a task keeps...
TEST_F(accounting_test, keeps_the_priority_of_a_task_that_has_waited) {
    std::vector<char> order;
    quern::promise<void> go;
    const auto gate = go.get_future().share();
    for (const auto& [urgency, name] :
         {std::pair{quern::priority::low, 'l'}, std::pair{quern::priority::normal, 'n'},
          std::pair{quern::priority::high, 'h'}}) {
        quern::post({.urgency = urgency, .pool = &rt.default_pool().get()},
                    [&order, gate, name = name] {
                        gate.wait();
                        order.push_back(name);
                    });
    }
    rt.default_pool().get().wait_until_quiet();  // all three wait
    quern::async(rt, [&go] { go.set_value(); }).get();
    rt.default_pool().get().wait_until_quiet();
    EXPECT_EQ(order, (std::vector<char>{'h', 'n', 'l'}));
}

}  // namespace
