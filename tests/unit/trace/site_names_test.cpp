// SPDX-License-Identifier: BSL-1.0
// The names of kinds of tasks without a name of the user's.
#include <quern/scheduler/runtime.hpp>
#include <quern/task/async.hpp>
#include <quern/trace/recorder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
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

}  // namespace
