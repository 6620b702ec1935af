// SPDX-License-Identifier: BSL-1.0
// Coroutines, tasks and threads that contend for the same synchronisation types: participants take
// random steps, each with a type and a check of its own, the coroutines by co_await, some with a
// stop token. The guarded data is plain, so that ThreadSanitizer detects races.
#include "stops.hpp"
#include "stopwatch.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/sync/barrier.hpp>
#include <quern/sync/channel.hpp>
#include <quern/sync/full_empty.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/shared_mutex.hpp>
#include <quern/task/coroutine.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

using quern::task;
using quern::detail::rng;
using quern_test::random_for;
using quern_test::stops;
using quern_test::stopwatch;

/// The state that the participants share.
class ground {
public:
    explicit ground(int participants) : m_all(participants) {}

    /// The part of one participant, as a coroutine and as a task or thread. Each move but the last
    /// restores the state, so no participant waits for ever.
    task<> take_part_suspended(rng random, int steps) {
        for (int i = 0; i < steps; ++i) {
            const std::uint32_t move = random.below(8);
            if (move == 6) {
                m_stops.request();
            } else if (move == 7) {
                co_await take_part_until_stopped(random.below(4));
            } else if (move == 0) {
                auto held = co_await m_mutex.co_lock();
                ++m_count;
                if (random.below(4) == 0) {
                    co_await quern::async([] {});  // may resume on another worker
                }
                check_inside();
            } else if (move == 1) {
                const auto held = co_await m_shared.co_lock();
                ++m_pair[0];
                co_await quern::async([] {});
                ++m_pair[1];
            } else if (move == 2) {
                const auto held = co_await m_shared.co_lock_shared();
                expect(m_pair[0] == m_pair[1]);
            } else if (move == 3) {
                co_await m_permits.co_acquire();
                enter();
                co_await quern::async([] {});
                leave();
                m_permits.release();
            } else if (move == 4) {
                m_sent += 1;
                co_await m_channel.co_send(1);
                m_received += (co_await m_channel.co_receive()).value();
            } else {
                co_await m_cell.co_write_ef(7);
                expect(co_await m_cell.co_read_fe() == 7);
            }
        }
        co_await m_all.co_arrive_and_wait();
    }

    /// A step that may end without what it waits for.
    task<> take_part_until_stopped(std::uint32_t move) {
        if (move == 0) {
            if (const auto held = co_await m_mutex.co_lock(m_stops.token())) {
                ++m_count;
                check_inside();
            }
        } else if (move == 1) {
            if (const auto held = co_await m_shared.co_lock(m_stops.token())) {
                ++m_pair[0];
                co_await quern::async([] {});
                ++m_pair[1];
            }
        } else if (move == 2) {
            if (const auto held = co_await m_shared.co_lock_shared(m_stops.token())) {
                expect(m_pair[0] == m_pair[1]);
            }
        } else if (co_await m_permits.co_acquire(m_stops.token())) {
            enter();
            const auto ends = quern::async([] {});
            static_cast<void>(co_await ends.co_wait(m_stops.token()));
            leave();
            m_permits.release();
        }
    }

    void take_part(rng random, int steps) {
        for (int i = 0; i < steps; ++i) {
            const std::uint32_t move = random.below(6);
            if (move == 0) {
                const std::scoped_lock lock(m_mutex);
                ++m_count;
                check_inside();
            } else if (move == 1) {
                const std::unique_lock lock(m_shared);
                ++m_pair[0];
                ++m_pair[1];
            } else if (move == 2) {
                const std::shared_lock lock(m_shared);
                expect(m_pair[0] == m_pair[1]);
            } else if (move == 3) {
                m_permits.acquire();
                enter();
                leave();
                m_permits.release();
            } else if (move == 4) {
                m_sent += 1;
                m_channel.send(1);
                m_received += m_channel.receive().value();
            } else {
                m_cell.write_ef(7);
                expect(m_cell.read_fe() == 7);
            }
        }
        m_all.arrive_and_wait();
    }

    /// Called after all have ended.
    bool all_is_well() const {
        return m_faults == 0 && m_sent == m_received && m_pair[0] == m_pair[1] &&
               m_count == m_checked && !m_cell.is_full();
    }

private:
    void expect(bool holds) { m_faults += holds ? 0 : 1; }
    void check_inside() { expect(++m_checked == m_count); }
    void enter() { expect(++m_inside <= k_permits); }
    void leave() { --m_inside; }

    static constexpr int k_permits = 3;

    std::atomic<int> m_faults{0};
    stops m_stops;
    quern::mutex m_mutex;
    long m_count = 0;
    long m_checked = 0;
    quern::shared_mutex m_shared;
    std::array<long, 2> m_pair{};
    quern::counting_semaphore<> m_permits{k_permits};
    std::atomic<int> m_inside{0};
    quern::channel<int> m_channel{2};
    std::atomic<long> m_sent{0};
    std::atomic<long> m_received{0};
    quern::full_empty<int> m_cell;
    quern::barrier<> m_all;
};

class co_sync : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(co_sync);

// Holds: co_await on synchronisation: The types keep their promises to coroutines, tasks and
//     threads that contend for them.
TEST_P(co_sync, types_keep_their_promises_to_coroutines_tasks_and_threads) {
    auto random = random_for(workers());
    for (const stopwatch watch(0.3); watch.running();) {
        const int coroutines = 1 + static_cast<int>(random.below(30));
        const int tasks = static_cast<int>(random.below(10));
        const int threads = static_cast<int>(random.below(3));
        const int steps = 1 + static_cast<int>(random.below(60));
        ground all(coroutines + tasks + threads);
        std::vector<quern::future<void>> ended;
        std::vector<std::thread> outside;
        for (int i = 0; i < coroutines + tasks + threads; ++i) {
            const rng own(random.next());
            const auto part = [&all, own, steps] { all.take_part(own, steps); };
            if (i < coroutines) {
                ended.push_back(quern::start(rt, all.take_part_suspended(own, steps)));
            } else if (i < coroutines + tasks) {
                ended.push_back(quern::async(rt, part));
            } else {
                outside.emplace_back(part);
            }
        }
        for (auto& e : ended) {
            e.get();
        }
        for (std::thread& t : outside) {
            t.join();
        }
        ASSERT_TRUE(all.all_is_well());
    }
}

}  // namespace
