// SPDX-License-Identifier: BSL-1.0
// What the threads for time do: call what is due, sleep until the next is, and change places.
#include "runtime/timer_threads.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <system_error>
#include <utility>

namespace quern::detail {

namespace {

constinit thread_local timer_thread* t_self = nullptr;

/// Signals are for the program's own threads; those that tell of a fault in this one stay open.
class signals_blocked {
public:
    signals_blocked() noexcept {
        sigset_t all;
        sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
            sigdelset(&all, fault);
        }
        pthread_sigmask(SIG_BLOCK, &all, &m_before);
    }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }

private:
    sigset_t m_before;
};

int make_eventfd() {
    const int made = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made < 0) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    return made;
}

void report_exception(const char* name, const char* what) noexcept {
    std::fprintf(stderr, "quern: '%s' threw an exception and is not called again: %s\n", name,
                 what);
}

/// When it is due next; nothing after an exception.
std::optional<clock_type::time_point> next_time_of(
    const char* name, const std::function<clock_type::time_point()>& work) noexcept {
    try {
        return work();
    } catch (const std::exception& error) {
        report_exception(name, error.what());
    } catch (...) {
        report_exception(name, "of no standard type");
    }
    return std::nullopt;
}

}  // namespace

timer_thread* timer_thread::self() noexcept { return t_self; }
void timer_thread::forget_self() noexcept { t_self = nullptr; }

timer_thread::timer_thread(timer_threads& of) : team(of) {
    const signals_blocked in_the_thread;
    thread = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "quern-time");
        t_self = this;
        team.run(*this);
    });
}

timer_threads::timer_threads(timer_threads* of_parent)
    : m_of_parent(of_parent), m_wake(make_eventfd()) {}

void timer_threads::add(const std::shared_ptr<entry>& one) {
    m_all.push_back(one);
    if (m_threads.empty()) {
        try {
            m_threads.push_back(std::make_unique<timer_thread>(*this));
        } catch (...) {
            m_all.pop_back();
            throw;
        }
    } else {
        tell_clock(*one);
    }
}

/// The one at the clock may sleep too long, or look at descriptors that are closed now.
void timer_threads::tell_clock(const entry& changed) const noexcept {
    if (changed.due < m_wakes_at || !changed.awaited.empty()) {
        wake_sleeper();
    }
}

void timer_threads::wake_sleeper() const noexcept {
    if (m_wakes_at != clock_type::time_point::min()) {
        wake();
    }
}

void timer_threads::hurry(entry& one, clock_type::time_point until) noexcept {
    one.due = std::min(one.due, until);
    tell_clock(one);
}

void timer_threads::await(entry& one, std::vector<pollfd> descriptors) {
    std::swap(one.awaited, descriptors);
    if (!descriptors.empty() || !one.awaited.empty()) {
        wake_sleeper();
    }
}

bool timer_threads::remove(const std::shared_ptr<entry>& one, std::unique_lock<std::mutex>& guard) {
    one->ended = true;
    one->due = clock_type::time_point::max();
    if (one->caller != t_self) {
        m_called.wait(guard, [&] { return one->caller == nullptr; });
    }
    std::erase(m_all, one);
    if (m_all.empty() && t_self == nullptr) {
        m_ends = true;
    } else {
        tell_clock(*one);
    }
    return m_ends;
}

void timer_threads::end() noexcept {
    {
        const std::scoped_lock guard(time_lock());
        m_ends = true;
    }
    wake();
    m_relief.notify_all();
    for (const auto& each : m_threads) {
        each->thread.join();
    }
}

void timer_threads::run(timer_thread& me) {
    me.wakes_no_task.emplace();
    std::unique_lock guard(time_lock());
    while (!m_ends) {
        if (m_at_clock != nullptr && m_at_clock != &me) {
            ++m_resting;
            m_relief.wait(guard);
            --m_resting;
            continue;
        }
        m_at_clock = &me;
        entry* const next = earliest();
        if (next == nullptr || next->due > clock_type::now()) {
            sleep(guard);
            continue;
        }
        const auto found = std::find_if(m_all.begin(), m_all.end(),
                                        [next](const auto& each) { return each.get() == next; });
        call(me, *found, guard);
        if (!guard.owns_lock()) {
            return;  // in the child of a fork()
        }
    }
    guard.unlock();
    me.wakes_no_task.reset();
}

/// Of those that are not being called.
timer_threads::entry* timer_threads::earliest() noexcept {
    entry* found = nullptr;
    for (const auto& each : m_all) {
        if (each->caller == nullptr && !each->ended &&
            (found == nullptr || each->due < found->due)) {
            found = each.get();
        }
    }
    return found;
}

void timer_threads::call(timer_thread& me, std::shared_ptr<entry> one,
                         std::unique_lock<std::mutex>& guard) {
    one->caller = &me;
    one->due = clock_type::time_point::max();
    guard.unlock();
    const auto next = next_time_of(one->name, one->work);
    if (fork_generation() != one->generation) {
        return;  // it has called fork(), and this is the child: the team is the parent's
    }
    guard.lock();
    one->caller = nullptr;
    one->ended = one->ended || !next;
    one->due = std::min(one->due, next.value_or(clock_type::time_point::max()));
    m_called.notify_all();
    if (m_at_clock != &me) {
        tell_clock(*one);
    }
    if (one.use_count() == 1) {  // it has ended itself: what it holds goes without the lock
        guard.unlock();
        one.reset();
        guard.lock();
    }
}

/// Until the next is due, a descriptor is ready, or something has changed.
void timer_threads::sleep(std::unique_lock<std::mutex>& guard) {
    std::vector<pollfd> all{{m_wake, POLLIN, 0}};
    for (const auto& each : m_all) {
        if (each->caller == nullptr && !each->ended) {
            all.insert(all.end(), each->awaited.begin(), each->awaited.end());
        }
    }
    const entry* const next = earliest();
    m_wakes_at = next != nullptr ? next->due : clock_type::time_point::max();
    const auto left = std::max<std::chrono::nanoseconds>(m_wakes_at - clock_type::now(), {});
    const timespec limit{static_cast<time_t>(left.count() / 1'000'000'000),
                         static_cast<long>(left.count() % 1'000'000'000)};
    const bool for_ever = m_wakes_at == clock_type::time_point::max();
    guard.unlock();
    const int ready = ::ppoll(all.data(), all.size(), for_ever ? nullptr : &limit, nullptr);
    guard.lock();
    m_wakes_at = clock_type::time_point::min();
    if (ready <= 0) {
        return;
    }
    if (all.front().revents != 0) {
        eventfd_t count = 0;
        ::eventfd_read(m_wake, &count);
    }
    for (const auto& each : m_all) {
        const auto is_ready = [&](const pollfd& one) {
            return std::any_of(all.begin() + 1, all.end(), [&](const pollfd& seen) {
                return seen.fd == one.fd && seen.revents != 0;
            });
        };
        if (std::any_of(each->awaited.begin(), each->awaited.end(), is_ready)) {
            each->due = std::min(each->due, clock_type::now());
        }
    }
}

/// Without another thread the others wait.
void timer_threads::leave_clock() noexcept {
    if (m_at_clock != t_self || m_ends) {
        return;
    }
    if (m_resting == 0) {
        try {
            m_threads.push_back(std::make_unique<timer_thread>(*this));
        } catch (const std::exception&) {
            return;
        }
    }
    m_at_clock = nullptr;
    m_relief.notify_one();
}

}  // namespace quern::detail
