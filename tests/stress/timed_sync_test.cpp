// SPDX-License-Identifier: BSL-1.0
// Waits with random limits, a time or a time and a stop token, on every type that has them, by
// tasks and by threads, some of which wait without a limit. If a waiter that has left took a
// permit, a mutex, a notification or a value with it, they would wait for ever; if one were
// doubled, the sums would differ.
#include "stops.hpp"
#include "stopwatch.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/sync/channel.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/timed_mutex.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

using quern::detail::rng;
using quern_test::random_for;
using quern_test::stops;
using quern_test::stopwatch;
using std::chrono::microseconds;

struct limit {
    /// `wait` is called with the time, or with a stop token and the time.
    template <class Wait>
    auto operator()(Wait wait) const {
        return of != nullptr ? wait(of->token(), time) : wait(time);
    }

    microseconds time;
    stops* of;  ///< or null
};

/// Tokens that are passed on with a notification each.
template <class Variable, class Mutex>
struct tokens {
    void put() {
        {
            const std::scoped_lock lock(m);
            ++left;
        }
        changed.notify_one();
    }
    /// The time, or a stop token and the time.
    template <class... Limit>
    bool take_for(const Limit&... limit) {
        std::unique_lock lock(m);
        const auto there = [this] { return left != 0; };
        if (!changed.wait_for(lock, limit..., there)) {
            return false;
        }
        --left;
        return true;
    }
    void take() {
        std::unique_lock lock(m);
        changed.wait(lock, [this] { return left != 0; });
        --left;
    }
    Mutex m;
    Variable changed;
    int left = 0;
};

class playground {
public:
    /// There are two of every kind, so that three and more participants must wait.
    playground() {
        for (int i = 0; i < 2; ++i) {
            m_tokens.put();
            m_other_tokens.put();
            m_values.send(i);
        }
    }

    void take_part(rng random, int moves) {
        for (int i = 0; i < moves; ++i) {
            const limit its{microseconds(random.below(300)),
                            random.below(2) == 0 ? &m_stops : nullptr};
            move(random, its, random.below(3) == 0);
        }
    }

    bool all_is_well() {
        return m_faults == 0 && m_total == m_locked && m_sum == m_written && m_tokens.left == 2 &&
               m_other_tokens.left == 2 && m_permits.try_acquire() && m_permits.try_acquire() &&
               !m_permits.try_acquire() && m_values.try_receive() && m_values.try_receive() &&
               !m_values.try_receive() && m_mutex.try_lock() && m_shared.try_lock();
    }

private:
    void move(rng& random, const limit& its, bool for_ever) {
        switch (random.below(8)) {
            case 0:
                return lock(its, for_ever);
            case 1:
                return write(its, for_ever);
            case 2:
                return read(its, for_ever);
            case 3:
                return acquire(its, for_ever);
            case 4:
                return hand_on(m_tokens, its, for_ever);
            case 5:
                return hand_on(m_other_tokens, its, for_ever);
            case 6:
                return receive(its, for_ever);
            default:
                return m_stops.request();
        }
    }

