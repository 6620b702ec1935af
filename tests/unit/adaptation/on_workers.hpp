// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of policies: patience, the log of one policy, the text of an exception, and a
// fixture for 1, 2 and 8 workers.
#pragma once

#include "unit/scheduler/on_runtime.hpp"

#include <quern/adaptation/policy.hpp>
#include <quern/settings/settings.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace quern_test {

/// A machine under load stops a thread for a second at times.
inline constexpr quern::adaptation::policy_options k_patient{.budget = std::chrono::minutes(1)};

inline std::vector<quern::adaptation::decision> decisions_of(const std::string& policy) {
    auto found = quern::adaptation::decisions();
    std::erase_if(found, [&](const auto& each) { return each.policy != policy; });
    return found;
}

/// Uses the processor for so long.
inline void work_for(std::chrono::nanoseconds time) {
    const auto used = [] {
        timespec spent{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
        return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
    };
    const auto end = used() + time;
    while (used() < end) {
    }
}

template <class F>
std::string message_of(F&& f) {
    try {
        f();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "no exception";
}

/// The mode of runtimes made from now on; the destructor sets that of the process back to on.
class with_mode {
public:
    explicit with_mode(const char* mode) { quern::set_setting("adapt", mode); }
    with_mode(const with_mode&) = delete;
    with_mode& operator=(const with_mode&) = delete;
    ~with_mode() {
        quern::set_setting("adapt", "on");
        const quern::runtime resets_the_mode(quern::runtime_options::with_workers(1));
    }
};

class on_workers : public testing::TestWithParam<unsigned> {
protected:
    static quern::runtime_options options() {
        return quern::runtime_options::with_workers(GetParam());
    }
};

#define QUERN_ON_WORKERS(suite)                                      \
    INSTANTIATE_TEST_SUITE_P(on, suite, testing::Values(1U, 2U, 8U), \
                             [](const auto& of) { return std::to_string(of.param) + "_workers"; })

}  // namespace quern_test
