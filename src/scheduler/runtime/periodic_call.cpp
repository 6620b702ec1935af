// SPDX-License-Identifier: BSL-1.0
// Which team of threads for time there is in this process: none without functions to be called.
#include <quern/scheduler/detail/periodic_call.hpp>

#include "runtime/timer_threads.hpp"

#include <pthread.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace quern::detail {

namespace {

constinit timer_threads* g_team = nullptr;
constinit timer_threads* g_of_parent = nullptr;

/// Only the calling thread exists, and holds no lock.
void begin_child() noexcept {
    timer_thread::forget_self();
    if (g_team != nullptr) {
        g_team->close_inherited();
        g_of_parent = std::exchange(g_team, nullptr);
    }
}

[[maybe_unused]] const int k_registered = ::pthread_atfork(nullptr, nullptr, begin_child);

/// The threads stay when the last function has ended itself.
[[gnu::destructor(k_after_static_objects)]] void end_idle_team() {
    timer_threads* idle = nullptr;
    {
        const std::scoped_lock guard(time_lock());
        if (g_team != nullptr && g_team->empty() && timer_thread::self() == nullptr) {
            idle = std::exchange(g_team, nullptr);
        }
    }
    if (idle != nullptr) {
        idle->end();
        delete idle;
    }
}

}  // namespace

periodic_call::periodic_call(const char* name, clock::time_point first,
                             std::function<clock::time_point()> work)
    : m_entry(new entry{.name = name, .work = std::move(work), .due = first}) {
    const std::scoped_lock guard(time_lock());
    if (g_team == nullptr) {
        auto made = std::make_unique<timer_threads>(g_of_parent);
        made->add(m_entry);
        g_team = made.release();
    } else {
        g_team->add(m_entry);
    }
}

periodic_call::periodic_call(const char* name, std::chrono::nanoseconds period,
                             std::function<void()> work)
    : periodic_call(name, clock::now() + period,
                    [period, work = std::move(work), due = clock::now() + period]() mutable {
                        work();
                        const auto late = clock::now() - due;
                        due += period * (1 + std::max<clock::rep>(late / period, 0));
                        return due;
                    }) {}

periodic_call::~periodic_call() {
    if (inherited()) {
        static_cast<void>(new (std::nothrow) std::shared_ptr<entry>(std::move(m_entry)));
        return;
    }
    timer_threads* ended = nullptr;
    {
        std::unique_lock guard(time_lock());
        if (g_team->remove(m_entry, guard)) {
            ended = std::exchange(g_team, nullptr);
        }
    }
    if (ended != nullptr) {
        ended->end();
        delete ended;
    }
}

void periodic_call::hurry(clock::time_point until) {
    const std::scoped_lock guard(time_lock());
    if (!inherited()) {
        g_team->hurry(*m_entry, until);
    }
}

void periodic_call::await(std::span<const pollfd> descriptors) {
    std::vector<pollfd> open;
    std::copy_if(descriptors.begin(), descriptors.end(), std::back_inserter(open),
                 [](const pollfd& each) { return each.fd >= 0; });
    const std::scoped_lock guard(time_lock());
    if (!inherited()) {
        g_team->await(*m_entry, std::move(open));
    }
}

bool periodic_call::inherited() const noexcept { return m_entry->generation != fork_generation(); }

off_the_clock::off_the_clock(bool wanted) noexcept {
    m_left = wanted ? timer_thread::self() : nullptr;
    if (m_left == nullptr) {
        return;
    }
    m_left->wakes_no_task.reset();
    const std::scoped_lock guard(time_lock());
    m_left->team.leave_clock();
}

off_the_clock::~off_the_clock() {
    if (m_left != nullptr) {
        m_left->wakes_no_task.emplace();
    }
}

}  // namespace quern::detail
