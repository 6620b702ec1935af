// SPDX-License-Identifier: BSL-1.0
// All synchronisation types mixed: participants, tasks and threads, take random steps, each with a
// type and a check of its own, and meet at a barrier in which all sums are compared. The guarded
// data is plain, so that ThreadSanitizer detects races.
#include "stopwatch.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/sync/and_gate.hpp>
#include <quern/sync/barrier.hpp>
#include <quern/sync/call_once.hpp>
#include <quern/sync/channel.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/full_empty.hpp>
#include <quern/sync/guard.hpp>
#include <quern/sync/recursive_mutex.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/shared_mutex.hpp>
#include <quern/sync/sliding_semaphore.hpp>

#include <array>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

using quern::detail::rng;
using quern_test::random_for;
using quern_test::stopwatch;

/// The state that the participants share.
class playground {
public:
    playground(const quern::runtime& rt, int participants)
        : m_on{.pool = &rt.default_pool().get()},
          m_values(static_cast<std::size_t>(participants)),
          m_arrived(static_cast<std::size_t>(participants)),
          m_all(participants, end_of_step{this}) {}

    /// The part of one participant: `steps` steps of some random moves each.
    void take_part(std::size_t me, rng random, std::int64_t steps) {
        for (std::int64_t step = 0; step < steps; ++step) {
            for (std::uint32_t moves = random.below(8); moves != 0; --moves) {
                move(random);
            }
            meet(me, step, random);
        }
    }

    bool all_is_well() const { return m_faults.load() == 0; }

private:
    struct end_of_step {
        playground* all;
        void operator()() const noexcept { all->compare(); }
    };

    void expect(bool holds) { m_faults += holds ? 0 : 1; }

    void move(rng& random) {
        switch (random.below(8)) {
            case 0:
                return write_pair();
            case 1:
                return read_pair();
            case 2:
                return nest(1 + static_cast<int>(random.below(4)));
            case 3:
                return exchange(m_bounded, random.next());
            case 4:
                return exchange(m_unbounded, random.next());
            case 5:
                m_cell.write_ef(std::make_unique<int>(1));
                return expect(*m_cell.read_fe() == 1);
            case 6:
                return guarded(random.below(3));
            default:
                return take_turn();
        }
    }

    void write_pair() {
        const std::unique_lock lock(m_shared);
        ++m_pair[0];
        rest();
        ++m_pair[1];
    }
    void read_pair() {
        const std::shared_lock lock(m_shared);
        expect(m_pair[0] == m_pair[1]);
    }
    void nest(int depth) {
        const std::scoped_lock lock(m_recursive);
        ++m_depths;
        if (depth > 1) {
            nest(depth - 1);
        }
        --m_depths;
        expect(depth > 1 || m_depths >= 0);
    }
    /// Each puts one in before it takes one out, so no participant waits for ever.
    void exchange(quern::channel<std::uint64_t>& values, std::uint64_t value) {
        m_sent += value;
        values.send(value);
        m_received += values.receive().value();
    }
    void guarded(std::uint32_t which) {
        quern::guard* const one = &m_guards[which];
        quern::guard* const other = &m_guards[(which + 1) % m_guards.size()];
        ++m_given;
        auto ended = quern::run_guarded(m_on, {one, other}, [this, which] {
            ++m_guarded[which];
            ++m_guarded[(which + 1) % m_guarded.size()];
            ++m_run;
        });
        if (which == 0) {
            ended.get();
        }
    }
    /// Waits with a lock of another type for one of two places.
    void take_turn() {
        {
            std::unique_lock lock(m_recursive);
            m_changed.wait(lock, [this] { return m_inside < 2; });
            ++m_inside;
        }
        rest();
        const std::scoped_lock lock(m_recursive);
        expect(--m_inside >= 0);
        m_changed.notify_one();
    }

    void meet(std::size_t me, std::int64_t step, rng& random) {
        const auto parity = static_cast<std::size_t>(step % 2);
        quern::call_once(m_once[parity].flag, [this, parity] { ++m_once[parity].calls; });
        expect(m_once[parity].calls == 1);
        m_values[me] = step;
        m_arrived.set(me);
        if (random.below(2) == 0) {
            m_all.arrive_and_wait();
        } else {
            auto token = m_all.arrive();
            m_window.wait(step + 1);
            m_all.wait(std::move(token));
        }
        m_arrived.synchronize(step + 1);
    }

    /// Called by the last participant to arrive; the others wait.
    void compare() noexcept {
        const std::int64_t step = m_step++;
        for (const std::int64_t value : m_values) {
            expect(value == step);
        }
        expect(m_arrived.generation() == step + 1);
        expect(m_sent == m_received);
        expect(!m_cell.is_full());
        expect(m_inside == 0 && m_depths == 0);
        m_once[static_cast<std::size_t>((step + 1) % 2)].reset();
        quern::run_guarded(m_on, {&m_guards[0], &m_guards[1], &m_guards[2]}, [] {}).get();
        expect(m_run == m_given.load());
        m_window.signal(step + 1);
    }

    static void rest() {
        if (quern::detail::current_context() != nullptr) {
            quern_test::let_others_run();
        } else {
            std::this_thread::yield();
        }
    }

    struct once {
        void reset() {
            std::destroy_at(&flag);
            std::construct_at(&flag);
            calls = 0;
        }
        quern::once_flag flag;
        int calls = 0;
    };

    const quern::task_attributes m_on;
    std::atomic<int> m_faults{0};
    std::int64_t m_step = 0;
    std::vector<std::int64_t> m_values;

    quern::shared_mutex m_shared;
    std::array<long, 2> m_pair{};
    quern::recursive_mutex m_recursive;
    int m_depths = 0;
    int m_inside = 0;
    quern::condition_variable_any m_changed;
    quern::channel<std::uint64_t> m_bounded{2};
    quern::channel<std::uint64_t> m_unbounded;
    std::atomic<std::uint64_t> m_sent{0};
    std::atomic<std::uint64_t> m_received{0};
    quern::full_empty<std::unique_ptr<int>> m_cell;
    std::array<quern::guard, 3> m_guards;
    std::array<long, 3> m_guarded{};
    std::atomic<long> m_given{0};
    std::atomic<long> m_run{0};
    std::array<once, 2> m_once;
    quern::sliding_semaphore m_window{0};
    quern::and_gate m_arrived;
    quern::barrier<end_of_step> m_all;
};

class sync : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(sync);

TEST_P(sync, types_keep_their_promises_when_they_are_mixed) {
    auto random = random_for(workers());
    for (const stopwatch watch(1.0); watch.running();) {
        const int tasks = 2 + static_cast<int>(random.below(20));
        const int threads = static_cast<int>(random.below(3));
        const std::int64_t steps = 1 + random.below(20);
        playground all(rt, tasks + threads);
        std::vector<quern::future<void>> ended;
        std::vector<std::thread> outside;
        for (int i = 0; i < tasks + threads; ++i) {
            const auto part = [&all, me = static_cast<std::size_t>(i), own = rng(random.next()),
                               steps] { all.take_part(me, own, steps); };
            if (i < tasks) {
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
