// SPDX-License-Identifier: BSL-1.0
// A host with threads of its own: each uses the default runtime, starts and ends runtimes, waits
// for tasks, and synchronises with tasks, all concurrently.
#include "stress/random_program.hpp"
#include "stress/stopwatch.hpp"

#include <quern/quern.hpp>

#include <thread>
#include <vector>

namespace {

using quern::runtime;
using quern::runtime_options;
using quern_test::random_for;

struct shared_things {
    quern::mutex mutex;
    long guarded = 0;  ///< by the mutex
    std::atomic<long> expected{0};

    void add() {
        const std::scoped_lock lock(mutex);
        ++guarded;
    }
};

/// Tasks of one runtime and the calling thread meet at a lock, a latch and a future.
void meet(const quern::pool_ref& where, shared_things& things, int tasks) {
    quern::latch done(tasks);
    for (int i = 0; i < tasks; ++i) {
        quern::post({.pool = &where.get()}, [&] {
            things.add();
            quern::this_task::yield();
            done.count_down();
        });
    }
    things.add();
    quern::async(where, [&] { things.add(); }).get();
    done.wait();
    things.expected.fetch_add(tasks + 2);
}

void live(std::uint64_t seed, shared_things& things) {
    auto random = random_for(seed);
    for (const quern_test::stopwatch watch(2.0); watch.running();) {
        const int tasks = static_cast<int>(1 + random.below(20));
        switch (random.below(3)) {
            case 0:
                meet(quern::current_pool(), things, tasks);
                break;
            case 1: {
                runtime own(runtime_options::with_workers(1 + random.below(3)));
                meet(own.default_pool(), things, tasks);
                break;
            }
            default: {
                const int sum = quern::parallel_reduce(
                    0, tasks, 0, [](int) { return 1; }, std::plus<>{});
                ASSERT_EQ(sum, tasks);
            }
        }
    }
}

TEST(hosts, several_threads_use_the_default_runtime_and_their_own_at_once) {
    shared_things things;
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 6; ++i) {
        threads.emplace_back([&things, i] { live(i, things); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(things.guarded, things.expected.load());
    EXPECT_GT(things.guarded, 0);
}

}  // namespace
