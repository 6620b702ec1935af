// SPDX-License-Identifier: BSL-1.0
// A thread that is no worker and drops holds for random programs.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace quern_test {

/// Calls functions, one after the other.
class foreign_thread {
public:
    static foreign_thread& of_test() {
        static foreign_thread one;
        return one;
    }

    void call(std::function<void()> f) {
        {
            const std::scoped_lock guard(m_lock);
            m_calls.push_back(std::move(f));
        }
        m_changed.notify_one();
    }

private:
    void run(const std::stop_token& stop) {
        std::unique_lock guard(m_lock);
        while (m_changed.wait(guard, stop, [this] { return !m_calls.empty(); })) {
            const std::function<void()> next = std::move(m_calls.front());
            m_calls.pop_front();
            guard.unlock();
            next();
            guard.lock();
        }
    }

    std::mutex m_lock;
    std::condition_variable_any m_changed;
    std::deque<std::function<void()>> m_calls;
    std::jthread m_thread{[this](const std::stop_token& stop) { run(stop); }};
};

}  // namespace quern_test
