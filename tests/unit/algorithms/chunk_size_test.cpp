// SPDX-License-Identifier: BSL-1.0
// The size of the chunks of a loop follows the time that iterations take.
#include <quern/algorithms/detail/chunk_size.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

namespace {

using quern::grain;
using quern::detail::chunk_size;

/// Runs a chunk whose iterations each take so many ns.
void run(chunk_size& chunk, double ns_each) {
    chunk.run([&] {
        const double ns = ns_each * static_cast<double>(chunk.get());
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::nanoseconds(static_cast<long>(ns));
        while (std::chrono::steady_clock::now() < until) {
        }
    });
}

/// Chunks until one is long enough.
void settle(chunk_size& chunk, double ns_each) {
    for (int i = 0; i < 100 && !chunk.settled(); ++i) {
        run(chunk, ns_each);
    }
    ASSERT_TRUE(chunk.settled());
}

// Holds: parallel_for: Chunks grow until one takes 2 us.
TEST(chunk_size_test, grows_until_a_chunk_is_long_enough) {
    chunk_size chunk(grain::automatic());
    EXPECT_EQ(chunk.get(), 1U);
    settle(chunk, 10);
    EXPECT_GE(chunk.get(), 1U);
    EXPECT_LE(chunk.get(), 256U);  // the clock's own time is in it
}

// Holds: parallel_for: When iterations take much longer than the first ones, chunks shrink; when they
//     take much less again, chunks grow.
TEST(chunk_size_test, follows_iterations_that_change) {
    chunk_size chunk(grain::automatic());
    settle(chunk, 10);
    const std::size_t before = chunk.get();
    run(chunk, 10'000);
    run(chunk, 10'000);
    EXPECT_EQ(chunk.get(), 1U);  // of 10 us
    for (int i = 0; i < 100 && chunk.get() < before / 4; ++i) {
        chunk.run([] {});  // without the clock, whose time alone may be half a microsecond
    }
    EXPECT_GE(chunk.get(), before / 4);
}

// Holds: parallel_for: A fixed grain never changes.
TEST(chunk_size_test, stays_when_it_is_fixed) {
    chunk_size chunk(grain::fixed(64));
    EXPECT_TRUE(chunk.settled());
    run(chunk, 1);
    run(chunk, 10'000);
    EXPECT_EQ(chunk.get(), 64U);
}

}  // namespace
