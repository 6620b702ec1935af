// SPDX-License-Identifier: BSL-1.0
// Stopped loops: by a token, by an exception, from inside and from outside.
#include <quern/algorithms/parallel_for.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>

namespace {

using quern::grain;
using quern::parallel_for;
using quern::parallel_reduce;
using quern::task_cancelled;
using quern::this_task::stop_requested;
using quern_test::spin_gate;

constexpr long k_endless = 1'000'000'000'000;  // years, without a stop

class stopped_loop : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(stopped_loop);

// Holds: parallel_for: A loop whose token was stopped before runs nothing.
// Holds: parallel_reduce: With a token it is stopped as a parallel_for.
TEST_P(stopped_loop, whose_token_is_stopped_before_runs_nothing) {
    std::stop_source source;
    source.request_stop();
    std::atomic<int> ran{0};
    inside([&] {
        EXPECT_THROW(parallel_for(source.get_token(), 0, 1000, [&](int) { ++ran; }),
                     task_cancelled);
        EXPECT_THROW(parallel_reduce(
                         source.get_token(), 0, 1000, 0,
                         [&](int i) {
                             ++ran;
                             return i;
                         },
                         std::plus<>()),
                     task_cancelled);
    });
    EXPECT_EQ(ran.load(), 0);
}

// Holds: parallel_for: A token that is never stopped changes nothing.
// Holds: parallel_reduce: With a token it...
TEST_P(stopped_loop, that_nobody_stops_is_as_without_a_token) {
    std::stop_source source;
    inside([&] {
        std::atomic<int> ran{0};
        parallel_for(source.get_token(), 0, 1000, [&](int) { ++ran; });
        parallel_for(source.get_token(), 0, 1000, grain::fixed(7), [&](int) { ++ran; });
        EXPECT_EQ(ran.load(), 2000);
        const auto same = [](int i) { return i; };
        EXPECT_EQ(parallel_reduce(source.get_token(), 0, 1000, 0, same, std::plus<>()), 499'500);
        EXPECT_EQ(
            parallel_reduce(source.get_token(), 0, 1000, grain::fixed(7), 0, same, std::plus<>()),
            499'500);
    });
}

// Holds: parallel_for: With a token: every worker stops at the end of its chunk when its stop is
//     requested, and it throws task_cancelled.
TEST_P(stopped_loop, ends_within_a_chunk_of_each_worker) {
    std::stop_source source;
    std::atomic<long> after{0};
    constexpr std::size_t k_chunk = 100;
    inside([&] {
        EXPECT_THROW(parallel_for(source.get_token(), 0L, k_endless, grain::fixed(k_chunk),
                                  [&](long i) {
                                      if (i == 12'345) {
                                          source.request_stop();
                                      }
                                      after += source.stop_requested() ? 1 : 0;
                                  }),
                     task_cancelled);
    });
    EXPECT_GE(after.load(), 1);
    EXPECT_LE(after.load(), static_cast<long>(k_chunk * workers()));
}

// Holds: parallel_for: With a token: every...
TEST_P(stopped_loop, is_stopped_by_a_thread_and_by_a_task) {
    for (const bool by_task : {false, true}) {
        std::stop_source source;
        spin_gate entered, begun;
        const auto stop = [&] {
            entered.open();
            begun.pass();
            source.request_stop();
        };
        auto stopper = by_task && workers() > 1 ? quern::async(rt, stop) : quern::future<void>();
        if (stopper.valid()) {
            entered.pass();  // the loop may take all other workers
        }
        auto loop = quern::async(rt, [&] {
            const auto value = [&](long i) {
                begun.open();
                return i;
            };
            return parallel_reduce(source.get_token(), 0L, k_endless, 0L, value, std::bit_xor<>());
        });
        if (!stopper.valid()) {
            stop();
        }
        EXPECT_THROW(loop.get(), task_cancelled);
    }
}

// Holds: parallel_for: task_cancelled names the task that the loop is part of.
TEST_P(stopped_loop, names_the_task_that_it_is_part_of) {
    std::stop_source source;
    source.request_stop();
    auto f = quern::async({.name = "norm", .pool = &rt.default_pool().get()},
                          [&] { parallel_for(source.get_token(), 0, 10, [](int) {}); });
    try {
        f.get();
        FAIL() << "nothing was thrown";
    } catch (const task_cancelled& e) {
        EXPECT_STREQ(e.what(), "quern: a loop of the task 'norm' was cancelled");
    }
}

// Holds: stop tokens: Iterations of a loop see the token of the loop and of the task around,
//     wherever they run.
TEST_P(stopped_loop, shows_its_parts_the_token_and_that_of_the_task_around) {
    std::stop_source source, around;
    inside([&] {
        quern::async({.stop = around.get_token()}, [&] {
            std::atomic<int> wrong{0};
            const auto look = [&](int i) {
                quern_test::spin_for(std::chrono::microseconds(20));  // time for thieves
                wrong += quern::this_task::stop_token() == source.get_token() ? 0 : 1;
                if (i == 50) {
                    around.request_stop();
                    wrong += stop_requested() ? 0 : 1;
                }
            };
            parallel_for(source.get_token(), 0, 100, grain::fixed(1), look);
            EXPECT_EQ(wrong.load(), 0);
            parallel_for(0, 100, grain::fixed(1), [&](int) { wrong += stop_requested() ? 0 : 1; });
            EXPECT_EQ(wrong.load(), 0);
        }).get();
    });
}

// Holds: parallel_reduce: A part that throws stops the others.
TEST_P(stopped_loop, that_throws_stops_its_other_parts) {
    inside([] {
        const auto body = [](long i) {
            if (i == 1000) {
                throw std::runtime_error("iteration");
            }
            return i;
        };
        EXPECT_THROW(parallel_for(0L, k_endless, [&](long i) { (void)body(i); }),
                     std::runtime_error);
        EXPECT_THROW(parallel_reduce(0L, k_endless, 0L, body, std::bit_xor<>()),
                     std::runtime_error);
    });
}

// Holds: stop tokens: stop_requested() says too that...
TEST_P(stopped_loop, asks_an_iteration_that_runs_to_stop_when_another_throws) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs two iterations that run at once";
    }
    inside([] {
        std::atomic<int> first_rank{-1};
        std::atomic<bool> thief_came{false};
        spin_gate waits;
        const auto body = [&](long) {
            int first = -1;
            const int mine = quern::current_worker_rank();
            if (!first_rank.compare_exchange_strong(first, mine) && first != mine) {
                thief_came = true;
                waits.pass();
                throw std::runtime_error("iteration");
            }
            while (thief_came && !stop_requested()) {  // without a thief the test would not end
                waits.open();
                std::this_thread::yield();
            }
        };
        EXPECT_THROW(parallel_for(0L, k_endless, grain::fixed(1), body), std::runtime_error);
    });
}

// Holds: parallel_for: Outside a worker task_cancelled is thrown on the calling thread.
TEST(a_stopped_loop_from_outside, throws_on_the_calling_thread) {
    std::stop_source source;
    EXPECT_THROW(parallel_for(source.get_token(), 0L, k_endless,
                              [&](long i) {
                                  if (i == 100'000) {
                                      source.request_stop();
                                  }
                              }),
                 task_cancelled);
}

}  // namespace
