// SPDX-License-Identifier: BSL-1.0
// The time that the machine took from the workers' threads between two readings of its sums.
#include "record/taken_time.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <vector>

namespace {

using quern::trace::taken_time;
using quern::trace::detail::between;
using quern::trace::detail::look_at_lost_time;
using quern::trace::detail::lost_time_look;

TEST(taken_time, waits_are_those_between_the_looks) {
    lost_time_look before;
    before.threads = {{7, {5e9, 2e9, 1}}};
    lost_time_look after;
    after.threads = {{7, {6e9, 2.5e9, 9}}, {8, {1e9, 0.25e9, 4}}};  // one began meanwhile
    const taken_time found = between(before, after);
    EXPECT_DOUBLE_EQ(found.by_programs_ns.value(), 0.75e9);
    EXPECT_FALSE(found.by_hypervisor_ns.has_value());
    EXPECT_FALSE(found.by_quota_ns.has_value());
}

TEST(taken_time, a_quota_is_part_of_the_wait) {
    lost_time_look before;
    before.throttled_ns = 1e9;
    lost_time_look after;
    after.threads = {{7, {1e9, 3e9, 9}}};
    after.throttled_ns = 3e9;
    EXPECT_DOUBLE_EQ(between(before, after).by_quota_ns.value(), 2e9);
    EXPECT_DOUBLE_EQ(between(before, after).by_programs_ns.value(), 1e9);
    after.throttled_ns = 9e9;  // most of it other threads of the group
    EXPECT_DOUBLE_EQ(between(before, after).by_quota_ns.value(), 3e9);
    EXPECT_DOUBLE_EQ(between(before, after).by_programs_ns.value(), 0.0);
}

TEST(taken_time, the_hypervisor_takes_from_workers_by_their_part_of_the_busy_time) {
    const double tick_ns = 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK));
    lost_time_look before;
    before.processors = std::vector<double>(8, 0.0);
    lost_time_look after;
    after.processors = std::vector<double>{80, 0, 20, 500, 50, 0, 0, 40};
    after.threads = {{7, {50 * tick_ns, 0, 9}}};  // half of 100 busy ticks
    EXPECT_DOUBLE_EQ(between(before, after).by_hypervisor_ns.value(), 20 * tick_ns);
    after.processors->resize(7);  // an old kernel
    EXPECT_FALSE(between(before, after).by_hypervisor_ns.has_value());
}

TEST(taken_time, a_thread_of_this_computer_has_had_a_processor) {
    const auto seen = look_at_lost_time(std::array{static_cast<std::int32_t>(::getpid())});
    if (::access("/proc/self/schedstat", R_OK) != 0) {
        GTEST_SKIP() << "this kernel does not tell how it schedules threads";
    }
    ASSERT_EQ(seen.threads.size(), 1U);
    EXPECT_GT(seen.threads.begin()->second.slices, 0.0);
}

TEST(taken_time, of_a_system_that_tells_nothing_is_unknown) {
    const lost_time_look nothing = look_at_lost_time(std::array{1, 2}, {"/there/is/no/such/root"});
    const taken_time found = between(nothing, nothing);
    EXPECT_FALSE(found.by_programs_ns || found.by_hypervisor_ns || found.by_quota_ns);
    EXPECT_EQ(found.total_ns(), 0.0);
}

}  // namespace
