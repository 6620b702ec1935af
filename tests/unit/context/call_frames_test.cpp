// SPDX-License-Identifier: BSL-1.0
// Finding the calls on a suspended stack: compiled twice, with frame pointers and without.
#include "side_stack.hpp"

#include <quern/base/detail/call_frames.hpp>
#include <quern/base/detail/rng.hpp>

#include <gtest/gtest.h>

#include <alloca.h>
#include <unwind.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using quern::detail::frame_registers;
using quern_test::side_stack;

/// The functions that the calls are in.
std::vector<const void*> functions_of(const frame_registers& from) {
    std::array<const void*, 64> calls{};
    const std::size_t found = quern::detail::walk_calls(from, calls);
    std::vector<const void*> functions;
    for (std::size_t i = 0; i < found; ++i) {
        functions.push_back(_Unwind_FindEnclosingFunction(const_cast<void*>(calls[i])));
    }
    return functions;
}

std::vector<const void*> functions_of(const side_stack& side) {
    frame_registers from;
    return side.stack().registers(from) ? functions_of(from) : std::vector<const void*>();
}

template <class F>
const void* address_of(F* function) {
    return reinterpret_cast<const void*>(function);
}

std::size_t place_of(const std::vector<const void*>& calls, const void* function) {
    return static_cast<std::size_t>(std::find(calls.begin(), calls.end(), function) -
                                    calls.begin());
}

QUERN_NOINLINE int leave_inside(side_stack& self, int depth) {
    self.leave();
    asm volatile("");
    return depth;
}

QUERN_NOINLINE int call_leave_inside(side_stack& self, int depth) {
    volatile int here = depth;
    const int below = leave_inside(self, depth + 1);
    return below + here;
}

/// An aligned frame, whose size is known only at run time.
QUERN_NOINLINE int call_with_odd_frame(side_stack& self, int size) {
    alignas(64) volatile char aligned[64];
    auto* const room = static_cast<volatile char*>(alloca(static_cast<std::size_t>(size)));
    aligned[0] = 1;
    room[0] = 2;
    return call_leave_inside(self, size) + aligned[0] + room[0];
}

// Holds: task_report: Code needs no frame pointers for the calls in a report; a stack that is
//     entered meanwhile does no harm.
TEST(calls_on_a_stack_that_was_left, are_found_innermost_first) {
    side_stack side([](side_stack& self) { call_leave_inside(self, 0); });
    side.enter();
    const auto calls = functions_of(side);
    const std::size_t inner = place_of(calls, address_of(leave_inside));
    EXPECT_LT(inner, 4U) << "leave() and switch_to() come before";
    EXPECT_EQ(place_of(calls, address_of(call_leave_inside)), inner + 1);
    EXPECT_GT(calls.size(), inner + 2);
    EXPECT_LT(calls.size(), 64U) << "it has an end";
    side.enter();
    EXPECT_TRUE(side.ended());
}

TEST(calls_on_a_stack_that_was_left, are_found_through_frames_that_are_aligned) {
    side_stack side([](side_stack& self) { call_with_odd_frame(self, 100); });
    side.enter();
    const auto calls = functions_of(side);
    const std::size_t inner = place_of(calls, address_of(call_leave_inside));
    ASSERT_LT(inner, calls.size());
    EXPECT_EQ(place_of(calls, address_of(call_with_odd_frame)), inner + 1);
    EXPECT_GT(calls.size(), inner + 2);
    side.enter();
}

TEST(calls_on_a_stack_that_was_left, end_with_the_space_for_them) {
    side_stack side([](side_stack& self) { call_leave_inside(self, 0); });
    side.enter();
    frame_registers from;
    ASSERT_TRUE(side.stack().registers(from));
    std::array<const void*, 2> calls{};
    EXPECT_EQ(quern::detail::walk_calls(from, calls), 2U);
    EXPECT_EQ(quern::detail::walk_calls(from, {}), 0U);
    side.enter();
}

struct waiting_thread {
    std::atomic<const frame_registers*> place{nullptr};
    std::atomic<bool> go_on{false};
};

QUERN_NOINLINE int wait_here(waiting_thread& shared) {
    const frame_registers here = quern::detail::registers_here();
    shared.place = &here;
    while (!shared.go_on) {
        std::this_thread::yield();
    }
    return 1;
}

QUERN_NOINLINE int call_wait_here(waiting_thread& shared) {
    volatile int one = 1;
    return wait_here(shared) + one;
}

TEST(calls_of_a_thread, are_found_from_where_it_has_noted_its_registers) {
    waiting_thread shared;
    std::thread waits([&shared] { call_wait_here(shared); });
    while (shared.place == nullptr) {
        std::this_thread::yield();
    }
    const auto calls = functions_of(*shared.place);
    ASSERT_GT(calls.size(), 2U);
    EXPECT_EQ(calls[0], address_of(wait_here));
    EXPECT_EQ(calls[1], address_of(call_wait_here));
    shared.go_on = true;
    waits.join();
}

/// The stack may have been resumed: the unwinder must tolerate any content.
// Holds: task_report: Code needs no frame...
TEST(calls_from_wrong_registers, do_no_harm) {
    quern::detail::rng random(7);
    side_stack side([](side_stack& self) { call_with_odd_frame(self, 100); });
    side.enter();
    frame_registers right;
    ASSERT_TRUE(side.stack().registers(right));
    for (int i = 0; i < 3000; ++i) {
        frame_registers wrong = right;
        for (unsigned number = 0; number < frame_registers::k_count; ++number) {
            if (wrong.knows(number) && random.next() % 2 == 0) {
                wrong.set(number, random.next() % 3 == 0
                                      ? random.next()
                                      : right.get(number) + random.next() % 4096 - 2048);
            }
        }
        if (random.next() % 4 == 0) {
            wrong.pc += random.next() % 512;
        }
        std::array<const void*, 32> calls{};
        EXPECT_LE(quern::detail::walk_calls(wrong, calls), calls.size());
    }
    side.enter();
}

}  // namespace
