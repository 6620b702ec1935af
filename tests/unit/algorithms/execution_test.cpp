// SPDX-License-Identifier: BSL-1.0
// Execution policies and chunkers: every element is in one chunk whatever the chunker, on() chooses
// the workers, as_future returns at once, and wrong values are refused.
#include <quern/algorithms/execution.hpp>
#include <quern/algorithms/find.hpp>
#include <quern/algorithms/for_each.hpp>
#include <quern/algorithms/reduce.hpp>
#include <quern/algorithms/scan.hpp>

#include "unit/algorithms/policies.hpp"
#include "unit/task/probe.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace {

using namespace std::chrono_literals;
using numbers = std::vector<int>;

static_assert(quern::is_execution_policy_v<quern::parallel_policy>);
static_assert(quern::execution_policy<const quern::sequenced_policy&>);
static_assert(quern::execution_policy<decltype(quern::par(quern::as_future))>);
static_assert(!quern::is_execution_policy_v<int>);
static_assert(std::is_same_v<decltype(quern::par.with(quern::lazy{})), quern::parallel_policy>);

// A policy with a chunker and a future is a constant.
constexpr auto k_policy = quern::par_unseq.with(quern::static_chunk_size(100))(quern::as_future);
static_assert(quern::execution_policy<decltype(k_policy)>);

class policies : public quern_test::on_policies {
protected:
    /// Calls check(policy) for every chunker.
    template <class Check>
    void for_every_chunker(Check check) {
        const auto with = [&](auto... chunks) { (check(quern::par.with(chunks)), ...); };
        using size = std::size_t;
        for (const size n : {size{1}, size{7}, size{1000}, size{1} << 40}) {
            with(quern::static_chunk_size(n), quern::dynamic_chunk_size(n),
                 quern::guided_chunk_size(n), quern::grain::fixed(n));
        }
        for (const size n : {size{1}, size{3}, size{100}, size{1} << 40}) {
            with(quern::max_num_chunks(n), quern::num_cores(n));
        }
        with(quern::lazy(), quern::grain::automatic(), quern::static_chunk_size(),
             quern::dynamic_chunk_size(), quern::guided_chunk_size(), quern::auto_chunk_size(),
             quern::auto_chunk_size(1ns), quern::auto_chunk_size(10s),
             quern::adaptive_static_chunk_size());
        quern::persistent_auto_chunk_size memory;
        check(quern::par.with(memory));
        check(quern::par.with(memory));
    }
};
QUERN_ON_1_2_8_WORKERS(policies);

