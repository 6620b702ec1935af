// SPDX-License-Identifier: BSL-1.0
// A host with Quern inside, which exports all its symbols, loads a plug-in that has Quern inside
// too: two copies, each with a default runtime and a current task of its own.
#include "loaded.hpp"
#include "stress/process.hpp"

#include <quern/quern.hpp>

#include <gtest/gtest.h>

namespace {

using quern_test::k_plugin_sum;
using quern_test::loaded;
using quern_test::thread_count;

const void* host_pool() { return &quern::runtime::default_instance().default_pool().get(); }

TEST(plugin_beside, host_and_plug_in_keep_to_their_own_copies) {
    EXPECT_EQ(quern::async([] { return 1; }).get(), 1);
    const std::size_t before = thread_count();
    {
        const loaded plugin;
        EXPECT_EQ(plugin.find<decltype(plugin_run)>("plugin_run")(), k_plugin_sum);
        EXPECT_NE(plugin.find<decltype(plugin_pool)>("plugin_pool")(), host_pool());
        EXPECT_GT(thread_count(), before);
    }
    EXPECT_EQ(thread_count(), before);
    EXPECT_FALSE(loaded::in_memory());
    EXPECT_EQ(quern::async([] { return 2; }).get(), 2);
}

TEST(plugin_beside, a_task_of_the_host_is_a_plain_thread_to_the_plug_in) {
    const loaded plugin(RTLD_LAZY | RTLD_GLOBAL);
    auto* const run = plugin.find<decltype(plugin_run)>("plugin_run");
    auto* const sees_task = plugin.find<decltype(plugin_sees_task)>("plugin_sees_task");
    const auto call = [&] {
        EXPECT_TRUE(quern::this_task::is_task());
        EXPECT_FALSE(sees_task());
        return run();  // blocks its worker meanwhile, as any foreign library may
    };
    EXPECT_EQ(quern::async({.stack = quern::stack_class::large}, call).get(), k_plugin_sum);
}

TEST(plugin_beside, it_may_be_loaded_and_closed_in_a_task) {
    const auto life = [] {
        const loaded plugin;
        return plugin.find<decltype(plugin_run)>("plugin_run")();
    };
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(quern::async({.stack = quern::stack_class::large}, life).get(), k_plugin_sum);
        EXPECT_FALSE(loaded::in_memory());
    }
}

}  // namespace
