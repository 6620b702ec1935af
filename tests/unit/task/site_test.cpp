// SPDX-License-Identifier: BSL-1.0
// Every way to make a task notes its source location. A task that runs on the stack of its waiter
// has its own location, and restores the waiter's.
#include "../scheduler/on_runtime.hpp"

#include <quern/base/detail/symbols.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/jthread.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/when_each.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using quern_test::on_runtime;

const void* own_site() { return quern::detail::current_context()->root().task().site; }
quern::detail::work::run_function own_entry() {
    return quern::detail::current_context()->root().task().entry;
}

/// "line of this file", or else the site itself.
std::string line_of(const void* site) {
    const std::string text = quern::detail::describe_site(site);
    const std::string file = "site_test.cpp:";
    const std::size_t at = text.find(file);
    return at == std::string::npos ? text : text.substr(at + file.size());
}

std::string number(int line) { return std::to_string(line); }

class site : public on_runtime {};
QUERN_ON_1_2_8_WORKERS(site);

#if QUERN_TEST_HAS_LINES
// Holds: task_attributes: site: null means where async, post and so on are called.
TEST_P(site, of_async_is_the_line_of_the_call) {
    EXPECT_EQ(line_of(quern::async(rt, own_site).get()), number(__LINE__));
    const quern::task_attributes named{.name = "x", .pool = &rt.default_pool().get()};
    EXPECT_EQ(line_of(quern::async(named, own_site).get()), number(__LINE__));
    inside([] {
        EXPECT_EQ(line_of(quern::async(own_site).get()), number(__LINE__));
        EXPECT_EQ(line_of(quern::async(quern::launch::fork, own_site).get()), number(__LINE__));
        EXPECT_EQ(line_of(quern::async(quern::launch::deferred, own_site).get()),
                  number(__LINE__ - 1));
    });
}

// Holds: task_attributes: site: null means where...
TEST_P(site, of_post_and_a_group_is_the_line_of_the_call) {
    inside([] {
        const void* posted = nullptr;
        const void* grouped = nullptr;
        quern::promise<void> done;
        auto at_end = done.get_future();
        const auto note = [&] {
            posted = own_site();
            done.set_value();
        };
        quern::post(note);
        at_end.get();
        EXPECT_EQ(line_of(posted), number(__LINE__ - 2));
        quern::task_group group;
        group.run([&] { grouped = own_site(); });
        group.wait();
        EXPECT_EQ(line_of(grouped), number(__LINE__ - 2));
    });
}

// Holds: task_attributes: site: null means where...
TEST_P(site, of_a_continuation_and_a_dataflow_is_the_line_of_the_call) {
    inside([] {
        auto next = quern::async([] {}).then([](auto) { return own_site(); });
        EXPECT_EQ(line_of(next.get()), number(__LINE__ - 1));
        auto flow = quern::dataflow([](auto) { return own_site(); }, quern::async([] {}));
        EXPECT_EQ(line_of(flow.get()), number(__LINE__ - 1));
        const void* each = nullptr;
        quern::when_each([&](auto) { each = own_site(); }, quern::async([] {})).get();
        EXPECT_EQ(line_of(each), number(__LINE__ - 1));
    });
}

// Holds: task_attributes: site: null means where...
TEST_P(site, of_a_thread_is_the_line_of_the_call) {
    inside([] {
        const void* made = nullptr;
        const auto note = [&made] { made = own_site(); };
        quern::thread(note).join();
        EXPECT_EQ(line_of(made), number(__LINE__ - 1));
        quern::thread({.name = "x"}, note).join();
        EXPECT_EQ(line_of(made), number(__LINE__ - 1));
        quern::jthread(note).join();
        EXPECT_EQ(line_of(made), number(__LINE__ - 1));
        quern::jthread([&](const std::stop_token&) { note(); }).join();
        EXPECT_EQ(line_of(made), number(__LINE__ - 1));
    });
}

quern::task<std::pair<const void*, const void*>> sites_around(quern::future<void> event) {
    const void* const before = own_site();
    co_await std::move(event);
    co_return std::pair(before, own_site());
}

TEST_P(site, of_a_coroutine_stays_when_it_is_resumed) {
    quern::promise<void> event;
    auto both = quern::start(rt, sites_around(event.get_future()));
    const std::string line = number(__LINE__ - 1);
    event.set_value();
    const auto [before, after] = both.get();
    EXPECT_EQ(line_of(before), line);
    EXPECT_EQ(line_of(after), line);
}

TEST(site_outside, of_work_from_a_thread_is_the_line_of_the_call) {
    const auto both = quern::fork_join([] { return own_site(); }, [] { return own_site(); });
    EXPECT_EQ(line_of(both.second), number(__LINE__ - 1));
    const void* scoped = nullptr;
    quern::scope([&](quern::fork_scope&) { scoped = own_site(); });
    EXPECT_EQ(line_of(scoped), number(__LINE__ - 1));
}
#endif

// Holds: task_attributes: site: a library may say where it was called itself.
TEST_P(site, that_a_library_gives_is_kept) {
    static const int elsewhere = 0;
    const quern::task_attributes made{.pool = &rt.default_pool().get(), .site = &elsewhere};
    EXPECT_EQ(quern::async(made, own_site).get(), &elsewhere);
}

TEST_P(site, is_given_back_by_a_task_that_ran_on_the_waiting_stack) {
    inside([] {
        const void* const before = own_site();
        const auto entry = own_entry();
        auto child = quern::async([] { return own_site(); });
        EXPECT_NE(child.get(), before);
        EXPECT_EQ(own_site(), before);
        EXPECT_EQ(own_entry(), entry);
    });
}

TEST_P(site, is_not_left_to_the_next_task_on_a_stack) {
    struct bare final : quern::detail::runnable {  // as an item that begin_task has not prepared
        bare() : runnable(run_it) {}
        static quern::detail::context* run_it(quern::detail::work& item) {
            auto& self = static_cast<bare&>(static_cast<runnable&>(item));
            self.seen = own_site();
            self.entry_seen = own_entry();
            self.done.set_value();
            return nullptr;
        }
        const void* seen = &seen;
        run_function entry_seen = nullptr;
        quern::promise<void> done;
    };
    for (int i = 0; i < 20; ++i) {
        inside([] {});
        bare item;
        auto done = item.done.get_future();
        rt.default_pool().get().inject(item);
        done.get();
        EXPECT_EQ(item.seen, nullptr);
        EXPECT_EQ(item.entry_seen, item.run);
    }
}

}  // namespace
