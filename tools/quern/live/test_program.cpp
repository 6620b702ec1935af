// SPDX-License-Identifier: BSL-1.0
// The program that the tests of `quern top`, `tasks` and `counters` query: a task that runs, one
// that waits, a coroutine that waits, and occasional work, until its input ends. Prints "ready"
// when all of these exist. It has made a trial and a decision.
#include <quern/adaptation/decisions.hpp>
#include <quern/quern.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace {

[[gnu::noinline]] void wait_for_the_end(quern::event& end) {
    end.wait();
    std::puts("waited");
}

quern::task<> listen(quern::event& end) { co_await end.co_wait(); }

}  // namespace

int main() {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::detail::pool* const pool = &rt.default_pool().get();
    quern::event end;
    std::atomic<bool> stop{false};
    std::atomic<bool> runs{false};
    auto waiter = quern::async({.name = "waiter", .pool = pool}, [&] { wait_for_the_end(end); });
    auto listener = quern::start({.name = "listener", .pool = pool}, listen(end));
    auto grinder = quern::async({.name = "grinder", .pool = pool}, [&] {
        runs.store(true);
        while (!stop.load()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    std::thread feeder([&] {
        while (!stop.load()) {
            quern::async({.name = "grain", .pool = pool}, [] {}).get();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    while (!runs.load() || pool->away() < 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    quern::adaptation::log({.policy = "tester",
                            .subject = "tile",
                            .before = 32,
                            .after = 128,
                            .why = "trial 1",
                            .is_trial = true});
    quern::adaptation::log({.policy = "tester",
                            .subject = "tile",
                            .before = 32,
                            .after = 64,
                            .inputs = "idle-rate 12 %",
                            .why = "it is a test"});
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    stop.store(true);
    feeder.join();
    grinder.get();
    end.set();
    waiter.get();
    listener.get();
}