TEST_P(policies, every_chunker_visits_every_element_once) {
    inside([&] {
        for (const std::size_t n : {0UL, 1UL, 2UL, 3UL, 17UL, 5'003UL}) {
            for_every_chunker([&](auto how) {
                numbers marks(n, 0);
                quern::for_each(how, marks, [](int& e) { ++e; });
                EXPECT_EQ(marks, numbers(n, 1));
            });
        }
    });
}

TEST_P(policies, every_chunker_keeps_the_order_of_a_reduction) {
    inside([&] {
        for (const std::size_t n : {0UL, 1UL, 2UL, 17UL, 2'003UL}) {
            const numbers data = quern_test::numbers(n);
            std::vector<std::string> words(n);
            std::transform(data.begin(), data.end(), words.begin(),
                           [](int e) { return std::to_string(e); });
            const std::string expected =
                std::accumulate(words.begin(), words.end(), std::string("start"));
            std::vector<long> sums(n);
            std::inclusive_scan(data.begin(), data.end(), sums.begin(), std::plus<>{}, 0L);
            for_every_chunker([&](auto how) {
                EXPECT_EQ(quern::reduce(how, words, std::string("start")), expected);
                std::vector<long> out(n);
                quern::inclusive_scan(how, data.begin(), data.end(), out.begin(), std::plus<>{},
                                      0L);
                EXPECT_EQ(out, sums);
                if (n != 0) {
                    EXPECT_TRUE(quern::find(how, data, data.back()) ==
                                std::find(data.begin(), data.end(), data.back()));
                }
            });
        }
    });
}

TEST_P(policies, every_chunker_passes_an_exception_on) {
    inside([&] {
        for_every_chunker([&](auto how) {
            numbers x(5'003, 1);
            x[4'000] = 0;
            EXPECT_THROW(
                quern::for_each(how, x, [](int e) { e == 0 ? throw std::runtime_error("0") : e; }),
                std::runtime_error);
        });
    });
}

TEST(chunkers, refuse_zero_and_name_it) {
    const auto message_of = [](auto make) -> std::string {
        try {
            make();
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "accepted";
    };
    EXPECT_EQ(message_of([] { quern::static_chunk_size(0); }),
              "quern: static_chunk_size(0): accepted are 1 and more");
    EXPECT_EQ(message_of([] { quern::dynamic_chunk_size(0); }),
              "quern: dynamic_chunk_size(0): accepted are 1 and more");
    EXPECT_EQ(message_of([] { quern::guided_chunk_size(0); }),
              "quern: guided_chunk_size(0): accepted are 1 and more");
    EXPECT_EQ(message_of([] { quern::max_num_chunks(0); }),
              "quern: max_num_chunks(0): accepted are 1 and more");
    EXPECT_EQ(message_of([] { quern::num_cores(0); }),
              "quern: num_cores(0): accepted are 1 and more");
    EXPECT_EQ(message_of([] { quern::auto_chunk_size(-5ns); }),
              "quern: auto_chunk_size(-5 ns): accepted are 1 ns and more");
    EXPECT_EQ(message_of([] { quern::persistent_auto_chunk_size(0ns); }),
              "quern: auto_chunk_size(0 ns): accepted are 1 ns and more");
}

TEST(chunkers, follow_their_rules) {
    EXPECT_EQ(quern::static_chunk_size().size_for(1600, 4), 100U);  // four chunks per core
    EXPECT_EQ(quern::static_chunk_size(7).size_for(1600, 4), 7U);
    EXPECT_EQ(quern::guided_chunk_size(10).size_for(100, 4), 25U);
    EXPECT_EQ(quern::guided_chunk_size(10).size_for(20, 4), 10U);
    EXPECT_EQ(quern::guided_chunk_size(10).size_for(3, 4), 3U);
    EXPECT_EQ(quern::max_num_chunks(3).size_for(100, 4), 34U);
    EXPECT_EQ(quern::num_cores(2).size_for(100, 4), 50U);
    EXPECT_EQ(quern::adaptive_static_chunk_size::size_for(1000, 4), 64U);  // of at most 125
    EXPECT_EQ(quern::adaptive_static_chunk_size::size_for(std::size_t{1} << 19, 4), 1U << 15);
    EXPECT_EQ(quern::adaptive_static_chunk_size::size_for(std::size_t{1} << 25, 4), 1U << 20);
    EXPECT_EQ(quern::auto_chunk_size().size_for(100'000, 4, 100.0), 2'000U);  // 200 us
    EXPECT_EQ(quern::auto_chunk_size().size_for(100, 4, 0.1), 25U);  // a chunk for each core
    EXPECT_EQ(quern::auto_chunk_size().size_for(100, 4, 1e9), 1U);
}

TEST_P(policies, on_runs_on_the_workers_of_the_pool_from_anywhere) {
    quern::runtime other(quern::runtime_options::with_workers(2));
    const quern::detail::pool* const expected = &other.default_pool().get();
    const auto check = [&] {
        std::atomic<int> elsewhere{0};
        numbers x(10'000, 1);
        const auto f = [&](int& e) {
            if (&quern::current_pool().get() != expected) {
                ++elsewhere;
            }
            ++e;
        };
        quern::for_each(quern::par.on(other), x, f);
        quern::for_each(quern::par.on(other.default_pool())(quern::as_future), x, f).get();
        EXPECT_EQ(elsewhere.load(), 0);
        EXPECT_EQ(x, numbers(10'000, 3));
    };
    check();
    inside(check);
    numbers x(17, 1);
    EXPECT_THROW(inside([&] {
                     quern::for_each(quern::par.on(other), x,
                                     [](int) { throw std::runtime_error("elsewhere"); });
                 }),
                 std::runtime_error);
}

TEST_P(policies, as_future_returns_before_the_end) {
    if (workers() == 1) {
        GTEST_SKIP() << "the worker that starts the task blocks";
    }
    inside([] {
        quern_test::spin_gate gate;
        numbers x(100, 1);
        auto done = quern::for_each(quern::par(quern::as_future), x, [&gate](int& e) {
            gate.pass();
            ++e;
        });
        EXPECT_FALSE(done.is_ready());
        gate.open();
        done.get();
        EXPECT_EQ(x, numbers(100, 2));
    });
}

// A temporary container must not compile: tests/compile_fail/future_of_temporary.cpp.
TEST_P(policies, as_future_takes_a_named_range_or_a_temporary_that_refers_to_one) {
    const auto how = quern::par.on(rt)(quern::as_future);
    const numbers x(100, 1);
    const auto doubled = x | std::views::transform([](int e) { return 2 * e; });
    EXPECT_EQ(quern::reduce(how, x, 0).get(), 100);
    EXPECT_EQ(quern::reduce(how, doubled, 0).get(), 200);
    EXPECT_EQ(quern::reduce(how, std::span(x), 0).get(), 100);
    EXPECT_EQ(quern::reduce(how, std::views::all(x), 0).get(), 100);
    EXPECT_EQ(quern::reduce(how, std::views::iota(0, 100), 0).get(), 4950);
    EXPECT_EQ(quern::reduce(quern::par.on(rt), numbers(100, 1), 0), 100);  // ends with the call
}

TEST_P(policies, as_future_destroys_the_function_before_the_end_is_known) {
    const auto how = quern::par.on(rt)(quern::as_future);
    numbers x(100, 1);
    quern_test::expect_destroyed_before_result("for_each", [&](quern_test::probe p) {
        return quern::for_each(how, x, [p = std::move(p)](int) { p.wait(); });
    });
    quern_test::expect_destroyed_before_result("reduce", [&](quern_test::probe p) {
        return quern::reduce(how, x.begin(), x.end(), 0, [p = std::move(p)](int a, int b) {
            p.wait();
            return a + b;
        });
    });
}

TEST_P(policies, idle_workers_take_part) {
    if (!has_thieves()) {
        GTEST_SKIP() << "there are none";
    }
    inside([&] {
        for_every_chunker([&](auto how) {
            numbers x(static_cast<std::size_t>(workers()), 1);
            std::atomic<int> begun{0};
            if constexpr (std::is_same_v<decltype(how), quern::parallel_policy>) {
                quern::for_each(how, x, [&](int& e) {
                    ++begun;  // a second one begins only on another worker
                    e = quern_test::eventually([&] { return begun.load() > 1; }) ? 2 : 3;
                });
                EXPECT_EQ(x, numbers(x.size(), 2));
            }
        });
    });
}

TEST_P(policies, nest) {
    inside([] {
        std::vector<numbers> x(50, numbers(500, 1));
        quern::for_each(quern::par, x, [](numbers& row) {
            quern::for_each(quern::par.with(quern::dynamic_chunk_size(10)), row,
                            [](int& e) { e += 1; });
        });
        EXPECT_EQ(x, std::vector<numbers>(50, numbers(500, 2)));
    });
}

}  // namespace
