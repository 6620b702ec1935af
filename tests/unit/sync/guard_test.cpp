// SPDX-License-Identifier: BSL-1.0
// Guards: functions run one after another, in the order of the calls, also with several guards.
#include <quern/base/detail/symbols.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/guard.hpp>

#include "crew.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <string>

namespace {

using quern::guard;
using quern::run_guarded;
using quern_test::crew;
using quern_test::k_sanitized;
using quern_test::let_others_run;

class guard_test : public quern_test::on_workers {
protected:
    quern::task_attributes here{.pool = &all.runtime().default_pool().get()};
};
QUERN_ON_1_2_8_WORKERS(guard_test);

// Holds: guard: run_guarded() returns the future of what f returns; the caller does not wait.
// Holds: guard: Functions of one guard are run in the order of the calls.
// Holds: guard: A function begins after the one before has returned or thrown; it may suspend
//     meanwhile.
// Holds: guard: What one function did happens before the next.
TEST_P(guard_test, runs_one_function_after_another_in_the_order_of_the_calls) {
    constexpr int k_functions = 200;
    guard g;
    std::vector<int> order;  // plain: the guard orders the accesses
    bool inside = false;
    std::vector<quern::future<int>> results;
    for (int i = 0; i < k_functions; ++i) {
        results.push_back(run_guarded(here, g, [&, i] {
            EXPECT_FALSE(inside);
            inside = true;
            let_others_run();  // it may suspend
            order.push_back(i);
            inside = false;
            return 2 * i;
        }));
    }
    for (int i = 0; i < k_functions; ++i) {
        EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), 2 * i);
    }
    std::vector<int> expected(k_functions);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(order, expected);
}

// Holds: guard: A function begins after...
// Holds: guard: Any thread may call it.
TEST_P(guard_test, excludes_functions_that_tasks_and_threads_give_to_it) {
    constexpr int k_each = 50;
    guard g;
    int count = 0;
    const auto give = [&] {
        for (int i = 0; i < k_each; ++i) {
            run_guarded(here, g, [&] { ++count; }).wait();
            (void)run_guarded(here, g, [&] { ++count; });
        }
    };
    for (int i = 0; i < 10; ++i) {
        all.task(give);
    }
    all.thread(give);
    all.finish();
    run_guarded(here, g, [] {}).wait();  // behind all others
    EXPECT_EQ(count, 11 * 2 * k_each);
}

// Holds: guard: With several guards f runs when all functions have ended that were given to any of
//     them.
// Holds: guard: A guard that is named twice counts once; an empty set orders nothing.
TEST_P(guard_test, takes_several_guards_together) {
    constexpr std::size_t k_guards = 4;
    const std::size_t rounds = k_sanitized ? 100 : 1'000;
    std::array<guard, k_guards> guards;
    std::array<long, k_guards> values{};
    std::vector<quern::future<void>> ended;
    for (std::size_t i = 0; i < rounds; ++i) {
        const std::size_t from = i % k_guards;
        const std::size_t to = (i * 7 + 1) % k_guards;  // sometimes the same
        ended.push_back(run_guarded(here, {&guards[from], &guards[to]}, [&, from, to] {
            values[from] -= 1;
            values[to] += 1;
        }));
    }
    for (auto& e : ended) {
        e.get();
    }
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0L), 0);
}

// Holds: guard: Two functions that share guards are run in the same order at each, and no two wait
//     for each other.
TEST_P(guard_test, keeps_one_order_for_functions_that_share_guards) {
    guard a;
    guard b;
    std::vector<int> order;
    std::vector<quern::future<void>> ended;
    for (int i = 0; i < 50; ++i) {
        const auto note = [&, i] { order.push_back(i); };
        // every second call has both, so that each is ordered with the next and the previous one
        ended.push_back(i % 2 == 0 ? run_guarded(here, {&b, &a}, note)
                                   : run_guarded(here, i % 4 == 1 ? a : b, note));
    }
    for (auto& e : ended) {
        e.get();
    }
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(order.size(), 50U);
}

