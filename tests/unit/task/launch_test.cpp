// SPDX-License-Identifier: BSL-1.0
// The launch policies: when and where each starts a task, and that all deliver the same
// results.
#include <quern/task/async.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/when.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using quern::async;
using quern::future;
using quern::launch;
using quern_test::scaled;

constexpr launch k_all[] = {launch::async, launch::fork, launch::deferred, launch::sync,
                            launch::adaptive};

class launch_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(launch_test);

// Holds: launch: All policies deliver results and exceptions, in tasks and outside.
TEST_P(launch_test, of_every_kind_delivers_results_and_exceptions) {
    const auto check = [] {
        for (const launch how : k_all) {
            EXPECT_EQ(async(
                          how, [](int n) { return n; }, 3)
                          .get(),
                      3);
            EXPECT_THROW(async(how, [] { throw std::runtime_error("task"); }).get(),
                         std::runtime_error);
            int place = 0;
            EXPECT_EQ(&async(how, [&]() -> int& { return place; }).get(), &place);
        }
    };
    inside(check);
    check();  // and from outside, on the default runtime
}

// Holds: launch: The policies are a bitmask type; `~` gives those of the five that are not named.
TEST(launch_policies, are_a_bitmask) {
    static_assert((launch::async | launch::deferred) != launch::async);
    static_assert(((launch::async | launch::deferred) & launch::async) == launch::async);
    static_assert((launch::async & launch::deferred) == launch{});
    static_assert((launch::async ^ (launch::async | launch::sync)) == launch::sync);
    static_assert(~(launch::fork | launch::sync) ==
                  (launch::async | launch::deferred | launch::adaptive));
    static_assert(~~launch::sync == launch::sync);
    launch how = launch::async;
    how |= launch::deferred;
    how &= ~launch::async;
    EXPECT_EQ(how, launch::deferred);
    how ^= launch::deferred;
    EXPECT_EQ(how, launch{});
}

// Holds: launch: Of several that are named the first one of async, fork, deferred, sync, adaptive
//     is taken.
TEST_P(launch_test, that_names_several_takes_the_first) {
    inside([] {
        bool ran = false;
        auto f = async(launch::deferred | launch::sync, [&ran] { ran = true; });
        EXPECT_FALSE(ran);
        f.get();
        EXPECT_TRUE(ran);
        EXPECT_EQ(async(launch::async | launch::deferred, [] { return 1; }).get(), 1);
        EXPECT_EQ(async(~launch::async, [] { return 2; }).get(), 2);
        EXPECT_EQ(async([] { return 1; })
                      .then(launch::async | launch::sync, [](auto g) { return g.get(); })
                      .get(),
                  1);
    });
}

// Holds: launch: The last three are for tasks of a quern::domain; others refuse them.
TEST_P(launch_test, attributes_of_dependent_tasks_are_refused) {
    inside([] {
        EXPECT_THROW((void)async({.deferred = false}, [] {}), std::invalid_argument);
        EXPECT_THROW(quern::post({.final = true}, [] {}), std::invalid_argument);
        EXPECT_THROW((void)async({.wait = true}, [] {}), std::invalid_argument);
    });
}

// Holds: launch: A launch policy that names none: std::invalid_argument. **Differs**: undefined
//     there.
TEST_P(launch_test, that_names_none_is_refused) {
    inside([] {
        EXPECT_THROW((void)async(launch{}, [] {}), std::invalid_argument);
        EXPECT_THROW((void)quern::dataflow(launch{}, [] {}), std::invalid_argument);
        EXPECT_THROW((void)async([] {}).then(launch{}, [](auto) {}), std::invalid_argument);
    });
}

// Holds: launch: A task of every policy may suspend.
TEST_P(launch_test, of_every_kind_may_suspend) {
    inside([] {
        for (const launch how : k_all) {
            auto f = async(how, [] {
                quern_test::let_others_run();
                return 1;
            });
            quern_test::let_others_run();
            EXPECT_EQ(f.get(), 1);
        }
    });
}

// Holds: launch: sync: run at once, before the call returns.
TEST_P(launch_test, sync_runs_before_the_call_returns_on_the_same_thread) {
    const auto check = [] {
        bool ran = false;
        const auto here = std::this_thread::get_id();
        auto f = async(launch::sync, [&] {
            ran = true;
            EXPECT_EQ(std::this_thread::get_id(), here);
        });
        EXPECT_TRUE(ran);
        EXPECT_TRUE(f.is_ready());
        f.get();
    };
    inside(check);
    check();
}

// Holds: launch: fork: started at once in place of its creator.
TEST_P(launch_test, fork_runs_the_task_before_its_creator_goes_on) {
    if (workers() != 1) {
        GTEST_SKIP() << "another worker may go on with the creator at once";
    }
    inside([] {
        bool ran = false;
        auto f = async(launch::fork, [&] { ran = true; });
        EXPECT_TRUE(ran);
        f.get();
    });
}

// Holds: launch: fork: started at once...
TEST_P(launch_test, fork_starts_the_task_on_the_worker_of_its_creator) {
    inside([] {
        for (int i = 0; i < 100; ++i) {
            const int here = quern::current_worker_rank();
            auto f = async(launch::fork, [] { return quern::current_worker_rank(); });
            ASSERT_EQ(f.get(), here);
        }
    });
}

