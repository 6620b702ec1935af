// SPDX-License-Identifier: BSL-1.0
// Waits with random limits on every type that has them, by tasks and by threads, some of which wait
// without a limit. If a waiter that has left took a permit, a mutex, a notification or a value with
// it, they would wait for ever; if one were doubled, the sums would differ.
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
using quern_test::stopwatch;
using std::chrono::microseconds;

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
    bool take(microseconds limit) {
        std::unique_lock lock(m);
        const auto there = [this] { return left != 0; };
        if (!changed.wait_for(lock, limit, there)) {
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
            const microseconds limit(random.below(300));
            move(random, limit, random.below(3) == 0);
        }
    }

    bool all_is_well() {
        return m_faults == 0 && m_total == m_locked && m_sum == m_written && m_tokens.left == 2 &&
               m_other_tokens.left == 2 && m_permits.try_acquire() && m_permits.try_acquire() &&
               !m_permits.try_acquire() && m_values.try_receive() && m_values.try_receive() &&
               !m_values.try_receive() && m_mutex.try_lock() && m_shared.try_lock();
    }

private:
    void move(rng& random, microseconds limit, bool for_ever) {
        switch (random.below(7)) {
            case 0:
                return lock(limit, for_ever);
            case 1:
                return write(limit, for_ever);
            case 2:
                return read(limit, for_ever);
            case 3:
                return acquire(limit, for_ever);
            case 4:
                return hand_on(m_tokens, limit, for_ever);
            case 5:
                return hand_on(m_other_tokens, limit, for_ever);
            default:
                return receive(limit, for_ever);
        }
    }

    void lock(microseconds limit, bool for_ever) {
        for_ever ? m_mutex.lock() : void();
        if (for_ever || m_mutex.try_lock_for(limit)) {
            ++m_total;
            rest();
            m_mutex.unlock();
            ++m_locked;
        }
    }
    void write(microseconds limit, bool for_ever) {
        for_ever ? m_shared.lock() : void();
        if (for_ever || m_shared.try_lock_for(limit)) {
            ++m_sum;
            rest();
            m_shared.unlock();
            ++m_written;
        }
    }
    void read(microseconds limit, bool for_ever) {
        for_ever ? m_shared.lock_shared() : void();
        if (for_ever || m_shared.try_lock_shared_for(limit)) {
            const long before = m_sum;
            rest();
            m_faults += m_sum == before ? 0 : 1;
            m_shared.unlock_shared();
        }
    }
    void acquire(microseconds limit, bool for_ever) {
        for_ever ? m_permits.acquire() : void();
        if (for_ever || m_permits.try_acquire_for(limit)) {
            m_faults += ++m_inside <= 2 ? 0 : 1;
            rest();
            --m_inside;
            m_permits.release();
        }
    }
    template <class Tokens>
    void hand_on(Tokens& all, microseconds limit, bool for_ever) {
        for_ever ? all.take() : void();
        if (for_ever || all.take(limit)) {
            rest();
            all.put();
        }
    }
    void receive(microseconds limit, bool for_ever) {
        auto value = for_ever ? m_values.receive() : m_values.try_receive_for(limit);
        if (value) {
            rest();
            while (!m_values.try_send_for(std::move(*value), limit)) {
            }
        }
    }

    /// Long enough for limits to expire, now and then.
    static void rest() { quern::this_task::sleep_for(microseconds(50)); }

    std::atomic<int> m_faults{0};
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

// Holds: timed_mutex: With limits at random nothing is lost, and exclusion holds.
TEST_P(timed_sync, nothing_is_lost_on_those_who_leave) {
    auto random = random_for(100 + workers());
    for (const stopwatch watch(1.5); watch.running();) {
        playground all;
        by_tasks_and_threads(random, [&all](rng own) { all.take_part(own, 20); });
        ASSERT_TRUE(all.all_is_well());
    }
}

/// An event is set while others arrive and leave; a waiter without a limit resumes.
// Holds: timed_mutex: With limits at random...
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
