// SPDX-License-Identifier: BSL-1.0
// What a report of suspended tasks says of an owner that waits for tasks or for data.
#include <quern/dependences/domain.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/task/promise.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <string>

namespace {

using quern::domain;
using quern::in;
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

}  // namespace
