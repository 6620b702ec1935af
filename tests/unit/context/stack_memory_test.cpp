// SPDX-License-Identifier: BSL-1.0
// Memory for stacks: sizes, the room at the top, the guard below, recycling.
#include "side_stack.hpp"

#include <quern/base/detail/config.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using quern::k_stack_class_count;
using quern::stack_bytes;
using quern::stack_class;
using quern::detail::allocate_stack;
using quern::detail::current_stack_guard;
using quern::detail::k_block;
using quern::detail::k_room;
using quern::detail::k_room_offset;
using quern::detail::release_stack;
using quern::detail::stack_guard;
using quern::detail::stack_span;
using quern::detail::stacks_mapped;
using quern_test::side_stack;

constexpr std::array k_classes{stack_class::small, stack_class::medium, stack_class::large};
const auto k_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

static_assert(k_classes.size() == k_stack_class_count);
static_assert(stack_bytes(stack_class::small) == 64 * 1024);
static_assert(stack_bytes(stack_class::medium) == 512 * 1024);
static_assert(stack_bytes(stack_class::large) == 8 * 1024 * 1024);

std::size_t bytes_of(const stack_span& span) {
    return static_cast<std::size_t>(span.top - span.low);
}

TEST(stack_memory, has_the_size_of_its_class_less_the_guard) {
    for (const stack_class size : k_classes) {
        const stack_span span = allocate_stack(size);
        EXPECT_EQ(span.size, size);
        EXPECT_GE(bytes_of(span), stack_bytes(size) - k_page);
        std::memset(span.low, 1, bytes_of(span));
        release_stack(span);
    }
}

TEST(stack_memory, has_its_room_where_masking_finds_it) {
    for (const stack_class size : k_classes) {
        const stack_span span = allocate_stack(size);
        const auto room = reinterpret_cast<std::uintptr_t>(span.room);
        EXPECT_EQ(room % k_block, k_room_offset);
        EXPECT_EQ(static_cast<void*>(span.top), span.room);
        std::memset(span.room, 2, k_room);
        release_stack(span);
    }
}

/// Uses up stack until the frame is below `limit`; returns the number of frames.
QUERN_NOINLINE int recurse_below(const char* limit) {
    volatile char frame[512];
    frame[0] = 1;
    const auto* here = const_cast<const char*>(&frame[0]);
    return here < limit ? frame[0] : frame[0] + recurse_below(limit);
}

TEST(stack_memory, can_be_used_to_its_last_page) {
    for (const stack_class size : k_classes) {
        int frames = 0;
        side_stack side([&](side_stack& self) { frames = recurse_below(self.span().low + k_page); },
                        size);
        side.enter();
        EXPECT_GT(frames, static_cast<int>(stack_bytes(size) / 4096));
    }
}

TEST(stack_memory, is_recycled_last_in_first_out) {
    const stack_span one = allocate_stack(stack_class::small);
    const stack_span two = allocate_stack(stack_class::small);
    EXPECT_NE(one.low, two.low);
    release_stack(one);
    release_stack(two);
    const std::size_t mapped = stacks_mapped();
    for (int i = 0; i < 1000; ++i) {
        const stack_span again = allocate_stack(stack_class::small);
        ASSERT_EQ(again.low, two.low);
        release_stack(again);
    }
    EXPECT_EQ(stacks_mapped(), mapped);
}

TEST(stack_memory, of_two_spans_never_overlaps) {
    std::vector<stack_span> spans;
    for (int i = 0; i < 400; ++i) {  // more than one slab
        spans.push_back(allocate_stack(k_classes[static_cast<std::size_t>(i % 2)]));
    }
    std::sort(spans.begin(), spans.end(),
              [](const stack_span& a, const stack_span& b) { return a.low < b.low; });
    for (std::size_t i = 1; i < spans.size(); ++i) {
        const char* end_of_room = static_cast<char*>(spans[i - 1].room) + k_room;
        EXPECT_LE(end_of_room + k_page, spans[i].low);
    }
    for (const stack_span& span : spans) {
        release_stack(span);
    }
}

TEST(stack_memory, is_given_to_one_thread_at_a_time) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([t] {
            for (int i = 0; i < 1000; ++i) {
                const stack_span span = allocate_stack(stack_class::small);
                *span.low = static_cast<char>(t);
                *(span.top - 1) = static_cast<char>(t);
                std::this_thread::yield();
                ASSERT_EQ(*span.low, static_cast<char>(t));
                ASSERT_EQ(*(span.top - 1), static_cast<char>(t));
                release_stack(span);
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

TEST(stack_guard, has_a_name) {
    EXPECT_EQ(to_string(stack_guard::page), "page");
    EXPECT_EQ(to_string(stack_guard::mapping), "mapping");
    EXPECT_EQ(to_string(stack_guard::canary), "canary");
}

class stack_guard_death_test : public testing::Test {
protected:
    void SetUp() override {
        if (quern::detail::k_asan || quern::detail::k_tsan) {
            GTEST_SKIP() << "sanitizers have a handler for SIGSEGV";
        }
        const stack_span span = allocate_stack(stack_class::small);
        release_stack(span);
        if (current_stack_guard() == stack_guard::canary) {
            GTEST_SKIP() << "no guard page on this system";
        }
        GTEST_FLAG_SET(death_test_style, "threadsafe");
    }
};

TEST_F(stack_guard_death_test, is_hit_by_a_write_below_the_stack) {
    for (const stack_class size : k_classes) {
        EXPECT_EXIT(
            {
                const stack_span span = allocate_stack(size);
                *static_cast<volatile char*>(span.low - 1) = 1;
            },
            testing::KilledBySignal(SIGSEGV), "");
    }
}

TEST_F(stack_guard_death_test, is_hit_by_a_recursion_that_is_too_deep) {
    EXPECT_EXIT(
        {
            side_stack side([](side_stack&) { recurse_below(nullptr); });
            side.enter();
        },
        testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
