// SPDX-License-Identifier: BSL-1.0
// channel: producers send numbers through one bounded queue to an equal number of consumers. Value:
// ns for a number. Size: the producers.
#pragma once

#include "../harness/figures.hpp"

namespace bench::channel {

constexpr long k_items = 100'000;    // of all producers
constexpr std::size_t k_room = 256;  // most numbers in the queue

/// The numbers of a producer, one after the other.
template <class Send>
void produce(long producer, long producers, Send send) {
    const long count = k_items / producers;
    for (long i = 0; i < count; ++i) {
        send(producer * count + i);
    }
}

/// `run(producers)` sends everything and returns the sum of the received numbers.
template <class Run>
measurement throughput(long producers, Run run) {
    const long count = k_items / producers * producers;
    const measurement m =
        timed([&] { return run(producers); },
              [&](long sum) { expect_equal("the sum", sum, count * (count - 1) / 2); });
    return per_step(m, count);
}

}  // namespace bench::channel
