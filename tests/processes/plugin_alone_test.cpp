// SPDX-License-Identifier: BSL-1.0
// A host without Quern loads a plug-in that contains Quern, uses it and closes it: the plug-in's
// threads end before its code is unloaded, and nothing is left behind.
#include "loaded.hpp"
#include "stress/process.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using quern_test::becomes_thread_count;
using quern_test::k_plugin_sum;
using quern_test::loaded;
using quern_test::resident_bytes;
using quern_test::thread_count;
using quern_test::thread_count_at_rest;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool k_sanitized = true;
#else
constexpr bool k_sanitized = false;
#endif

TEST(plugin_alone, its_threads_and_its_code_are_gone_when_it_is_closed) {
    const std::size_t before = thread_count_at_rest();
    {
        const loaded plugin;
        EXPECT_EQ(plugin.find<decltype(plugin_run)>("plugin_run")(), k_plugin_sum);
        EXPECT_EQ(plugin.find<decltype(plugin_throw)>("plugin_throw")(), 9);
        EXPECT_GT(thread_count(), before);
    }
    EXPECT_TRUE(becomes_thread_count(before));
    EXPECT_FALSE(loaded::in_memory());
}

TEST(plugin_alone, it_may_be_opened_and_closed_again_and_again) {
    constexpr int k_warm_up = 5;
    constexpr int k_cycles = 25;
    const std::size_t threads = thread_count_at_rest();
    std::size_t memory = 0, addresses = 0;
    for (int i = 0; i < k_cycles; ++i) {
        if (i == k_warm_up) {
            memory = resident_bytes();
            addresses = quern_test::mapped_bytes();
        }
        const loaded plugin;
        ASSERT_EQ(plugin.find<decltype(plugin_run)>("plugin_run")(), k_plugin_sum);
    }
    std::printf("[ plug-in  ] %d cycles: %zu -> %zu KiB resident, %zu -> %zu MiB mapped\n",
                k_cycles - k_warm_up, memory >> 10, resident_bytes() >> 10, addresses >> 20,
                quern_test::mapped_bytes() >> 20);
    EXPECT_TRUE(becomes_thread_count(threads));
    if (!k_sanitized) {
        constexpr std::size_t k_noise = std::size_t{1} << 20;  // bytes: variation of the heap
        EXPECT_LT(resident_bytes(), memory + k_noise);
        // Less than one stack per cycle; the C library reserves 64 MiB for an arena of its heap.
        EXPECT_LT(quern_test::mapped_bytes(), addresses + 80 * k_noise);
    }
}

TEST(plugin_alone, it_may_be_used_by_several_threads_and_closed_by_another) {
    const std::size_t before = thread_count_at_rest();
    std::vector<std::thread> users;
    std::thread([&users] {
        const loaded plugin;
        auto* const run = plugin.find<decltype(plugin_run)>("plugin_run");
        for (int i = 0; i < 4; ++i) {
            users.emplace_back([run] { EXPECT_EQ(run(), k_plugin_sum); });
        }
        for (std::thread& user : users) {
            user.join();
        }
    }).join();
    EXPECT_TRUE(becomes_thread_count(before));
    EXPECT_FALSE(loaded::in_memory());
}

}  // namespace
