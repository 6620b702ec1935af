// SPDX-License-Identifier: BSL-1.0
// Several pools in one runtime: by name, apart from one another, and work that crosses over.
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

TEST_F(pools_test, are_found_by_name) {
    EXPECT_EQ(rt.pool("compute").workers(), 2U);
    EXPECT_EQ(rt.pool("io").workers(), 1U);
    EXPECT_EQ(rt.pool("io").policy(), "priority-local-fifo");
    EXPECT_EQ(rt.pool("io").name(), "io");
    EXPECT_EQ(&rt.default_pool().get(), &rt.pool("compute").get());
    EXPECT_EQ(rt.workers(), 2U);
}

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

TEST_F(pools_test, know_their_workers) {
    EXPECT_NO_THROW((void)rt.pool("many").worker(7));
    EXPECT_THROW((void)rt.pool("many").worker(8), std::out_of_range);
}

TEST_F(pools_test, run_what_is_sent_to_them) {
    for (const char* name : {"compute", "io", "many"}) {
        auto where = async(rt.pool(name), [] { return std::string(quern::current_pool().name()); });
        EXPECT_EQ(where.get(), name);
    }
}

TEST_F(pools_test, keep_the_tasks_that_their_tasks_start) {
    auto inner = async(rt.pool("io"), [] {
        return async([] { return std::string(quern::current_pool().name()); }).get();
    });
    EXPECT_EQ(inner.get(), "io");
}

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

TEST_F(pools_test, count_apart) {
    for (int i = 0; i < 10; ++i) {
        async(rt.pool("many"), [] {}).get();
    }
    EXPECT_TRUE(quern_test::eventually([&] { return rt.pool("many").totals().tasks == 10; }));
    EXPECT_EQ(rt.pool("compute").totals().tasks, 0U);
}

TEST(pools, of_one_name_are_refused) {
    runtime_options options;
    options.pools = {pool_options{.name = "a", .workers = 1},
                     pool_options{.name = "a", .workers = 1}};
    EXPECT_THROW(runtime{options}, std::invalid_argument);
}

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
