// SPDX-License-Identifier: BSL-1.0
// The cost of blocking regions, pinned waits, task-local variables and threads. The figures of
// docs/design/0007-blocking-regions.md and of the headers. Run it alone on a machine with at least
// two cores.
#include <quern/task/blocking_region.hpp>
#include <quern/task/pin_to_worker.hpp>
#include <quern/task/task_local.hpp>
#include <quern/task/thread.hpp>

#include <benchmark/benchmark.h>

#include <thread>

namespace {

constexpr int k_batch = 1'000;

/// Runs the body many times in one task of a runtime with `workers` workers.
template <class Body>
void in_a_task(benchmark::State& state, Body body) {
    quern::runtime rt(quern::runtime_options::with_workers(static_cast<unsigned>(state.range(0))));
    for (auto _ : state) {
        quern::async(rt, [&body] {
            for (int i = 0; i < k_batch; ++i) {
                body();
            }
        }).get();
    }
    state.SetItemsProcessed(k_batch * state.iterations());
}

void empty_region(benchmark::State& state) {
    in_a_task(state, [] { quern::blocking([] {}); });
}

/// The alternative that keeps the task's stack in place: a fresh thread runs the call.
void fresh_os_thread(benchmark::State& state) {
    in_a_task(state, [] { std::thread([] {}).join(); });
}

void yield(benchmark::State& state) {
    in_a_task(state, [] { quern::this_task::yield(); });
}

void pinned_yield(benchmark::State& state) {
    in_a_task(state, [] {
        const quern::pin_to_worker here;
        quern::this_task::yield();
    });
}

void async_and_get(benchmark::State& state) {
    in_a_task(state, [] { quern::async([] {}).get(); });
}

quern::task_local<int> g_local;

void async_that_uses_a_task_local(benchmark::State& state) {
    in_a_task(state, [] { quern::async([] { ++*g_local; }).get(); });
}

void read_a_task_local(benchmark::State& state) {
    in_a_task(state, [] { benchmark::DoNotOptimize(++*g_local); });
}

void thread_and_join(benchmark::State& state) {
    in_a_task(state, [] { quern::thread([] {}).join(); });
}

BENCHMARK(empty_region)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(fresh_os_thread)->Arg(1)->UseRealTime();
BENCHMARK(yield)->Arg(1)->UseRealTime();
BENCHMARK(pinned_yield)->Arg(1)->UseRealTime();
BENCHMARK(async_and_get)->Arg(1)->UseRealTime();
BENCHMARK(async_that_uses_a_task_local)->Arg(1)->UseRealTime();
BENCHMARK(read_a_task_local)->Arg(1)->UseRealTime();
BENCHMARK(thread_and_join)->Arg(1)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
