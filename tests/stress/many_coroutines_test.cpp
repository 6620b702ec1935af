// SPDX-License-Identifier: BSL-1.0
// A million suspended coroutines at once, at a future or at a channel: they cost their frames and
// the states of their own futures.
#include "process.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/sync/channel.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/promise.hpp>

#include <cstdio>
#include <vector>

namespace {

using quern_test::resident_bytes;

constexpr std::size_t k_waiting = quern_test::scaled<std::size_t>(1'000'000, 50'000);

quern::task<std::size_t> waits(quern::shared_future<std::size_t> f, std::size_t i) {
    co_return co_await f + i;
}

quern::task<std::size_t> receives(quern::channel<std::size_t>& values) {
    const auto value = co_await values.co_receive();
    co_return value.value_or(0);
}

/// Starts them, waits until all are suspended, and measures their memory.
template <class Make>
std::vector<quern::future<std::size_t>> suspended(quern::runtime& rt, Make make) {
    const std::size_t before = resident_bytes();
    std::vector<quern::future<std::size_t>> all;
    all.reserve(k_waiting);
    for (std::size_t i = 0; i < k_waiting; ++i) {
        all.push_back(quern::start(rt, make(i)));
    }
    EXPECT_TRUE(quern_test::eventually([&] { return rt.totals().activations >= k_waiting; },
                                       std::chrono::seconds(60)));
    const double mib = static_cast<double>(resident_bytes() - before) / (1 << 20);
    std::printf("%zu suspended coroutines: %.0f MiB\n", k_waiting, mib);
    if (!quern_test::k_sanitized) {
        EXPECT_LT(mib, 400.0);
    }
    return all;
}

// Holds: task: A suspended one and its future take less than 400 bytes.
TEST(many_coroutines, a_million_suspended_at_once_take_less_than_400_MiB) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::promise<std::size_t> p;
    const quern::shared_future<std::size_t> f = p.get_future();
    auto all = suspended(rt, [&f](std::size_t i) { return waits(f, i); });
    p.set_value(1);
    for (std::size_t i = 0; i < k_waiting; ++i) {
        ASSERT_EQ(all[i].get(), i + 1);
    }
}

// Holds: co_await on synchronisation: A coroutine that waits at a channel and its future take less
//     than 400 bytes.
TEST(many_coroutines, a_million_that_wait_at_a_channel_take_less_than_400_MiB) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::channel<std::size_t> values(100);
    auto all = suspended(rt, [&values](std::size_t) { return receives(values); });
    std::size_t expected = 0;
    for (std::size_t i = 0; i < k_waiting; ++i) {
        values.send(i);
        expected += i;
    }
    std::size_t sum = 0;
    for (auto& each : all) {
        sum += each.get();
    }
    EXPECT_EQ(sum, expected);
}

}  // namespace
