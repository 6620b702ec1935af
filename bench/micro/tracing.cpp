// SPDX-License-Identifier: BSL-1.0
// The cost of recording: the same tasks without a recording, with statistics only, with events,
// with statistics of a sample, and with two of the kernel's events by kind of task. A task that
// yields makes one event each time; a task that its waiter runs makes two. Run it alone on the
// machine.
#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>
#include <quern/trace/recorder.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <optional>

namespace {

constexpr int k_batch = 1'000;
constexpr int k_group = 100;

enum mode : std::int64_t { k_off, k_statistics, k_events, k_sampled, k_counted };

/// Runs the body many times in one task. Each batch has its own recording, because a longer one
/// would be full.
template <class Body>
void in_a_task(benchmark::State& state, Body body, int batch = k_batch) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    const auto how = static_cast<mode>(state.range(0));
    for (auto _ : state) {
        state.PauseTiming();
        std::optional<quern::trace::recorder> recorder;
        if (how != k_off) {
            recorder.emplace(rt, quern::trace::recorder_options{
                                     .events_per_worker = how == k_events ? 1'000'000U : 0U,
                                     .sample = how == k_sampled ? 0U : 1U,
                                     .samples_system = false,
                                     .events = how == k_counted ? "page-faults,task-clock" : ""});
        }
        state.ResumeTiming();
        quern::async(rt, [&body, batch] {
            for (int i = 0; i < batch; ++i) {
                body();
            }
        }).get();
        state.PauseTiming();
        recorder.reset();
        state.ResumeTiming();
    }
    state.SetItemsProcessed(k_batch * state.iterations());
}

void yield(benchmark::State& state) {
    in_a_task(state, [] { quern::this_task::yield(); });
}

void async_and_get(benchmark::State& state) {
    in_a_task(state, [] { quern::async({.name = "small"}, [] {}).get(); });
}

/// Tasks from a queue, one after the other.
void tasks_of_a_group(benchmark::State& state) {
    in_a_task(
        state,
        [] {
            quern::task_group group;
            for (int i = 0; i < k_group; ++i) {
                group.run({.name = "small", .stack = quern::stack_class::medium}, [] {});
            }
            group.wait();
        },
        k_batch / k_group);
}

BENCHMARK(yield)
    ->Arg(k_off)
    ->Arg(k_statistics)
    ->Arg(k_events)
    ->Arg(k_sampled)
    ->Arg(k_counted)
    ->UseRealTime();
BENCHMARK(async_and_get)
    ->Arg(k_off)
    ->Arg(k_statistics)
    ->Arg(k_events)
    ->Arg(k_sampled)
    ->Arg(k_counted)
    ->UseRealTime();
BENCHMARK(tasks_of_a_group)
    ->Arg(k_off)
    ->Arg(k_statistics)
    ->Arg(k_events)
    ->Arg(k_sampled)
    ->Arg(k_counted)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
