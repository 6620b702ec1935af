// SPDX-License-Identifier: BSL-1.0
// Waits in a recording: for which object, for how long, by which tasks, and at which line.
#include <quern/scheduler/runtime.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>
#include <quern/trace/perfetto.hpp>
#include <quern/trace/profile.hpp>
#include <quern/trace/recorder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace std::chrono_literals;
using quern::trace::recording;
using quern::trace::wait_row;

const wait_row* row_of(const recording& run, std::string_view kind) {
    const auto at = std::find_if(run.waits.begin(), run.waits.end(),
                                 [&](const wait_row& each) { return each.kind == kind; });
    return at == run.waits.end() ? nullptr : &*at;
}

/// The text for a place in this file; empty if the build has no lines.
std::string place(int line) {
    return QUERN_TEST_HAS_LINES ? "waits_test.cpp:" + std::to_string(line) : "";
}

constexpr int k_holders = 8;
constexpr auto k_held = 5ms;

/// Tasks that hold a mutex one after the other, the first one until all have come. Returns the line
/// where they wait.
int hold_in_turns(quern::runtime& rt, quern::mutex& shared) {
    quern::task_group group(rt.default_pool());
    std::atomic<int> come = 0;
    const int line = __LINE__ + 4;
    for (int i = 0; i < k_holders; ++i) {
        group.run({.name = "holder"}, [&] {
            ++come;
            const std::scoped_lock lock(shared);
            const quern::ignore_held_locks meant;
            while (come != k_holders) {
                quern::this_task::yield();
            }
            quern::this_task::sleep_for(k_held);
        });
    }
    group.wait();
    return line;
}

TEST(waits_test, for_a_mutex_name_the_mutex_the_task_and_the_line) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::mutex shared;
    quern::trace::recorder recorder(rt);
    const int line = hold_in_turns(rt, shared);
    const recording run = recorder.stop();

    const wait_row* const row = row_of(run, "mutex");
    ASSERT_NE(row, nullptr);
    EXPECT_TRUE(row->is_lock);
    EXPECT_EQ(row->thing, reinterpret_cast<std::uint64_t>(&shared));
    EXPECT_EQ(run.sites[row->site].name, "holder");
    // The first one does not wait, and the last one waits for all others.
    EXPECT_EQ(row->waits, k_holders - 1U);
    const double held_ns = std::chrono::nanoseconds(k_held).count();
    EXPECT_GE(row->max_ns, (k_holders - 2) * held_ns);
    EXPECT_GE(row->total_ns, (k_holders - 2) * (k_holders - 2) / 2 * held_ns);
    EXPECT_EQ(row->lines.front().location, place(line));
    EXPECT_EQ(row->lines.front().waits, row->waits);
    EXPECT_GE(run.sites[row->site].waited_ns, row->total_ns);
}

TEST(waits_test, are_known_to_the_piece_that_they_end) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::mutex shared;
    quern::trace::recorder recorder(rt);
    hold_in_turns(rt, shared);
    const recording run = recorder.stop();
    std::size_t at_mutex = 0;
    for (const quern::trace::lane& lane : run.lanes) {
        for (const quern::trace::slice& piece : lane.slices) {
            ASSERT_LE(piece.wait, run.waits.size());
            EXPECT_TRUE(piece.wait == 0 || piece.suspended);
            at_mutex += piece.wait != 0 && run.waits[piece.wait - 1].kind == "mutex" ? 1 : 0;
        }
    }
    EXPECT_EQ(at_mutex, k_holders - 1U);

    std::ostringstream trace;
    quern::trace::write_perfetto(run, trace);
    EXPECT_NE(trace.str().find("waits for"), std::string::npos);
    EXPECT_NE(trace.str().find("mutex 0x"), std::string::npos);
}

TEST(waits_test, of_a_profile_are_complete) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::mutex shared;
    quern::trace::recorder recorder(rt, {.events_per_worker = 0, .sample = 0});
    const int line = hold_in_turns(rt, shared);
    const recording run = recorder.stop();
    const wait_row* const row = row_of(run, "mutex");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->waits, k_holders - 1U);
    std::ostringstream profile;
    quern::trace::write_profile(run, profile);
    const std::string text = profile.str();
    EXPECT_NE(text.find(place(line)), std::string::npos) << text;
    EXPECT_NE(text.find("mutex 0x"), std::string::npos) << text;
}

TEST(waits_test, at_two_lines_of_a_task_are_told_apart) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::latch early(1);
    quern::latch late(1);
    quern::trace::recorder recorder(rt);
    const int first = __LINE__ + 2;
    auto waiting = quern::async({.name = "twice", .pool = &rt.default_pool().get()}, [&] {
        early.wait();
        late.wait();
    });
    std::this_thread::sleep_for(20ms);
    early.count_down();
    std::this_thread::sleep_for(40ms);
    late.count_down();
    waiting.get();
    const recording run = recorder.stop();
    ASSERT_GE(run.waits.size(), 2U);
    EXPECT_EQ(run.waits[0].lines.front().location, place(first + 1));
    EXPECT_EQ(run.waits[1].lines.front().location, place(first));
    EXPECT_GT(run.waits[0].total_ns, run.waits[1].total_ns);
}

TEST(waits_test, for_futures_are_one_row_and_a_yield_is_none) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::trace::recorder recorder(rt);
    quern::async({.name = "consumer", .pool = &rt.default_pool().get()}, [] {
        for (int i = 0; i < 10; ++i) {
            quern::promise<int> answer;
            quern::future<int> wanted = answer.get_future();
            auto producer = quern::async([&answer] { answer.set_value(1); });
            EXPECT_EQ(wanted.get(), 1);
            quern::this_task::yield();
            producer.get();
        }
    }).get();
    const recording run = recorder.stop();
    const wait_row* const row = row_of(run, "a future");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->thing, 0U);
    EXPECT_GE(row->waits, 10U);
    EXPECT_EQ(row_of(run, "its turn"), nullptr);
}

}  // namespace
