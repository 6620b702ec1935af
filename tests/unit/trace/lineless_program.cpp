// SPDX-License-Identifier: BSL-1.0
// A program without debug information, for the test of what reports say then: its tasks, lambdas,
// wait for a lock. With the argument "report" it prints what they wait for, with "crash" one
// aborts.
#include <quern/counters/detail/attach.hpp>
#include <quern/scheduler/crash_handler.hpp>
#include <quern/scheduler/held_locks.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/settings/settings.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>
#include <quern/trace/recorder.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace {

long contended(std::string_view how, quern::latch& gate) {
    quern::mutex guard;
    quern::task_group group;
    long sum = 0;
    for (int i = 0; i < 20; ++i) {
        group.run([&] {
            const std::scoped_lock lock(guard);
            const quern::ignore_held_locks is_meant;
            if (how == "crash") {
                std::abort();
            }
            gate.wait();
            quern::this_task::sleep_for(std::chrono::milliseconds(1));
            ++sum;
        });
    }
    group.wait();
    return sum;
}

}  // namespace

int main(int argc, char** argv) {
    if (!quern::take_command_line(argc, argv)) {
        return 0;
    }
    quern::install_crash_handler();
    const std::string_view how = argc > 1 ? argv[1] : "";
    quern::runtime rt;
    quern::latch gate(1);
    auto sum = quern::async(rt, contended, how, std::ref(gate));
    std::string report;
    // A task is listed from when it begins to suspend; its calls can be read when it has.
    const auto lacks = [&report](const char* part) {
        return report.find(part) == std::string::npos;
    };
    while (how == "report" && (lacks("mutex") || lacks("waits in "))) {
        report = quern::task_report();
    }
    std::fputs(report.c_str(), stderr);
    gate.count_down();
    return sum.get() == 20 ? 0 : 1;
}
