// SPDX-License-Identifier: BSL-1.0
// Producers and consumers as threads, for queues that block the waiting thread: a task would block
// its worker. Used by the contenders of the standard library and of oneTBB.
#pragma once

#include "problem.hpp"

#include "../harness/threads.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace bench::channel {

/// A number that ends a consumer.
constexpr long k_end = -1;

/// Queue: push(long) and pop(), which block.
template <class Queue>
long through_threads(long producers, Queue& queue) {
    std::atomic<long> sum{0};
    std::vector<std::jthread> consume;
    std::vector<std::jthread> send;
    for (long i = 0; i < producers; ++i) {
        consume.emplace_back([&] {
            long mine = 0;
            for (long number = queue.pop(); number != k_end; number = queue.pop()) {
                mine += number;
            }
            sum.fetch_add(mine, std::memory_order_relaxed);
        });
        send.emplace_back([&queue, i, producers] {
            produce(i, producers, [&queue](long number) { queue.push(number); });
        });
    }
    send.clear();  // joins
    for (long i = 0; i < producers; ++i) {
        queue.push(k_end);
    }
    consume.clear();
    return sum.load(std::memory_order_relaxed);  // all have ended
}

template <class Queue>
job with_threads(const arguments& a) {
    return threads_job(a, [producers = a.size] {
        return throughput(producers, [](long count) {
            Queue queue;
            return through_threads(count, queue);
        });
    });
}

}  // namespace bench::channel
