// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <atomic>

namespace bench::channel {

namespace {

long through_channel(long producers) {
    quern::channel<long> numbers(k_room);
    std::atomic<long> sum{0};
    quern::task_group receive;
    quern::task_group send;
    for (long i = 0; i < producers; ++i) {
        receive.run([&] {
            long mine = 0;
            for (const long number : numbers) {
                mine += number;
            }
            sum.fetch_add(mine, std::memory_order_relaxed);
        });
        send.run([&numbers, i, producers] {
            produce(i, producers, [&numbers](long number) { numbers.send(number); });
        });
    }
    send.wait();
    numbers.close();
    receive.wait();
    return sum.load(std::memory_order_relaxed);  // all have ended
}

const contender own{"channel", "channel", [](const arguments& a) {
                        return quern_job(a, [producers = a.size] {
                            return throughput(producers, through_channel);
                        });
                    }};

}  // namespace

}  // namespace bench::channel
