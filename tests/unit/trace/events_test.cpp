// SPDX-License-Identifier: BSL-1.0
// The data of one worker: events up to a limit, kinds of tasks up to another, and that every loss
// is counted.
#include "record/site_names.hpp"
#include "record/site_table.hpp"
#include "record/track.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using quern::detail::context;
using quern::detail::task_record;
using quern::detail::work;
using quern::trace::detail::event;
using quern::trace::detail::event_kind;
using quern::trace::detail::packed;
using quern::trace::detail::piece;
using quern::trace::detail::piece_end;
using quern::trace::detail::site_table;
using quern::trace::detail::track;

context* run_nothing(work&) { return nullptr; }

task_record a_task(const char* name, std::uint64_t id, std::uint64_t spent) {
    task_record task{name, nullptr, run_nothing};
    task.id = id;
    task.trace.spent = spent;
    task.trace.pieces = 1;
    return task;
}

void note(track& to, const task_record& task, std::uint64_t begin, std::uint64_t end) {
    to.piece_ends({.begin = begin, .end = end, .task = task});
}

TEST(packed_test, keeps_both_parts) {
    const packed p(0xffff'ffff'ffffU, 0x1234);
    EXPECT_EQ(p.low(), 0xffff'ffff'ffffU);
    EXPECT_EQ(p.high(), 0x1234U);
    EXPECT_EQ(packed(std::uint64_t{1} << 48U, 0).low(), 0U);  // larger values are cut
}

TEST(track_test, keeps_events_in_order) {
    track t(1000, 100'000);
    const task_record task = a_task("a", 7, 50);
    for (std::uint64_t i = 0; i < 10'000; ++i) {  // several chunks
        note(t, task, 1000 + 100 * i, 1050 + 100 * i);
    }
    t.parked(0, 2'000'000, 2'000'500);
    t.stole(0, 3, 2'000'600);
    std::vector<event> all;
    t.for_each([&](const event& e) { all.push_back(e); });
    ASSERT_EQ(all.size(), 10'002U);
    EXPECT_EQ(t.dropped(), 0U);
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        ASSERT_EQ(all[i].begin(), 100 * i);
        ASSERT_EQ(all[i].length(), 50U);
        ASSERT_EQ(all[i].task(), 7U);
    }
    EXPECT_EQ(all[10'000].kind(), event_kind::parked);
    EXPECT_EQ(all[10'000].length(), 500U);
    EXPECT_EQ(all[10'001].kind(), event_kind::theft);
    EXPECT_EQ(all[10'001].task(), 3U);
}

TEST(track_test, drops_the_newest_and_counts_them) {
    track t(0, 1000);
    const task_record task = a_task("a", 7, 50);
    for (std::uint64_t i = 0; i < 5000; ++i) {
        note(t, task, i, i + 1);
    }
    EXPECT_EQ(t.size(), 1000U);
    EXPECT_EQ(t.dropped(), 4000U);
    EXPECT_EQ(t.sites().all()[1].time.count(), 5000U);  // statistics cover all
}

TEST(track_test, keeps_no_events_when_only_statistics_are_wanted) {
    track t(0, 0);
    note(t, a_task("a", 7, 50), 1, 2);
    t.parked(0, 1, 2);
    t.stole(0, 1, 2);
    EXPECT_EQ(t.size(), 0U);
    EXPECT_EQ(t.dropped(), 0U);
    EXPECT_EQ(t.sites().all()[1].time.count(), 1U);
}

TEST(track_test, a_task_that_did_nothing_is_no_task) {
    track t(0, 10);
    task_record task = a_task("a", 7, 50);
    task.trace.did_nothing = true;
    note(t, task, 1, 2);
    EXPECT_EQ(t.size(), 0U);
    EXPECT_EQ(t.sites().all().size(), 1U);
}

TEST(site_table_test, knows_a_name_again_wherever_it_lies) {
    site_table sites;
    const std::string one = "solve";
    const std::string other = "solve";
    EXPECT_EQ(sites.find(a_task(one.c_str(), 1, 1)), sites.find(a_task(other.c_str(), 2, 1)));
    EXPECT_EQ(sites.all().size(), 2U);  // and the entry for the others
}

TEST(site_table_test, tells_two_names_apart_that_lay_at_one_place) {
    site_table sites;
    std::string name = "first";
    const auto first = sites.find(a_task(name.c_str(), 1, 1));
    name = "other";
    const auto other = sites.find(a_task(name.c_str(), 2, 1));
    EXPECT_NE(first, other);
    EXPECT_EQ(sites.at(first).name, "first");
    EXPECT_EQ(sites.at(other).name, "other");
}

TEST(site_table_test, counts_what_is_too_much_together) {
    site_table sites;
    std::uint16_t last = 0;
    for (int i = 0; i < 10'000; ++i) {
        last = sites.find(a_task(std::to_string(i).c_str(), 1, 1));
    }
    EXPECT_EQ(sites.all().size(), site_table::k_most_sites);
    EXPECT_EQ(last, site_table::k_others);
    EXPECT_NE(sites.find(a_task("17", 1, 1)), site_table::k_others);
}

TEST(site_names_test, take_a_place_apart) {
    using quern::trace::detail::split_place;
    EXPECT_EQ(split_place("f(int) at /home/me/heat.cpp:42").name, "f(int)");
    EXPECT_EQ(split_place("f(int) at /home/me/heat.cpp:42").location, "heat.cpp:42");
    EXPECT_EQ(split_place("f in /home/me/a.out").name, "f");
    EXPECT_EQ(split_place("0x123").name, "0x123");
    EXPECT_EQ(split_place("0x123").location, "");
}

}  // namespace
