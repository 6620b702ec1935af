// SPDX-License-Identifier: BSL-1.0
// A thread that sleeps between two looks.
#include <quern/scheduler/quiet_thread.hpp>

#include <quern/base/process.hpp>
#include <quern/scheduler/census.hpp>

#include <pthread.h>
#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

namespace quern::detail {

struct quiet_thread::state {
    std::mutex lock;
    std::condition_variable changed;
    bool ends = false;
    clock::time_point due;
    std::function<clock::time_point()> work;
    const unsigned generation = fork_generation();
    std::thread thread;

    void run() {
        std::unique_lock guard(lock);
        while (!ends) {
            if (clock::now() < due) {
                const harmless_thread asleep;  // no code of users while it sleeps
                changed.wait_until(guard, due);
                continue;
            }
            due = clock::time_point::max();
            guard.unlock();
            const clock::time_point next = work();
            guard.lock();
            due = std::min(due, next);
        }
    }
};

quiet_thread::quiet_thread(const char* name, clock::time_point first,
                           std::function<clock::time_point()> work)
    : m_state(std::make_unique<state>()) {
    m_state->due = first;
    m_state->work = std::move(work);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    try {
        m_state->thread = std::thread([of = m_state.get(), name] {
            pthread_setname_np(pthread_self(), name);
            of->run();
        });
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

quiet_thread::~quiet_thread() {
    if (inherited()) {
        static_cast<void>(m_state.release());  // there is no thread that could be joined
        return;
    }
    {
        const std::scoped_lock guard(m_state->lock);
        m_state->ends = true;
    }
    m_state->changed.notify_all();
    m_state->thread.join();
}

void quiet_thread::hurry(clock::time_point until) {
    {
        const std::scoped_lock guard(m_state->lock);
        m_state->due = std::min(m_state->due, until);
    }
    m_state->changed.notify_all();
}

bool quiet_thread::inherited() const noexcept { return m_state->generation != fork_generation(); }

}  // namespace quern::detail
