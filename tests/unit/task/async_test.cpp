// SPDX-License-Identifier: BSL-1.0
// async and post: results and arguments of every kind, errors, attributes, threads outside.
#include <quern/task/async.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::async;
using quern::post;
using quern_test::eventually;
using quern_test::scaled;

class async_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(async_test);

// Holds: async: Results of every kind: void, references, what can only be moved.
TEST_P(async_test, delivers_results_of_every_kind) {
    inside([] {
        static_assert(std::is_same_v<decltype(async([] {})), quern::future<void>>);
        async([] {}).get();
        EXPECT_EQ(async([] { return 1; }).get(), 1);
        EXPECT_EQ(async([] { return std::string("text"); }).get(), "text");
        EXPECT_EQ(*async([] { return std::make_unique<int>(2); }).get(), 2);
        int place = 0;
        quern::future<int&> reference = async([&]() -> int& { return place; });
        EXPECT_EQ(&reference.get(), &place);
    });
}

struct counts_copies {
    counts_copies(int& c, int& m) : copies(&c), moves(&m) {}
    counts_copies(const counts_copies& other) : copies(other.copies), moves(other.moves) {
        ++*copies;
    }
    counts_copies(counts_copies&& other) noexcept : copies(other.copies), moves(other.moves) {
        ++*moves;
    }
    int* copies;
    int* moves;
};

// Holds: async: Lvalues are copied once...
TEST_P(async_test, copies_lvalue_arguments_and_moves_rvalues) {
    inside([] {
        int copies = 0, moves = 0;
        counts_copies argument(copies, moves);
        async([](counts_copies) {}, argument).get();
        EXPECT_EQ(copies, 1);
        async([](counts_copies) {}, std::move(argument)).get();
        EXPECT_EQ(copies, 1);
        EXPECT_EQ(async([](std::unique_ptr<int> p) { return *p; }, std::make_unique<int>(3)).get(),
                  3);
    });
}

// Holds: async: It gets references only...
TEST_P(async_test, gives_the_function_its_own_copy_of_an_argument) {
    inside([] {
        std::string text = "before";
        auto f = async(
            {.worker = 0}, [](const std::string& s) { return s; }, text);
        text = "after";
        EXPECT_EQ(f.get(), "before");
        int n = 1;
        async([](int& r) { r = 2; }, std::ref(n)).get();
        EXPECT_EQ(n, 2);
    });
}

// Holds: async: Lvalues are copied once...
TEST_P(async_test, copies_or_moves_the_function) {
    inside([] {
        int calls = 0;
        auto function = [&calls, p = std::make_shared<int>(5)] {
            ++calls;
            return *p;
        };
        EXPECT_EQ(async(function).get(), 5);
        EXPECT_EQ(async(std::move(function)).get(), 5);
        EXPECT_EQ(calls, 2);
    });
}

struct has_members {
    int twice(int n) const { return 2 * n * factor; }
    int factor = 1;
};
int plus(int a, int b) { return a + b; }

// Holds: async: It calls whatever std::invoke can call.
TEST_P(async_test, calls_everything_that_std_invoke_can) {
    inside([] {
        EXPECT_EQ(async(plus, 1, 2).get(), 3);
        EXPECT_EQ(async(&plus, 1, 2).get(), 3);
        EXPECT_EQ(async(&has_members::twice, has_members{2}, 3).get(), 12);
        has_members object{3};
        EXPECT_EQ(async(&has_members::twice, &object, 1).get(), 6);
        EXPECT_EQ(async(std::plus<>{}, 1, 2).get(), 3);
    });
}

TEST_P(async_test, hands_exceptions_to_get) {
    inside([] {
        auto f = async([]() -> int { throw std::runtime_error("task"); });
        f.wait();
        EXPECT_TRUE(f.has_exception());
        EXPECT_THROW(f.get(), std::runtime_error);
        EXPECT_THROW(async([] { throw 1; }).get(), int);
    });
}

// Holds: async: Function and arguments are destroyed when the task has run.
TEST_P(async_test, frees_function_and_arguments_when_the_task_has_run) {
    auto witness = std::make_shared<int>(0);
    auto f = async(
        rt, [witness](const std::shared_ptr<int>&) {}, witness);
    f.wait();
    EXPECT_TRUE(eventually([&] { return witness.use_count() == 1; }));
    f.get();
}

// Holds: future: The last reference to a state destroys it and the result in it.
TEST_P(async_test, frees_the_result_with_the_last_future) {
    auto witness = std::make_shared<int>(0);
    {
        auto f = async(rt, [witness] { return witness; });
        f.wait();
    }
    EXPECT_TRUE(eventually([&] { return witness.use_count() == 1; }));
    (void)async(rt, [witness] { return witness; });  // without a waiter
    EXPECT_TRUE(eventually([&] { return witness.use_count() == 1; }));
}

// Holds: async: **Differs**: the destructor of...
TEST_P(async_test, does_not_wait_when_its_future_is_dropped) {
    quern_test::spin_gate go;
    std::atomic<bool> done{false};
    {
        auto f = async(rt, [&] {
            go.pass();
            done.store(true);
        });
    }
    EXPECT_FALSE(done.load());
    go.open();
    EXPECT_TRUE(eventually([&] { return done.load(); }));
}

