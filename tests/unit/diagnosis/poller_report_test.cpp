// SPDX-License-Identifier: BSL-1.0
// Reports of a program that waits for operations of a poller: each case in a process of its own.
#include <quern/scheduler/pollers.hpp>
#include <quern/sync/event.hpp>
#include <quern/task/async.hpp>

#include "hanging_child.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using quern_test::hanging_child;

/// A runtime with a task that waits for one of two operations of a poller; calls `then` after 1.2
/// s.
template <class F>
void wait_for_an_operation(F&& then) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::event come;
    quern::poller radio(rt.default_pool(), {.name = "radio",
                                            .ask = [] { return quern::poll_result::idle; },
                                            .tell = [] { return std::string("channel 16"); }});
    radio.expect(2);
    auto listener = quern::async({.name = "listener", .pool = &rt.default_pool().get()},
                                 [&come] { come.wait(); });
    std::this_thread::sleep_for(1200ms);
    then(radio, come);
    listener.get();
    std::fputs("ended", stderr);
}

// Holds: poller: Hang reports with a patience name it and what is outstanding, also when its
//     function does not return.
TEST(a_hang_report_of_pollers, with_a_patience_names_pollers_and_what_is_outstanding) {
    hanging_child child([] { wait_for_an_operation([](auto&, auto&) {}); }, "1");
    const std::string said = child.says("hang-report=off");
    for (const char* const words :
         {"quern: nothing has run for ", "only 1 poller", "could wake a task; 1 task is suspended",
          "task 'listener' waits", "poller 'radio' may wake one: 2 operations are outstanding, ",
          "without progress for ", " s; channel 16"}) {
        EXPECT_NE(said.find(words), std::string::npos) << words << " in " << said;
    }
}

// Holds: poller: Hang reports with a...
TEST(a_hang_report_of_pollers, names_a_poller_that_does_not_come_back) {
    hanging_child child(
        [] {
            quern::runtime rt(quern::runtime_options::with_workers(2));
            quern::poller deaf(rt.default_pool(), {.name = "deaf", .ask = [] {
                                                       std::this_thread::sleep_for(1h);
                                                       return quern::poll_result::idle;
                                                   }});
            deaf.expect();
            static quern::event never;
            quern::async(rt, [] { never.wait(); }).get();
        },
        "1");
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("poller 'deaf' may wake one: it is being asked, and has not answered yet"),
              std::string::npos)
        << said;
}

TEST(a_hang_report_of_pollers, comes_when_the_last_operation_has_ended_and_woken_nothing) {
    hanging_child child([] { wait_for_an_operation([](auto& radio, auto&) { radio.settle(2); }); });
    EXPECT_NE(child.says("hang-report=off").find("'listener' waits"), std::string::npos);
}

// Holds: poller: There is no other report while something is outstanding.
TEST(no_hang_report_of_pollers, comes_while_an_operation_is_outstanding) {
    hanging_child child([] {
        quern::runtime rt(quern::runtime_options::with_workers(2));
        quern::event come;
        quern::poller* itself = nullptr;
        const auto due = std::chrono::steady_clock::now() + 1200ms;
        quern::poller slow(rt.default_pool(), {.name = "slow", .ask = [&] {
                                                   if (std::chrono::steady_clock::now() < due) {
                                                       return quern::poll_result::idle;
                                                   }
                                                   come.set();
                                                   itself->settle();
                                                   return quern::poll_result::progress;
                                               }});
        itself = &slow;
        slow.expect();
        quern::async(rt, [&come] { come.wait(); }).get();
        std::fputs("ended", stderr);
    });
    EXPECT_EQ(child.says("ended"), "ended");
}

TEST(the_end_of_a_runtime_with_pollers, names_the_operations_for_which_it_waits) {
    hanging_child child([] {
        std::optional<quern::poller> slow;
        quern::runtime rt(quern::runtime_options::with_workers(1));
        slow.emplace(rt.default_pool(), quern::poller_options{.name = "slow", .ask = [] {
                                                                  return quern::poll_result::idle;
                                                              }});
        slow->expect();
    });
    const std::string said = child.says("hang-report=off");
    EXPECT_NE(said.find("the end of a runtime waits for outstanding operations\n"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("#1 poller 'slow' may wake one: 1 operation is outstanding"),
              std::string::npos)
        << said;
}

}  // namespace
