// SPDX-License-Identifier: BSL-1.0
// The names of kinds of tasks without a name of the user's.
#include <quern/algorithms/parallel_for.hpp>
#include <quern/base/detail/clock.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/task/async.hpp>
#include <quern/trace/recorder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace site_names {

/// With linkage, so that the linker knows the whole name.
[[gnu::noinline]] int body(int argc, char**);

int lambda_line = 0;

int body(int argc, char**) {
    lambda_line = __LINE__ + 1;
    return quern::async([argc] { return argc + 1; }).get();
}

}  // namespace site_names

namespace {

TEST(site_names_test, a_lambda_is_told_from_the_function_around_it) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::trace::recorder recorder(rt);
    quern::async({.name = "main task", .pool = &rt.default_pool().get()}, [] {
        return site_names::body(1, nullptr);
    }).get();
    const quern::trace::recording run = recorder.stop();
    const std::string place = QUERN_TEST_HAS_LINES
                                  ? "site_names_test.cpp:" + std::to_string(site_names::lambda_line)
                                  : "";
    const auto at = std::find_if(run.sites.begin(), run.sites.end(), [&](const auto& site) {
        return site.location == place && site.name != "main task";
    });
    ASSERT_NE(at, run.sites.end());
    EXPECT_TRUE(at->name.starts_with("site_names::body(int, char**)'s lambda")) << at->name;
}

/// Iterations of the second half take longer, so that the worker of the first one asks for more.
/// 1 if another worker than `dealer` runs it.
int is_stolen(int i, int dealer) {
    const double wanted_ns = i < 100 ? 1'000 : 20'000;
    const auto begun = quern::detail::ticks();
    while (quern::detail::ticks() - begun < quern::detail::ticks_of_ns(wanted_ns)) {
    }
    return quern::current_worker_rank() != dealer ? 1 : 0;
}

int stolen_of_some_loops() {
    constexpr int k_rounds = 30;
    constexpr int k_most = 1'000;
    int stolen = 0;
    for (int round = 0; round < k_rounds || (round < k_most && stolen == 0); ++round) {
        stolen += quern::parallel_reduce(
            0, 200, 0,
            [dealer = quern::current_worker_rank()](int i) { return is_stolen(i, dealer); },
            std::plus<>());
    }
    return stolen;
}

TEST(site_names_test, a_stolen_part_of_a_loop_has_the_name_and_place_of_the_task) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::trace::recorder recorder(rt);
    const int line = __LINE__ + 1;
    EXPECT_GT(quern::async(rt, stolen_of_some_loops).get(), 0);
    const quern::trace::recording run = recorder.stop();
    int parts = 0;
    for (const auto& site : run.sites) {
        EXPECT_EQ(site.is_part, site.name.starts_with("part of ")) << site.name;
        if (site.is_part) {
            ++parts;
            EXPECT_NE(site.name.find("TestBody"), std::string::npos) << site.name;
            EXPECT_EQ(site.stolen, site.tasks) << site.name;
            if (QUERN_TEST_HAS_LINES) {
                EXPECT_EQ(site.location, "site_names_test.cpp:" + std::to_string(line));
            }
        }
    }
    EXPECT_GT(parts, 0);
}

}  // namespace
