// SPDX-License-Identifier: BSL-1.0
// The parts of a loop that workers claim: together they are the range, each is claimed once, and a
// worker that arrives finds its own part.
#include <quern/algorithms/detail/loop_parts.hpp>
#include <quern/algorithms/parallel_for.hpp>
#include <quern/base/detail/atomics.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace {

using quern::grain;
using quern::detail::loop_parts;

/// Claims all parts for the ranks in turn, and checks that they are the rest of the range.
void check(std::size_t n, std::size_t begin, std::size_t count) {
    loop_parts parts(n, begin, count);
    const std::size_t all = parts.to_claim();
    std::vector<loop_parts::part> by_number(count, {count, n, n});
    for (std::size_t rank = 0; rank < all; ++rank) {
        EXPECT_TRUE(parts.has_free());
        const auto part = parts.claim(rank);
        ASSERT_LT(part.number, count);
        EXPECT_EQ(by_number[part.number].number, count) << "claimed twice: " << part.number;
        by_number[part.number] = part;
    }
    EXPECT_FALSE(parts.has_free());
    std::size_t next = begin;
    for (const auto& part : by_number) {
        if (part.number != count) {
            EXPECT_EQ(part.first, next);
            EXPECT_LT(part.first, part.last);
            next = part.last;
        }
    }
    EXPECT_EQ(next, n);
}

TEST(loop_parts_test, are_the_range) {
    for (const std::size_t count : {1U, 2U, 3U, 7U, 63U, 64U}) {
        for (const std::size_t n : {64U, 65U, 100U, 127U, 1000U, 12'345U}) {
            check(n, 0, count);
            check(n, 22, count);     // the earlier iterations have been done
            check(n, n - 1, count);  // all but the last iteration
        }
    }
    const std::size_t most = std::numeric_limits<std::size_t>::max();
    check(most, most / 2, 64);
}

TEST(loop_parts_test, are_the_workers_own_while_those_are_free) {
    loop_parts parts(800, 0, 8);
    EXPECT_EQ(parts.claim(5).number, 5U);
    EXPECT_EQ(parts.claim(2).number, 2U);
    EXPECT_EQ(parts.claim(5).number, 0U);  // taken: claims the first free one
    EXPECT_EQ(parts.claim(7).number, 7U);
    EXPECT_EQ(parts.claim(0).number, 1U);
    EXPECT_EQ(parts.claim(11).number, 3U);  // a rank beyond the parts has one too
}

TEST(loop_parts_test, are_claimed_once_by_threads_at_the_same_time) {
    for (int round = 0; round < quern_test::scaled(200, 20); ++round) {
        loop_parts parts(64, 0, 64);
        std::vector<std::atomic<int>> claimed(64);
        std::vector<std::thread> threads;
        for (std::size_t each = 0; each < 4; ++each) {
            threads.emplace_back([&, each] {
                for (std::size_t i = 0; i < 16; ++i) {
                    ++claimed[parts.claim(each).number];
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        for (const auto& times : claimed) {
            EXPECT_EQ(times.load(), 1);
        }
    }
}

class dealt_loop : public quern_test::on_runtime {};
QUERN_ON_STEALING_POLICIES(dealt_loop);

/// Each part begins with an iteration that spins, without a call of the runtime, until all parts
/// have begun: so every worker has one, and none can have two.
TEST_P(dealt_loop, gives_each_worker_its_own_part_again_and_again) {
    if (workers() > 1 && !quern::detail::std_atomics::has_heavy_barrier()) {
        GTEST_SKIP() << "nobody can take over a part that the worker that deals keeps private";
    }
    const int parts = static_cast<int>(workers());
    constexpr int k_each = 50;
    for (int sweep = 0; sweep < 20; ++sweep) {
        std::atomic<int> begun{0};
        std::atomic<bool> all_began{true};
        std::vector<int> ranks(workers(), -1);
        inside([&] {
            quern::parallel_for(0, parts * k_each, grain::fixed(1), [&](int i) {
                if (i % k_each == 0) {
                    ranks[static_cast<std::size_t>(i / k_each)] = quern::current_worker_rank();
                    ++begun;
                    if (!quern_test::eventually([&] { return begun.load() == parts; })) {
                        all_began.store(false);
                    }
                }
            });
        });
        ASSERT_TRUE(all_began.load());
        for (int part = 0; part < parts; ++part) {
            EXPECT_EQ(ranks[static_cast<std::size_t>(part)], part) << "sweep " << sweep;
        }
    }
}

}  // namespace