// Holds: launch: fork: the creator resumes when...
TEST_P(launch_test, fork_may_nest) {
    struct recursion {
        static int run(int depth) {
            return depth == 0 ? 0 : async(launch::fork, run, depth - 1).get() + 1;
        }
    };
    const int depth = scaled(2'000, 200);
    EXPECT_EQ(inside([depth] { return recursion::run(depth); }), depth);
}

// Holds: launch: deferred: not run before a task or thread waits.
TEST_P(launch_test, deferred_runs_when_somebody_waits_and_not_before) {
    const auto check = [] {
        int ran = 0;
        auto f = async(launch::deferred, [&] { return ++ran; });
        EXPECT_FALSE(f.is_ready());
        EXPECT_EQ(ran, 0);
        f.wait();
        EXPECT_EQ(ran, 1);
        EXPECT_EQ(f.get(), 1);
    };
    inside(check);
    check();
}

// Holds: launch: deferred: run by the first one that waits, on its thread.
TEST_P(launch_test, deferred_runs_on_the_thread_of_the_one_that_waits) {
    auto f = async(launch::deferred, [] { return quern::current_worker_rank(); });
    EXPECT_EQ(f.get(), -1);
}

// Holds: launch: deferred: never run without a waiter; the function is destroyed with the future.
TEST_P(launch_test, deferred_is_never_run_when_nobody_waits) {
    auto witness = std::make_shared<int>(0);
    bool ran = false;
    {
        auto f = async(launch::deferred, [&ran, witness] { ran = true; });
    }
    EXPECT_FALSE(ran);
    EXPECT_EQ(witness.use_count(), 1);
}

// Holds: launch: deferred: run once when many wait.
TEST_P(launch_test, deferred_runs_once_when_many_wait) {
    for (int round = 0; round < 50; ++round) {
        int ran = 0;
        quern::shared_future<int> f = async(launch::deferred, [&ran] { return ++ran; }).share();
        std::vector<future<int>> readers;
        for (int i = 0; i < 10; ++i) {
            readers.push_back(async(rt, [f] { return f.get(); }));
        }
        EXPECT_EQ(f.get(), 1);
        for (auto& r : readers) {
            EXPECT_EQ(r.get(), 1);
        }
    }
}

// Holds: launch: deferred: tasks may wait for one another to any depth.
TEST_P(launch_test, deferred_tasks_may_wait_for_one_another_without_limit) {
    const int depth = scaled(50'000, 5'000);
    // Started by fork, so that it begins on a stack of the pool's usual class.
    auto result = async(rt, [depth] {
        return async(launch::fork,
                     [depth] {
                         future<int> last = async(launch::deferred, [] { return 0; });
                         for (int i = 0; i < depth; ++i) {
                             last = async(launch::deferred, [before = std::move(last)]() mutable {
                                 return before.get() + 1;
                             });
                         }
                         return last.get();
                     })
            .get();
    });
    ASSERT_TRUE(quern_test::eventually([&] { return result.is_ready(); }, std::chrono::seconds(3)));
    EXPECT_EQ(result.get(), depth);
}

// Holds: launch: deferred: queued by then and dataflow, and by whatever else awaits the future.
TEST_P(launch_test, deferred_is_begun_by_whatever_waits_for_its_future) {
    const auto soon = [](auto& f) {
        return quern_test::eventually([&f] { return f.is_ready(); },
                                      std::chrono::milliseconds(300));
    };
    const auto make = [] { return async(launch::deferred, [] { return 1; }); };
    auto then = make().then([](future<int> f) { return f.get(); });
    EXPECT_TRUE(soon(then)) << "then";
    auto flow = quern::dataflow(quern::unwrapping([](int n) { return n; }), make());
    EXPECT_TRUE(soon(flow)) << "dataflow";
    auto all = quern::when_all(make(), make());
    EXPECT_TRUE(soon(all)) << "when_all";
    auto any = quern::when_any(make(), make());
    EXPECT_TRUE(soon(any)) << "when_any";
    future<int> flat = async(launch::deferred, make);
    EXPECT_TRUE(soon(flat)) << "unwrapping constructor";
}

// Holds: launch: async: queued; a worker...
TEST_P(launch_test, async_is_run_by_the_one_that_waits_when_no_worker_has_begun_it) {
    if (workers() != 1) {
        GTEST_SKIP() << "another worker may begin it";
    }
    inside([this] {
        const auto before = rt.totals().suspensions;
        int ran = 0;  // on the waiter's stack
        async([&ran] { ran = 1; }).get();
        EXPECT_EQ(ran, 1);
        EXPECT_EQ(rt.totals().suspensions, before);
    });
}

// Holds: launch: **Differs**: the default is async.
TEST_P(launch_test, async_is_the_default) {
    EXPECT_EQ(quern::task_attributes{}.how, launch::async);
    auto f = async(rt, [] { return quern::current_worker_rank(); });
    ASSERT_TRUE(quern_test::eventually([&] { return f.is_ready(); }));  // without a waiter
    EXPECT_GE(f.get(), 0);
}

}  // namespace
