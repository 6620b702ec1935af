// SPDX-License-Identifier: BSL-1.0
#include "threads.hpp"

#include <oneapi/tbb/concurrent_queue.h>

namespace bench::channel {

namespace {

class bounded_queue {
public:
    bounded_queue() { m_numbers.set_capacity(k_room); }

    void push(long number) { m_numbers.push(number); }
    long pop() {
        long number = 0;
        m_numbers.pop(number);
        return number;
    }

private:
    tbb::concurrent_bounded_queue<long> m_numbers;
};

const contender queue{"channel", "bounded_queue", with_threads<bounded_queue>};

}  // namespace

}  // namespace bench::channel
