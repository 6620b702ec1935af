// SPDX-License-Identifier: BSL-1.0
// Step 5 of the tutorial: tasks and coroutines that wait, without a thread for each.
#include <quern/quern.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>

using namespace std::chrono_literals;

// A coroutine suspends its frame only; tasks of any other kind keep their stack.
quern::task<long> add_up(quern::channel<int>& numbers) {
    const quern::closing at_end(numbers);  // if this ends early, send() throws instead of waiting
    long sum = 0;
    while (auto number = co_await numbers.co_receive()) {
        sum += *number;
    }
    co_return sum;
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        // 1000 tasks sleep at the same time. They need no more threads than there are workers.
        quern::mutex guard;
        int awake = 0;
        const auto begin = std::chrono::steady_clock::now();
        quern::task_group sleepers;
        for (int i = 0; i < 1000; ++i) {
            sleepers.run([&] {
                quern::this_task::sleep_for(100ms);
                const std::scoped_lock lock(guard);
                ++awake;
            });
        }
        sleepers.wait();
        const auto took = std::chrono::steady_clock::now() - begin;
        std::printf("%d tasks have slept %s\n", awake,
                    took < 10s ? "at the same time" : "one after the other");

        // send() waits while 8 numbers are on the way, the coroutine while there is none.
        quern::channel<int> numbers(8);
        quern::future<long> sum = quern::start(add_up(numbers));
        try {
            for (int i = 1; i <= 1000; ++i) {
                numbers.send(i);
            }
        } catch (const quern::channel_closed&) {
            // The coroutine has ended early: sum.get() throws what it has thrown.
        }
        numbers.close();
        std::printf("sum of what was sent: %ld\n", sum.get());

        // A call that blocks its thread: another thread serves the worker meanwhile.
        const std::string name = quern::blocking([] {
            std::string line;
            std::getline(std::ifstream("/proc/self/comm"), line);
            return line;
        });
        std::printf("name of this process: %s\n", name.c_str());
    });
}
