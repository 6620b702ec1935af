// SPDX-License-Identifier: BSL-1.0
#include "threads.hpp"

#include <condition_variable>
#include <mutex>
#include <queue>

namespace bench::channel {

namespace {

/// The usual implementation: a queue, a mutex and two condition variables.
class bounded_queue {
public:
    void push(long number) {
        {
            std::unique_lock lock(m_mutex);
            m_has_room.wait(lock, [this] { return m_numbers.size() < k_room; });
            m_numbers.push(number);
        }
        m_has_number.notify_one();
    }

    long pop() {
        long number = 0;
        {
            std::unique_lock lock(m_mutex);
            m_has_number.wait(lock, [this] { return !m_numbers.empty(); });
            number = m_numbers.front();
            m_numbers.pop();
        }
        m_has_room.notify_one();
        return number;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_has_room;
    std::condition_variable m_has_number;
    std::queue<long> m_numbers;
};

const contender queue{"channel", "mutex_queue", with_threads<bounded_queue>};

}  // namespace

}  // namespace bench::channel
