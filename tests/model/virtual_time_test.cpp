// SPDX-License-Identifier: BSL-1.0
// The machine with virtual time (bench/virtual): what an access costs by the state of its line, as
// computed by hand; sleep and wake-up; and that a run depends on nothing but its seed.
#include <gtest/gtest.h>

#include <atomic.hpp>
#include <spawn.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace {

using virtual_time::access;
using virtual_time::atomics;
using virtual_time::costs;
using virtual_time::machine;
using virtual_time::picoseconds;

/// Each cost is told from each sum of others.
costs simple() {
    costs c;
    c.load = 1;
    c.store = 2;
    c.modify = 5;
    c.transfer = 64'000;
    c.shared = 32'000;
    c.pause = 45'000;
    c.clock = 8'000;
    c.yield = 174'000;
    c.futex_call = 200'000;
    c.futex_wake = 1'500'000;
    c.wake_latency = 40'000'000;
    c.barrier = 650'000;
    c.interrupt = 600'000;
    c.loop_turn = 30'000;
    c.inline_spawn = 2'000;
    c.queued_spawn = 5'000;
    return c;
}

struct alignas(64) word {
    virtual_time::atomic<std::uint32_t> value{0};
};

picoseconds now() { return machine::running()->now(); }

TEST(virtual_time, a_line_that_two_cores_change_is_with_one_at_a_time) {
    constexpr int k_rounds = 10;
    machine m(simple(), 1);
    word shared;
    word done;
    picoseconds ended[2] = {0, 0};
    const auto change = [&](int core) {
        for (int i = 0; i < k_rounds; ++i) {
            shared.value.fetch_add(1);
        }
        ended[core] = now();
        done.value.fetch_add(1);
    };
    m.add_core([&] {
        change(0);
        while (done.value.load() != 2) {
            atomics::pause();
        }
    });
    m.add_core([&] { change(1); });
    m.run();
    // Each change begins when the line has come, and the line is sent on at once.
    EXPECT_EQ(std::max(ended[0], ended[1]), 2 * k_rounds * 64'000 + 5);
    EXPECT_EQ(std::min(ended[0], ended[1]), (2 * k_rounds - 1) * 64'000 + 5);
    EXPECT_EQ(shared.value.raw(), 2U * k_rounds);
}

TEST(virtual_time, a_core_that_holds_a_line_pays_no_transfer) {
    machine m(simple(), 1);
    word mine;
    m.add_core([&] {
        mine.value.fetch_add(1);
        const picoseconds start = now();
        mine.value.fetch_add(1);
        static_cast<void>(mine.value.load());
        mine.value.store(3, std::memory_order_release);
        EXPECT_EQ(now() - start, 5U + 1 + 2);
    });
    m.run();
}

TEST(virtual_time, only_a_read_modify_write_waits_for_an_earlier_store) {
    machine m(simple(), 1);
    word one;
    word two;
    m.add_core([&] {
        one.value.fetch_add(1);
        const picoseconds start = now();
        two.value.store(1, std::memory_order_release);
        EXPECT_EQ(now() - start, 2U);
        one.value.fetch_add(1);
        EXPECT_EQ(now() - start, 64'000U + 5);
    });
    m.run();
}

TEST(virtual_time, a_reader_makes_the_next_write_of_the_owner_pay) {
    machine m(simple(), 1);
    word line;
    word read;
    m.add_core([&] {
        line.value.fetch_add(1);
        while (read.value.load() == 0) {
            atomics::pause();
        }
        const picoseconds start = now();
        static_cast<void>(line.value.load());
        EXPECT_EQ(now() - start, 1U) << "both hold it";
        line.value.fetch_add(1);
        EXPECT_EQ(now() - start, 1U + 64'000 + 5);
    });
    m.add_core([&] {
        machine::running()->spend(200'000);
        const picoseconds start = now();
        EXPECT_EQ(line.value.load(), 1U);
        EXPECT_EQ(now() - start, 64'000U);
        read.value.store(1);
    });
    m.run();
}

TEST(virtual_time, a_sleeper_runs_a_latency_after_the_call_that_wakes_it) {
    machine m(simple(), 1);
    word bell;
    word done;
    picoseconds woken = 0;
    picoseconds called = 0;
    m.add_core([&] {
        machine::running()->spend(1'000'000);  // the other sleeps
        bell.value.store(1);
        atomics::futex_wake(bell.value, 1);
        called = now();
        atomics::futex_wait(done.value, 0);
    });
    m.add_core([&] {
        atomics::futex_wait(bell.value, 0);
        woken = now();
        atomics::futex_wait(bell.value, 0);  // has changed: returns at once
        EXPECT_EQ(now() - woken, 200'000U);
        done.value.store(1);
        atomics::futex_wake(done.value, 1);
        atomics::futex_wait(done.value, 1);
    });
    m.run();
    EXPECT_EQ(called, 1'000'000U + 64'000 + 5 + 1'500'000);
    EXPECT_EQ(woken, called + 40'000'000);
}

TEST(virtual_time, a_barrier_delays_the_cores_that_run) {
    machine m(simple(), 1);
    picoseconds other = 0;
    word sync;
    m.add_core([&] {
        atomics::heavy_barrier();
        EXPECT_EQ(now(), 650'000U);
        machine::running()->spend(10'000'000);
        static_cast<void>(sync.value.load());
    });
    m.add_core([&] {
        machine::running()->spend(1'000'000);
        sync.value.fetch_add(1);
        other = now();
    });
    m.run();
    EXPECT_EQ(other, 1'000'000U + 600'000 + 64'000 + 5);
}

TEST(virtual_time, a_run_depends_on_its_seed_alone) {
    const auto run = [](std::uint64_t seed) {
        return virtual_time::simulate_spawn(simple(), {}, 4, 20'000, seed);
    };
    const auto first = run(1);
    const auto again = run(1);
    EXPECT_EQ(first.ns_per_task, again.ns_per_task);
    EXPECT_EQ(first.counted.accesses, again.counted.accesses);
    EXPECT_EQ(first.counted.transfers, again.counted.transfers);
    EXPECT_NE(first.counted.accesses, run(2).counted.accesses);
    EXPECT_GT(first.stolen, 0);
}

TEST(virtual_time, a_single_worker_pays_for_its_own_instructions) {
    const auto r = virtual_time::simulate_spawn(simple(), {}, 1, 100'000, 1);
    EXPECT_NEAR(r.ns_per_task, 2.003, 0.02);  // and three loads of its own
    EXPECT_EQ(r.stolen, 0);
}

TEST(virtual_time, each_cost_says_where_it_comes_from) {
    const auto error = [](const std::string& text) -> std::string {
        try {
            virtual_time::parse_costs(text, "m.txt");
        } catch (const std::runtime_error& e) {
            return e.what();
        }
        return "none";
    };
    EXPECT_EQ(error("load = 1\n"), "m.txt:1: expected: key = nanoseconds  # source");
    EXPECT_EQ(error("load = 1 #\n"), "m.txt:1: expected: key = nanoseconds  # source");
    EXPECT_EQ(error("# x\nlod = 1 # y\n"), "m.txt:2: unknown or repeated key: lod");
    for (const std::string none : {"0", "0.0004"}) {
        EXPECT_EQ(error("load = " + none + " # y\n"),
                  "m.txt:1: load must be a picosecond or more: time would stand still");
    }
    EXPECT_EQ(error("load = 1 # y\n"), "m.txt: missing key: barrier");
}

}  // namespace
