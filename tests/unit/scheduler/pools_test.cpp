// SPDX-License-Identifier: BSL-1.0
// Several pools in one runtime: by name, separate from one another, and work between them.
#include <quern/scheduler/runtime.hpp>

#include "on_runtime.hpp"

#include <stdexcept>
#include <vector>

namespace {

using quern::async;
using quern::pool_options;
using quern::runtime;
using quern::runtime_options;

class pools_test : public testing::Test {
protected:
    static runtime_options options() {
        runtime_options all;
        all.pools = {pool_options{.name = "compute", .workers = 2},
                     pool_options{.name = "io", .workers = 1, .policy = "priority-local-fifo"},
                     pool_options{.name = "many", .workers = 8}};
        return all;
    }

    runtime rt{options()};
};

// Holds: runtime: default_pool() is the first pool.
// Holds: runtime: pool(name): std::out_of_range that names the pools there are when there is none.
// Holds: pool_ref: workers(), name() and policy() are those of the pool.
TEST_F(pools_test, are_found_by_name) {
    EXPECT_EQ(rt.pool("compute").workers(), 2U);
    EXPECT_EQ(rt.pool("io").workers(), 1U);
    EXPECT_EQ(rt.pool("io").policy(), "priority-local-fifo");
    EXPECT_EQ(rt.pool("io").name(), "io");
    EXPECT_EQ(&rt.default_pool().get(), &rt.pool("compute").get());
    EXPECT_EQ(rt.workers(), 2U);
}

// Holds: runtime: pool(name): std::out_of_range that names...
TEST_F(pools_test, that_do_not_exist_are_errors_that_name_those_that_do) {
    try {
        (void)rt.pool("ioo");
        FAIL() << "no exception";
    } catch (const std::out_of_range& e) {
        const std::string text = e.what();
        for (const char* part : {"'ioo'", "'compute'", "'io'", "'many'"}) {
            EXPECT_NE(text.find(part), std::string::npos) << text;
        }
    }
}

// Holds: pool_ref: worker(rank) throws std::out_of_range for a rank that there is not.
TEST_F(pools_test, know_their_workers) {
    EXPECT_NO_THROW((void)rt.pool("many").worker(7));
    EXPECT_THROW((void)rt.pool("many").worker(8), std::out_of_range);
}

// Holds: async: Given a pool or a runtime it runs there.
// Holds: task_attributes: pool: the pool that...
// Holds: pool_ref: Pools run what is sent to them, and what their tasks start.
TEST_F(pools_test, run_what_is_sent_to_them) {
    for (const char* name : {"compute", "io", "many"}) {
        auto where = async(rt.pool(name), [] { return std::string(quern::current_pool().name()); });
        EXPECT_EQ(where.get(), name);
    }
}

// Holds: async: A task that is made in a task goes to that one's pool.
// Holds: task_attributes: pool: null means the creator's, outside the default runtime's first.
// Holds: pool_ref: Pools run what is...
TEST_F(pools_test, keep_the_tasks_that_their_tasks_start) {
    auto inner = async(rt.pool("io"), [] {
        return async([] { return std::string(quern::current_pool().name()); }).get();
    });
    EXPECT_EQ(inner.get(), "io");
}

// Holds: pool_ref: Tasks of several pools may wait for one another.
TEST_F(pools_test, let_tasks_wait_for_one_another) {
    auto result = async(rt.pool("io"), [this] {
        int sum = 0;
        for (int i = 0; i < 200; ++i) {
            auto there = async(rt.pool("many"), [this, i] {
                auto back = async(rt.pool("io"), [i] { return i; });
                return back.get();
            });
            sum += there.get();
            EXPECT_EQ(quern::current_pool().name(), "io");
        }
        return sum;
    });
    EXPECT_EQ(result.get(), 199 * 200 / 2);
}

// Holds: pool_ref: totals() are those of its workers, apart from other pools'.
TEST_F(pools_test, count_apart) {
    for (int i = 0; i < 10; ++i) {
        async(rt.pool("many"), [] {}).get();
    }
    EXPECT_TRUE(quern_test::eventually([&] { return rt.pool("many").totals().tasks == 10; }));
    EXPECT_EQ(rt.pool("compute").totals().tasks, 0U);
}

// Holds: runtime: Two pools of one name, and no pool, are std::invalid_argument.
TEST(pools, of_one_name_are_refused) {
    runtime_options options;
    options.pools = {pool_options{.name = "a", .workers = 1},
                     pool_options{.name = "a", .workers = 1}};
    EXPECT_THROW(runtime{options}, std::invalid_argument);
}

// Holds: runtime: The destructor waits for all...
TEST(pools, wait_for_one_another_at_their_end) {
    int done = 0;
    {
        runtime_options options;
        options.pools = {pool_options{.name = "first", .workers = 1},
                         pool_options{.name = "second", .workers = 1}};
        runtime rt(options);
        const quern::pool_ref first = rt.pool("first");
        quern::post({.pool = &rt.pool("second").get()}, [first, &done] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            quern::post({.pool = &first.get()}, [&done] { done = 1; });
        });
    }
    EXPECT_EQ(done, 1);  // every ready task of the runtime has run
}

}  // namespace