TEST_P(async_test, runs_very_many_tasks) {
    const int n = scaled(50'000, 5'000);
    inside([n] {
        std::vector<quern::future<int>> all;
        for (int i = 0; i < n; ++i) {
            all.push_back(async([i] { return i; }));
        }
        for (int i = 0; i < n; ++i) {
            ASSERT_EQ(all[static_cast<std::size_t>(i)].get(), i);
        }
    });
}

long fib(int n) {
    if (n < 2) {
        return n;
    }
    auto a = async([n] { return fib(n - 1); });
    const long b = fib(n - 2);
    return a.get() + b;
}

TEST_P(async_test, computes_fibonacci) {
    EXPECT_EQ(inside([] { return fib(18); }), 2584);
}

/// Each task waits for the next, so that all of them are unfinished at the same time.
int descend(int depth) { return depth == 0 ? 0 : async(descend, depth - 1).get() + 1; }

// Holds: async: Tasks may wait for tasks to any depth.
TEST_P(async_test, may_nest_deeply) {
    const int depth = scaled(20'000, 1'000);
    EXPECT_EQ(inside([depth] { return descend(depth); }), depth);
}

// Holds: task_attributes: stack: the least stack that the task is started on.
TEST_P(async_test, gives_a_task_the_stack_it_asks_for) {
    const auto uses_much = [] {
        volatile char room[4 << 20];
        for (std::size_t i = 0; i < sizeof room; i += 4096) {
            room[i] = 1;
        }
        quern_test::let_others_run();
        return static_cast<int>(room[4096]);
    };
    const quern::task_attributes large{.stack = quern::stack_class::large,
                                       .pool = &rt.default_pool().get()};
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(async(large, uses_much).get(), 1);
    }
    inside([&] {
        std::vector<quern::future<int>> all;
        for (int i = 0; i < 20; ++i) {
            all.push_back(async(large, uses_much));
        }
        for (auto& f : all) {
            EXPECT_EQ(f.get(), 1);
        }
    });
}

// Holds: task_attributes: All fields may be given together, by name.
TEST_P(async_test, takes_all_attributes_together) {
    auto f = async({.how = quern::launch::async,
                    .name = "norm",
                    .urgency = quern::priority::high,
                    .stack = quern::stack_class::medium,
                    .worker = 0,
                    .pool = &rt.default_pool().get()},
                   plus, 1, 2);
    EXPECT_EQ(f.get(), 3);
}

// Holds: async: Any thread may call it.
// Holds: async: Given a pool or...
TEST_P(async_test, is_used_from_threads_outside) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([this] {
            for (int i = 0; i < scaled(500, 100); ++i) {
                ASSERT_EQ(async(rt, plus, i, 1).get(), i + 1);
                ASSERT_EQ(async(rt.default_pool(), plus, i, 2).get(), i + 2);
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

// Holds: post: Starts f(args...) as a task without a future.
TEST_P(async_test, post_runs_a_task_that_nobody_waits_for) {
    std::atomic<int> sum{0};
    quern::detail::pool* where = &rt.default_pool().get();
    for (int i = 0; i < 100; ++i) {
        post(
            {.pool = where}, [&sum](int n) { sum.fetch_add(n); }, i);
        post({.stack = quern::stack_class::large, .pool = where}, [&sum] { sum.fetch_add(1); });
    }
    EXPECT_TRUE(eventually([&] { return sum.load() == 4950 + 100; }));
    inside([&sum] { post([&sum, p = std::make_unique<int>(7)] { sum.store(*p); }); });
    EXPECT_TRUE(eventually([&] { return sum.load() == 7; }));
}

// Holds: post: Launch policies do not apply.
TEST_P(async_test, post_does_not_look_at_launch_policies) {
    std::atomic<int> ran{0};
    for (const auto how : {quern::launch::async, quern::launch::fork, quern::launch::deferred,
                           quern::launch::sync}) {
        post({.how = how, .pool = &rt.default_pool().get()}, [&ran] {
            EXPECT_GE(quern::current_worker_rank(), 0);  // not on the calling thread
            ran.fetch_add(1);
        });
    }
    EXPECT_TRUE(eventually([&] { return ran.load() == 4; }));
}

// Holds: post: What precedes post() happens before the function.
TEST_P(async_test, post_shows_the_task_what_was_done_before) {
    for (int i = 0; i < 200; ++i) {
        int data = 0;  // plain: ordered only by post
        std::atomic<int> seen{-1};
        data = i;
        post({.pool = &rt.default_pool().get()}, [&] { seen.store(data); });
        ASSERT_TRUE(eventually([&] { return seen.load() >= 0; }));
        ASSERT_EQ(seen.load(), i);
    }
}

// Holds: post: An exception that leaves...
TEST(post_death_test, lets_an_exception_end_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            const quern::runtime rt(quern::runtime_options::with_workers(1));
            post({.pool = &rt.default_pool().get()}, [] { throw std::runtime_error("posted"); });
            std::this_thread::sleep_for(std::chrono::seconds(5));
        },
        "posted");
}

// Holds: async: Outside a worker the default runtime runs it.
TEST(async_from_outside, uses_the_default_runtime) {
    EXPECT_EQ(async(plus, 40, 2).get(), 42);
    EXPECT_EQ(async([] { return quern::current_pool().name(); }).get(), "default");
}

}  // namespace
