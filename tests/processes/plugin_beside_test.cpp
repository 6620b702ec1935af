// SPDX-License-Identifier: BSL-1.0
// A host that contains Quern and exports all its symbols loads a plug-in that uses Quern too. With
// static libraries these are two copies, each with a default runtime and a current task of its own;
// with shared ones (BUILD_SHARED_LIBS) both use one.
#include "loaded.hpp"
#include "stress/process.hpp"

#include <quern/quern.hpp>

#include <gtest/gtest.h>

namespace {

using quern_test::becomes_thread_count;
using quern_test::k_plugin_sum;
using quern_test::loaded;
using quern_test::thread_count;
using quern_test::thread_count_at_rest;

constexpr bool k_one_copy = QUERN_TEST_ONE_COPY;

const void* host_pool() { return &quern::runtime::default_instance().default_pool().get(); }

TEST(plugin_beside, host_and_plug_in_share_no_static_copy_and_one_shared_copy) {
    EXPECT_EQ(quern::async([] { return 1; }).get(), 1);
    const std::size_t before = thread_count_at_rest();
    {
        const loaded plugin;
        EXPECT_EQ(plugin.find<decltype(plugin_run)>("plugin_run")(), k_plugin_sum);
        EXPECT_EQ(plugin.find<decltype(plugin_pool)>("plugin_pool")() == host_pool(), k_one_copy);
        EXPECT_EQ(thread_count() == before, k_one_copy);
    }
    EXPECT_TRUE(becomes_thread_count(before));
    EXPECT_FALSE(loaded::in_memory());
    EXPECT_EQ(quern::async([] { return 2; }).get(), 2);
}

TEST(plugin_beside, a_task_of_the_host_is_a_plain_thread_to_another_copy) {
    const loaded plugin(RTLD_LAZY | RTLD_GLOBAL);
    auto* const run = plugin.find<decltype(plugin_run)>("plugin_run");
    auto* const sees_task = plugin.find<decltype(plugin_sees_task)>("plugin_sees_task");
    const auto call = [&] {
        EXPECT_TRUE(quern::this_task::is_task());
        EXPECT_EQ(sees_task(), k_one_copy);
        return run();  // the other copy blocks this worker meanwhile, as any foreign library may
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
