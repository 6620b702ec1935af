// SPDX-License-Identifier: BSL-1.0
// Small programs, each with one fault, for the test of verdicts and for viewing their reports:
//     QUERN_REPORT=run.html test_verdict_program mutex
// The argument names the fault. Results are checked, so that no part can be optimised away.
#include <quern/counters/detail/attach.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>
#include <quern/trace/detail/attach.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Work that no other thread can disturb.
void compute(std::chrono::nanoseconds length) {
    const auto end = steady_clock::now() + length;
    while (steady_clock::now() < end) {
    }
}

bool tiny_tasks() {
    constexpr int k_tasks = 300'000;
    int done = 0;
    quern::task_group group;
    for (int i = 0; i < k_tasks; ++i) {
        group.run({.name = "tiny"}, [&done] { std::atomic_ref(done).fetch_add(1); });
    }
    group.wait();
    return done == k_tasks;
}

/// One of 201 tasks takes twice as long as all others together.
bool one_long_task(bool is_first) {
    constexpr int k_tasks = 200;
    std::atomic<int> left{k_tasks};
    const auto begin = steady_clock::now();
    const auto run_long = [&] {
        while (left > 0) {  // the machine may be slow
        }
        compute(3 * (steady_clock::now() - begin));
    };
    quern::task_group group;
    if (is_first) {
        group.run({.name = "long"}, run_long);
    }
    for (int i = 0; i < k_tasks; ++i) {
        group.run({.name = "short"}, [&left] {
            compute(200us);
            --left;
        });
    }
    while (!is_first && left > 20) {
        quern::this_task::yield();
    }
    if (!is_first) {
        group.run({.name = "long"}, run_long);
    }
    group.wait();
    return left == 0;
}
bool long_task_last() { return one_long_task(false); }
bool long_task_first() { return one_long_task(true); }

/// Nearly all the work of each task is under one lock.
template <class Mutex>
bool locked_work() {
    constexpr int k_tasks = 400;
    Mutex shared;
    int sum = 0;
    quern::task_group group;
    for (int i = 0; i < k_tasks; ++i) {
        group.run({.name = "locked"}, [&] {
            const std::scoped_lock lock(shared);
            compute(500us);
            ++sum;
        });
    }
    group.wait();
    return sum == k_tasks;
}

/// Each task counts in its own element; all elements share one cache line.
bool false_sharing() {
    constexpr int k_tasks = 64;
    constexpr std::uint64_t k_rounds = 2'000'000;
    alignas(64) std::array<std::atomic<std::uint64_t>, 8> sums{};
    quern::task_group group;
    for (int i = 0; i < k_tasks; ++i) {
        group.run({.name = "count"}, [&sums, i] {
            std::atomic<std::uint64_t>& own = sums[static_cast<std::size_t>(i) % sums.size()];
            for (std::uint64_t n = 0; n < k_rounds; ++n) {
                own.fetch_add(1, std::memory_order_relaxed);
            }
        });
    }
    group.wait();
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}) == k_tasks * k_rounds;
}

/// Copies of arrays larger than any cache: a few workers use the whole bandwidth of the memory.
bool memory_bound() {
    constexpr std::size_t k_doubles = std::size_t{8} << 20;
    constexpr std::size_t k_parts = 32;
    constexpr int k_sweeps = 20;
    const auto array = [] { return std::make_unique_for_overwrite<double[]>(k_doubles); };
    std::unique_ptr<double[]> from = array();
    std::unique_ptr<double[]> to = array();
    for (int sweep = 0; sweep < k_sweeps; ++sweep) {
        quern::task_group group;
        for (std::size_t part = 0; part < k_parts; ++part) {
            group.run({.name = "copy"}, [&, part] {
                constexpr std::size_t k_size = k_doubles / k_parts;
                for (std::size_t i = part * k_size; i < (part + 1) * k_size; ++i) {
                    to[i] = sweep == 0 ? 0.0 : from[i] + 1.0;
                }
            });
        }
        group.wait();
        std::swap(from, to);
    }
    return from[0] == k_sweeps - 1.0 && from[k_doubles - 1] == from[0];
}

/// Blocks the thread like a read from a slow disk.
bool blocking_io() {
    constexpr int k_tasks = 40;
    std::atomic<int> done{0};
    quern::task_group group;
    for (int i = 0; i < k_tasks; ++i) {
        group.run({.name = "read"}, [&done] {
            std::this_thread::sleep_for(20ms);
            ++done;
        });
    }
    group.wait();
    return done == k_tasks;
}

/// Each task needs the result of the previous one.
bool chain() {
    constexpr int k_tasks = 2'000;
    quern::future<int> last = quern::make_ready_future(0);
    for (int i = 0; i < k_tasks; ++i) {
        last = last.then({.name = "link"}, [](quern::future<int> before) {
            compute(50us);
            return before.get() + 1;
        });
    }
    return last.get() == k_tasks;
}

struct fault {
    std::string_view name;
    bool (*run)();
};

constexpr fault k_faults[] = {
    {"tiny_tasks", tiny_tasks},
    {"long_task_last", long_task_last},
    {"long_task_first", long_task_first},
    {"mutex", locked_work<quern::mutex>},
    {"std_mutex", locked_work<std::mutex>},
    {"false_sharing", false_sharing},
    {"memory_bound", memory_bound},
    {"blocking_io", blocking_io},
    {"chain", chain},
};

}  // namespace

int main(int argc, char** argv) try {
    if (!quern::take_command_line(argc, argv)) {
        return 0;
    }
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    for (const fault& each : k_faults) {
        if (each.name == wanted) {
            quern::runtime rt;
            const auto main_task =
                quern::task_attributes{.name = "main task", .pool = &rt.default_pool().get()};
            return quern::async(main_task, each.run).get() ? 0 : 1;
        }
    }
    std::fputs("usage: test_verdict_program FAULT; the faults are:", stderr);
    for (const fault& each : k_faults) {
        std::fprintf(stderr, " %.*s", static_cast<int>(each.name.size()), each.name.data());
    }
    std::fputs("\n", stderr);
    return 2;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