#if QUERN_TEST_HAS_LINES
// Holds: task_attributes: site: null means where...
TEST_P(guard_test, runs_tasks_that_know_the_line_of_the_call) {
    guard a;
    guard b;
    const auto site = [] {
        return quern::detail::describe_site(quern::detail::current_context()->root().task().site);
    };
    const auto is_at = [](const std::string& text, int line) {
        return text.find("guard_test.cpp:" + std::to_string(line)) != std::string::npos;
    };
    auto first = run_guarded(here, a, site);
    auto later = run_guarded(here, a, site);
    auto both = run_guarded(here, {&a, &b}, site);
    EXPECT_PRED2(is_at, first.get(), __LINE__ - 3);
    EXPECT_PRED2(is_at, later.get(), __LINE__ - 3);
    EXPECT_PRED2(is_at, both.get(), __LINE__ - 3);
    all.task([&] { EXPECT_PRED2(is_at, run_guarded(b, site).get(), __LINE__); });
    all.finish();
}
#endif

// Holds: guard: f runs in the pool of the task that gives it.
TEST_P(guard_test, runs_in_the_pool_of_the_task_that_gives_the_function) {
    guard a;
    guard b;
    std::vector<int> order;
    all.task([&] {
        const quern::pool_ref mine = quern::current_pool();
        const auto note = [&](int i) {
            EXPECT_EQ(&quern::current_pool().get(), &mine.get());
            order.push_back(i);
        };
        auto first = run_guarded(a, [&] { note(1); });
        auto second = run_guarded({&a, &b}, [&] { note(2); });
        run_guarded(b, [&] { note(3); }).get();
        second.get();
        first.get();
    });
    all.finish();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

// Holds: guard: What f throws comes out of the future; later functions are run all the same.
TEST_P(guard_test, delivers_an_exception_and_runs_the_next_function) {
    guard g;
    auto bad = run_guarded(here, g, [] { throw std::runtime_error("no"); });
    auto good = run_guarded(here, g, [] { return 42; });
    EXPECT_EQ(good.get(), 42);
    EXPECT_THROW(bad.get(), std::runtime_error);
}

/// Is destroyed slowly, so that one who does not wait for it sees it alive.
struct slow_to_end {
    slow_to_end() { ++alive; }
    slow_to_end(const slow_to_end&) { ++alive; }
    slow_to_end& operator=(const slow_to_end&) = default;
    ~slow_to_end() {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
        while (std::chrono::steady_clock::now() < end) {
        }
        --alive;
    }
    static inline std::atomic<int> alive{0};
};

// Holds: guard: A function is destroyed before the next one begins.
TEST_P(guard_test, destroys_a_function_before_the_next_one_begins) {
    guard g;
    for (int round = 0; round < 10; ++round) {
        quern::event go;
        auto first = run_guarded(here, g, [&go, kept = slow_to_end()] { go.wait(); });
        auto second = run_guarded(here, g, [] { return slow_to_end::alive.load(); });
        go.set();
        EXPECT_EQ(second.get(), 0);
        first.get();
    }
}

// Holds: guard: A function may give the guard further functions.
TEST_P(guard_test, lets_a_function_give_it_further_ones) {
    guard g;
    std::vector<int> order;
    quern::event given;
    auto inner = run_guarded(here, g, [&] {
        order.push_back(1);
        given.wait();
        return run_guarded(here, g, [&] { order.push_back(3); });
    });
    auto other = run_guarded(here, g, [&] { order.push_back(2); });
    given.set();
    other.wait();
    inner.wait();  // of the inner function
    run_guarded(here, g, [] {}).wait();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

// Holds: guard: A guard may be destroyed at any time, also while functions are still to be run.
TEST_P(guard_test, is_destroyed_while_functions_are_still_to_be_run) {
    const int rounds = k_sanitized ? 200 : 2'000;
    for (int i = 0; i < rounds; ++i) {
        auto g = std::make_unique<guard>();
        auto first = run_guarded(here, *g, [] { let_others_run(); });
        auto second = run_guarded(here, *g, [value = std::make_unique<int>(i)] { return *value; });
        g.reset();
        EXPECT_EQ(second.get(), i);
        EXPECT_TRUE(first.valid());
    }
}

/// Throws at a given copy or move.
struct fragile_function {
    explicit fragile_function(int& moves_left) : left(&moves_left) {}
    fragile_function(const fragile_function& other) : left(other.left) { count(); }
    fragile_function(fragile_function&& other) : left(other.left) { count(); }  // NOLINT
    ~fragile_function() = default;
    fragile_function& operator=(const fragile_function&) = delete;
    fragile_function& operator=(fragile_function&&) = delete;
    int operator()() const { return 5; }
    void count() const {
        if ((*left)-- == 0) {
            throw std::runtime_error("cannot be moved");
        }
    }
    int* left;
};

// Holds: guard: Throws std::bad_alloc, or what...
TEST_P(guard_test, takes_no_place_for_a_function_that_cannot_be_copied) {
    guard a, b;
    int refused = 0;
    bool has_run = false;
    for (int allowed = 0; !has_run; ++allowed) {
        int left = 1'000;
        const fragile_function f(left);
        left = allowed;
        try {
            EXPECT_EQ(run_guarded(here, {&a, &b}, f).get(), 5);
            has_run = true;
        } catch (const std::runtime_error&) {
            ++refused;
        }
        EXPECT_EQ(run_guarded(here, {&b, &a}, [] { return 9; }).get(), 9);
    }
    EXPECT_GE(refused, 1);
}

// Holds: guard: The future of a function whose token is stopped before it begins throws
//     task_cancelled; later functions are run.
TEST_P(guard_test, runs_the_next_function_after_one_that_was_cancelled) {
    guard a, b, c;
    quern::event go;
    std::stop_source stop;
    auto stopped = here;
    stopped.stop = stop.get_token();
    bool has_run = false;  // its result may become ready after the guard has started the next
    auto first = run_guarded(here, a, [&] {
        go.wait();
        has_run = true;
    });
    auto dropped = run_guarded(stopped, {&a, &b}, [] { return 2; });
    auto last = run_guarded(here, {&b, &c}, [&has_run] { return has_run ? 3 : 0; });
    stop.request_stop();
    go.set();
    EXPECT_EQ(last.get(), 3);
    EXPECT_THROW(dropped.get(), quern::task_cancelled);
    first.get();
}

// Holds: guard: A guard that is...
TEST_P(guard_test, of_an_empty_set_orders_nothing) {
    EXPECT_EQ(run_guarded(here, quern::guard_set({}), [] { return 1; }).get(), 1);
}

// Holds: guard: A launch policy does not apply.
TEST_P(guard_test, does_not_look_at_launch_policies) {
    for (const auto how : {quern::launch::deferred, quern::launch::sync, quern::launch::fork}) {
        auto wanted = here;
        wanted.how = how;
        guard g;
        quern::event go;
        auto first = run_guarded(wanted, g, [&go] { go.wait(); });  // the caller does not wait
        auto second = run_guarded(wanted, g, [] {});
        EXPECT_FALSE(first.is_ready() || second.is_ready());
        go.set();
        while (!second.is_ready()) {  // without a waiter
            std::this_thread::yield();
        }
    }
}

// Holds: guard: Outside a worker f runs in the default runtime, unless the attributes name a pool.
TEST(guard_outside, runs_in_the_default_runtime) {
    const auto where = [] { return &quern::current_pool().get(); };
    const auto* usual = &quern::runtime::default_instance().default_pool().get();
    guard a, b;
    EXPECT_EQ(run_guarded(a, where).get(), usual);
    EXPECT_EQ(run_guarded({&a, &b}, where).get(), usual);
    quern::runtime other(quern::runtime_options::with_workers(1));
    const quern::task_attributes there{.pool = &other.default_pool().get()};
    EXPECT_EQ(run_guarded(there, a, where).get(), there.pool);
    EXPECT_EQ(run_guarded(there, {&a, &b}, where).get(), there.pool);
}

}  // namespace