    void lock(const limit& its, bool for_ever) {
        for_ever ? m_mutex.lock() : void();
        if (for_ever ||
            its([this](const auto&... until) { return m_mutex.try_lock_for(until...); })) {
            ++m_total;
            rest();
            m_mutex.unlock();
            ++m_locked;
        }
    }
    void write(const limit& its, bool for_ever) {
        for_ever ? m_shared.lock() : void();
        if (for_ever ||
            its([this](const auto&... until) { return m_shared.try_lock_for(until...); })) {
            ++m_sum;
            rest();
            m_shared.unlock();
            ++m_written;
        }
    }
    void read(const limit& its, bool for_ever) {
        for_ever ? m_shared.lock_shared() : void();
        if (for_ever ||
            its([this](const auto&... until) { return m_shared.try_lock_shared_for(until...); })) {
            const long before = m_sum;
            rest();
            m_faults += m_sum == before ? 0 : 1;
            m_shared.unlock_shared();
        }
    }
    void acquire(const limit& its, bool for_ever) {
        for_ever ? m_permits.acquire() : void();
        if (for_ever ||
            its([this](const auto&... until) { return m_permits.try_acquire_for(until...); })) {
            m_faults += ++m_inside <= 2 ? 0 : 1;
            rest();
            --m_inside;
            m_permits.release();
        }
    }
    template <class Tokens>
    void hand_on(Tokens& all, const limit& its, bool for_ever) {
        for_ever ? all.take() : void();
        if (for_ever || its([&all](const auto&... until) { return all.take_for(until...); })) {
            rest();
            all.put();
        }
    }
    void receive(const limit& its, bool for_ever) {
        auto value = for_ever ? m_values.receive() : its([this](const auto&... until) {
            return m_values.try_receive_for(until...);
        });
        if (value) {
            rest();
            while (!its([this, &value](const auto&... until) {
                return m_values.try_send_for(std::move(*value), until...);
            })) {
            }
        }
    }

    /// Long enough for limits to expire, now and then.
    static void rest() { quern::this_task::sleep_for(microseconds(50)); }

    std::atomic<int> m_faults{0};
    stops m_stops;
    quern::timed_mutex m_mutex;
    long m_total = 0;
    std::atomic<long> m_locked{0};
    quern::shared_timed_mutex m_shared;
    long m_sum = 0;
    std::atomic<long> m_written{0};
    quern::counting_semaphore<> m_permits{2};
    std::atomic<int> m_inside{0};
    tokens<quern::condition_variable, quern::mutex> m_tokens;
    tokens<quern::condition_variable_any, quern::recursive_mutex> m_other_tokens;
    quern::channel<int> m_values{2};
};

class timed_sync : public quern_test::on_runtime {
protected:
    /// Calls part(generator) in some tasks and threads, and waits for all of them.
    template <class Part>
    void by_tasks_and_threads(rng& random, Part part) {
        std::vector<quern::future<void>> ended;
        std::vector<std::thread> outside;
        for (std::uint32_t i = 4 + random.below(20); i != 0; --i) {
            ended.push_back(quern::async(rt, [part, own = rng(random.next())] { part(own); }));
        }
        for (std::uint32_t i = random.below(4); i != 0; --i) {
            outside.emplace_back([part, own = rng(random.next())] { part(own); });
        }
        for (auto& e : ended) {
            e.get();
        }
        for (std::thread& t : outside) {
            t.join();
        }
    }
};
QUERN_ON_1_2_8_WORKERS(timed_sync);

// Holds: timed_mutex: With limits and stop requests at random nothing is lost, and exclusion holds.
TEST_P(timed_sync, nothing_is_lost_on_those_who_leave) {
    auto random = random_for(100 + workers());
    for (const stopwatch watch(1.5); watch.running();) {
        playground all;
        by_tasks_and_threads(random, [&all](rng own) { all.take_part(own, 20); });
        ASSERT_TRUE(all.all_is_well());
    }
}

/// An event is set while others arrive and leave; a waiter without a limit resumes.
// Holds: timed_mutex: With limits and stop requests at random...
TEST_P(timed_sync, an_event_lets_all_go_on_that_are_left) {
    auto random = random_for(200 + workers());
    for (const stopwatch watch(1.0); watch.running();) {
        quern::event ready;
        int data = 0;
        std::atomic<int> faults{0};
        std::atomic<bool> first{true};
        by_tasks_and_threads(random, [&](rng own) {
            if (first.exchange(false)) {
                quern::this_task::sleep_for(microseconds(own.below(300)));
                data = 1;
                return ready.set();
            }
            for (std::uint32_t i = own.below(5); i != 0; --i) {
                if (ready.wait_for(microseconds(own.below(100)))) {
                    faults += data == 1 ? 0 : 1;
                }
            }
            ready.wait();
            faults += data == 1 ? 0 : 1;
        });
        ASSERT_EQ(faults.load(), 0);
    }
}

}  // namespace
