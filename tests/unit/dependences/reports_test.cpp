// SPDX-License-Identifier: BSL-1.0
// What a report of suspended tasks says of an owner that waits for tasks or for data, and of tasks
// for whose accesses others wait.
#include <quern/dependences/domain.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_hold.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::on;
using quern::out;

class domain_reports : public quern_test::on_runtime {
protected:
    /// Whether the report says so while one task waits, another one waits for it, and the owner
    /// calls wait(domain, value).
    template <class Wait>
    bool report_says(const std::string& part, Wait wait) {
        quern::promise<void> gate;
        auto opened = gate.get_future();
        auto owner = quern::async(rt, [&] {
            domain work;
            int value = 0;
            work.spawn({.name = "first"}, out(value), [&] { opened.get(); });
            work.spawn({.name = "second"}, in(value), [] {});
            wait(work, value);
        });
        const bool says = quern_test::eventually(
            [&] { return quern::task_report().find(part) != std::string::npos; });
        gate.set_value();
        owner.get();
        return says;
    }
};
QUERN_ON_1_2_8_WORKERS(domain_reports);

// Holds: domain: A report says for how many tasks an owner waits, or for how many accesses.
TEST_P(domain_reports, say_what_the_owner_waits_for) {
    EXPECT_TRUE(
        report_says("2 of its tasks have not ended", [](domain& work, int&) { work.taskwait(); }));
    EXPECT_TRUE(report_says("1 of them have not been released",
                            [](domain& work, int& value) { work.taskwait(on(in(value))); }));
}

/// The report, once it has all of these parts; else the last one.
std::string report_with(const std::vector<std::string>& parts) {
    std::string report;
    quern_test::eventually([&] {
        report = quern::task_report();
        return std::all_of(parts.begin(), parts.end(), [&](const std::string& each) {
            return report.find(each) != std::string::npos;
        });
    });
    return report;
}

void expect_parts(const std::string& report, const std::vector<std::string>& parts) {
    for (const std::string& each : parts) {
        EXPECT_NE(report.find(each), std::string::npos) << each << " is not in\n" << report;
    }
}

/// A hold that a task takes and the test drops. A report alone does not order the two.
class kept_hold {
public:
    void take() {
        m_hold = quern::this_task::hold();
        m_is_there.store(true, std::memory_order_release);
    }
    void drop() {
        EXPECT_TRUE(
            quern_test::eventually([this] { return m_is_there.load(std::memory_order_acquire); }));
        m_hold.drop();
    }

private:
    quern::task_hold m_hold;
    std::atomic<bool> m_is_there{false};
};

std::string access_to(const char* kind, const void* at, std::size_t bytes) {
    std::array<char, 100> text{};
    std::snprintf(text.data(), text.size(), "has not released its %s access to %p (%zu bytes), ",
                  kind, at, bytes);
    return text.data();
}

// Holds: domain: A report says of a suspended task which accesses of it others wait for.
TEST_P(domain_reports, say_which_access_waits_for_a_suspended_task) {
    quern_test::waiting_room room;
    std::array<int, 10> data{};
    auto owner = quern::async(rt, [&] {
        domain work;
        work.spawn({.name = "first"}, out(data), in(room), [&] { room.wait(); });
        work.spawn({.name = "second"}, in(data[1]), [] {});
        work.spawn({.name = "third"}, out(data[1]), [] {});
        work.spawn({.name = "fourth"}, out(room), [] {});
        work.taskwait();
    });
    const std::vector<std::string> parts{
        access_to("write", &data, sizeof data) + "for which task 'second' waits",
        access_to("read", &room, sizeof room) + "for which task 'fourth' waits",
        "1 further task waits for these", "made in "};
    expect_parts(report_with(parts), parts);
    EXPECT_TRUE(
        quern_test::eventually([&] { return room.size() == 1; }));  // it may just have begun
    room.resume_all();
    owner.get();
}

// Holds: domain: A report names a held task, whose function has returned, and what waits for it.
TEST_P(domain_reports, name_a_held_task_in_the_middle) {
    kept_hold hold;
    std::array<int, 2> data{};
    auto owner = quern::async(rt, [&] {
        domain work;
        work.spawn({.name = "first"}, out(data), [] {});
        work.spawn({.name = "middle"}, inout(data), [&] { hold.take(); });
        work.spawn({.name = "last"}, in(data), [] {});
        work.taskwait();
    });
    const std::vector<std::string> parts{
        "2 of its tasks have not ended", "task 'middle' has returned and is held, holds left: 1",
        access_to("write", &data, sizeof data) + "for which task 'last' waits"};
    const std::string report = report_with(parts);
    expect_parts(report, parts);
    EXPECT_EQ(report.find("'first'"), std::string::npos) << report;
    hold.drop();
    owner.get();
    EXPECT_EQ(quern::task_report().find("'middle'"), std::string::npos);
}

