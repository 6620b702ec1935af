// SPDX-License-Identifier: BSL-1.0
// Blocks do not overlap, are reused on any thread, and return to the system at the end. Tests the
// functions below allocate_block(), which the sanitizers' builds leave out.
#include <quern/base/detail/blocks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace {

using quern::detail::block_cache;
using quern::detail::give_block;
using quern::detail::k_block_step;
using quern::detail::k_largest_block;
using quern::detail::magazine;
using quern::detail::read_block_totals;
using quern::detail::set_block_permission;
using quern::detail::take_block;

constexpr std::size_t k_several_batches = 5 * magazine::k_rounds + 7;

struct piece {
    unsigned char* memory;
    std::size_t bytes;
};

piece make_piece(std::size_t bytes) {
    auto* const memory = static_cast<unsigned char*>(take_block(bytes));
    std::memset(memory, static_cast<int>(bytes & 0x7F), bytes);
    return {memory, bytes};
}

bool is_intact(const piece& p) {
    return std::all_of(p.memory, p.memory + p.bytes,
                       [&](unsigned char c) { return c == (p.bytes & 0x7F); });
}

/// Many blocks of all sizes, in use at the same time.
std::vector<piece> many_pieces() {
    std::vector<piece> all;
    for (std::size_t i = 0; i < k_several_batches; ++i) {
        for (std::size_t bytes = 1; bytes <= k_largest_block; bytes += 37) {
            all.push_back(make_piece(bytes));
        }
    }
    return all;
}

void give_all(const std::vector<piece>& all) {
    for (const piece& p : all) {
        give_block(p.memory, p.bytes);
    }
}

class blocks : public testing::TestWithParam<bool> {
protected:
    blocks() {
        if (GetParam()) {
            m_cache.emplace();
        }
    }
    ~blocks() override { set_block_permission(nullptr); }

    void end_cache() { m_cache.reset(); }

private:
    std::optional<block_cache> m_cache;
};

TEST_P(blocks, do_not_overlap_and_are_aligned) {
    const auto all = many_pieces();
    EXPECT_TRUE(std::all_of(all.begin(), all.end(), is_intact));
    for (const piece& p : all) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p.memory) % k_block_step, 0U);
    }
    give_all(all);
}

TEST_P(blocks, are_used_again) {
    give_all(many_pieces());
    const auto before = read_block_totals().held;
    for (int round = 0; round < 10; ++round) {
        give_all(many_pieces());
    }
    EXPECT_EQ(read_block_totals().held, before);  // without a cache all memory returns at once
}

TEST_P(blocks, of_which_none_is_in_use_go_back_to_the_system) {
    const auto all = many_pieces();
    EXPECT_GE(read_block_totals().held, all.size());
    give_all(all);
    end_cache();
    const auto after = read_block_totals();
    EXPECT_EQ(after.held, 0U);
    EXPECT_EQ(after.carved, 0U);
    EXPECT_EQ(after.waiting, 0U);
}

TEST_P(blocks, that_outlive_the_cache_stay) {
    const piece last = make_piece(100);
    end_cache();
    EXPECT_GT(read_block_totals().held, 0U);
    EXPECT_TRUE(is_intact(last));
    give_block(last.memory, last.bytes);
    EXPECT_EQ(read_block_totals().held, 0U);
}

TEST_P(blocks, refused_are_bad_alloc_and_lose_nothing) {
    static int left;
    left = 0;
    set_block_permission([]() noexcept { return left-- > 0; });
    EXPECT_THROW((void)take_block(64), std::bad_alloc);
    left = 1;
    const piece p = make_piece(64);
    set_block_permission(nullptr);
    EXPECT_TRUE(is_intact(p));
    give_block(p.memory, p.bytes);
    end_cache();
    EXPECT_EQ(read_block_totals().held, 0U);
}

INSTANTIATE_TEST_SUITE_P(with_and_without_a_cache, blocks, testing::Bool(),
                         [](const auto& which) { return which.param ? "cache" : "depot"; });

TEST(blocks_between_threads, serve_a_worker_when_others_have_given_them_up) {
    std::vector<piece> some;
    for (std::size_t i = 0; i < k_several_batches; ++i) {
        some.push_back(make_piece(96));
    }
    const piece last = some.back();  // keeps the memory
    some.pop_back();
    give_all(some);
    const auto before = read_block_totals().carved;
    {
        const block_cache own;
        for (piece& each : some) {
            each = make_piece(96);
        }
        EXPECT_EQ(read_block_totals().carved, before);
        EXPECT_TRUE(std::all_of(some.begin(), some.end(), is_intact));
        give_all(some);
    }
    give_block(last.memory, last.bytes);
    EXPECT_EQ(read_block_totals().held, 0U);
}

/// One thread allocates, the other frees: memory is reused instead of growing.
TEST(blocks_between_threads, go_back_to_the_one_who_makes) {
    constexpr int k_rounds = 200;
    std::mutex lock;
    std::vector<std::vector<piece>> handed;
    std::size_t in_use = 0;  ///< of what was handed over, what has not been given back
    std::size_t intact = 0;
    std::thread giver([&] {
        const block_cache own;
        for (int taken = 0; taken < k_rounds;) {
            std::vector<std::vector<piece>> got;
            {
                const std::scoped_lock held(lock);
                got.swap(handed);
            }
            for (const auto& pieces : got) {
                intact += static_cast<std::size_t>(
                    std::count_if(pieces.begin(), pieces.end(), is_intact));
                give_all(pieces);
                ++taken;
                const std::scoped_lock held(lock);
                --in_use;
            }
            std::this_thread::yield();
        }
    });
    std::size_t made = 0;
    std::size_t most = 0;
    {
        const block_cache own;
        for (int round = 0; round < k_rounds; ++round) {
            std::vector<piece> some;
            for (std::size_t i = 0; i < k_several_batches; ++i) {
                some.push_back(make_piece(96));
            }
            made += some.size();
            const std::scoped_lock held(lock);
            handed.push_back(std::move(some));
            most = std::max(most, ++in_use);
        }
        giver.join();
        const auto totals = read_block_totals();
        EXPECT_LE(totals.carved, (most + 3) * (k_several_batches + 4 * magazine::k_rounds) * 96);
    }
    EXPECT_EQ(intact, made);
    EXPECT_EQ(read_block_totals().held, 0U);
}

}  // namespace