// Holds: domain: A report says what a taskwait(on()) wants, and which task keeps it waiting.
TEST_P(domain_reports, say_which_access_a_taskwait_wants) {
    kept_hold hold;
    double value = 0;
    auto owner = quern::async(rt, [&] {
        domain work;
        work.spawn({.name = "writer"}, out(value), [&] { hold.take(); });
        work.taskwait(on(in(value)));
    });
    const std::vector<std::string> parts{
        "wants a read access to ", "task 'writer' has returned and is held",
        access_to("write", &value, sizeof value) + "for which the owner of the domain waits"};
    expect_parts(report_with(parts), parts);
    hold.drop();
    owner.get();
}

// Holds: domain: A report names parents whose children have not ended, and held children.
TEST_P(domain_reports, name_parents_and_their_held_children) {
    kept_hold hold;
    int value = 0;
    auto owner = quern::async(rt, [&] {
        domain work;
        work.spawn({.name = "parent"}, inout(value), [&](int& v) {
            quern::spawn({.name = "child"}, inout(v), [&] { hold.take(); });
        });
        work.spawn({.name = "after"}, inout(value), [] {});
        work.taskwait();
    });
    const std::vector<std::string> parts{
        "task 'parent' has returned, and children have not ended: 1",
        "task 'child' has returned and is held, holds left: 1",
        access_to("write", &value, sizeof value) + "for which task 'after' waits"};
    expect_parts(report_with(parts), parts);
    hold.drop();
    owner.get();
}

// Holds: domain: A report names four of the tasks that wait for a task, and counts up to a hundred.
TEST_P(domain_reports, name_some_of_many_waiting_tasks) {
    std::mutex lock;
    std::vector<quern::task_hold> holds;
    const auto hold = [&] {
        const std::scoped_lock guard(lock);
        holds.push_back(quern::this_task::hold());
    };
    int value = 0;
    auto owner = quern::async(rt, [&] {
        domain work;
        work.spawn({.name = "held"}, out(value), hold);
        for (int i = 0; i < 300; ++i) {
            work.spawn({.name = "reader"}, in(value), [] {});
        }
        for (int i = 0; i < 20; ++i) {  // more than there are notes
            work.spawn({.name = "other"}, hold);
        }
        work.taskwait();
    });
    const std::vector<std::string> parts{"at least 96 further tasks wait for these",
                                         "'other' has returned and is held"};
    const std::string report = report_with(parts);
    expect_parts(report, parts);
    std::size_t named = 0;
    for (std::size_t at = report.find("'reader'"); at != std::string::npos;
         at = report.find("'reader'", at + 1)) {
        ++named;
    }
    EXPECT_EQ(named, 1U) << report;  // in one line
    EXPECT_NE(report.find("for which task 'reader' waits; and 3 more like it"), std::string::npos)
        << report;
    EXPECT_TRUE(quern_test::eventually([&] {
        const std::scoped_lock guard(lock);
        return holds.size() == 21;
    }));
    {
        const std::scoped_lock guard(lock);
        holds.clear();
    }
    owner.get();
}

// Reports look at tasks that run, end and are freed.
TEST_P(domain_reports, are_made_while_tasks_run) {
    std::atomic<bool> is_over{false};
    auto owner = quern::async(rt, [&] {
        for (int round = 0; round < quern_test::scaled(30, 5); ++round) {
            domain work;
            std::array<int, 4> data{};
            for (int i = 0; i < 200; ++i) {
                work.spawn({.name = "step"}, inout(data),
                           inout(data[static_cast<std::size_t>(i % 4)]), [&] {
                               quern::spawn({.name = "inner"}, inout(data[0]), [] {
                                   auto hold = quern::this_task::hold();
                                   quern::post([kept = std::make_shared<quern::task_hold>(
                                                    std::move(hold))] { kept->drop(); });
                                   quern::this_task::yield();
                               });
                           });
            }
            work.taskwait();
        }
        is_over = true;
    });
    while (!is_over) {
        EXPECT_FALSE(quern::task_report().empty());
    }
    owner.get();
}

}  // namespace
