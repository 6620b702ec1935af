// SPDX-License-Identifier: BSL-1.0
// A toy layer that releases tasks with ranks: order on one worker, how near to it several workers
// come, what hints are worth, and that nothing is lost or starved, under every policy.
#include <quern/quern.hpp>
#include <quern/scheduler/detail/queued_task.hpp>

#include "stress/seed.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace {

using quern::priority;
using quern::detail::queued_task;
using quern::detail::ready_batch;

/// Work that does not give way to other threads of the system, which may be many.
void compute_for(std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

/// A task with what it releases.
struct step final : queued_task<step> {
    step(quern::detail::pool& where, priority p, int r) : queued_task(where) {
        last_as({.urgency = p, .rank = static_cast<std::int16_t>(r)});
    }
    void call() noexcept { body(*this); }
    void completed(ready_batch& batch) noexcept {
        for (step* const each : released) {
            batch.add(*each);
        }
        left->count_down();
    }

    std::function<void(step&)> body;
    std::vector<step*> released;
    quern::latch* left = nullptr;
};

/// One that releases many, which are noted in the order in which they begin.
class release {
public:
    release(quern::runtime& rt, std::size_t size)
        : m_where(rt.default_pool().get()), m_left(static_cast<std::ptrdiff_t>(size) + 1) {
        m_order.resize(size);
    }

    step& add(priority p, int rank) {
        const std::size_t number = m_steps.size();
        step& each = m_steps.emplace_back(m_where, p, rank);
        each.left = &m_left;
        each.body = [this, number](step&) {
            m_order[m_begun.fetch_add(1)] = number;
            if (work.count() != 0) {
                compute_for(work);
            }
        };
        return each;
    }

    /// Returns when all have ended.
    void run() {
        step first(m_where, priority::normal, 0);
        first.left = &m_left;
        first.body = [](step&) {};
        for (step& each : m_steps) {
            first.released.push_back(&each);
        }
        first.make_ready();
        m_left.wait();
    }

    const step& nth(std::size_t n) const { return m_steps[m_order[n]]; }
    std::size_t number(std::size_t n) const { return m_order[n]; }
    std::size_t size() const { return m_order.size(); }

    std::chrono::microseconds work{0};

private:
    quern::detail::pool& m_where;
    quern::latch m_left;
    std::deque<step> m_steps;
    std::vector<std::size_t> m_order;
    std::atomic<std::size_t> m_begun{0};
};

class rank : public quern_test::on_runtime {
protected:
    quern::detail::pool& pool() { return rt.default_pool().get(); }
};
QUERN_ON_ALL_POLICIES(rank);

// Holds: task_attributes: rank: of the ready tasks of one urgency those with the larger rank are
//     taken first, above 0 before the usual ones, below 0 after them, within a rank the oldest
//     first; exact on one worker.
TEST_P(rank, decides_the_order_on_one_worker) {
    if (workers() != 1) {
        GTEST_SKIP() << "several workers keep to the order roughly";
    }
    quern::detail::rng random(workers());
    release all(rt, 500);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all.add(static_cast<priority>(random.below(3)), static_cast<int>(random.below(9)) - 4);
    }
    all.run();
    // In turns one of about 1,000 is taken whatever its rank; such a one has better ones after it.
    std::size_t early = 0;
    quern::detail::order_key best_after = quern::detail::k_no_key;
    for (std::size_t i = all.size(); i-- > 0;) {
        const quern::detail::order_key key = quern::detail::key_of(all.nth(i));
        early += key < best_after ? 1 : 0;
        best_after = std::max(best_after, key);
        const bool has_older_after = i + 1 < all.size() && all.nth(i).rank != 0 &&
                                     quern::detail::key_of(all.nth(i + 1)) == key &&
                                     all.number(i) > all.number(i + 1);
        early += has_older_after ? 1 : 0;
    }
    EXPECT_LE(early, 4U);
}

/// For each item how many better ones had not begun then, on average.
double mean_of_better_ones_left(const release& all) {
    std::vector<int> left(1'001, 0);
    for (std::size_t i = 0; i < all.size(); ++i) {
        ++left[static_cast<std::size_t>(all.nth(i).rank)];
    }
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto at = static_cast<std::size_t>(all.nth(i).rank);
        --left[at];
        for (std::size_t better = at + 1; better < left.size(); ++better) {
            sum += left[better];
        }
    }
    return sum / static_cast<double>(all.size());
}

// Holds: task_attributes: rank: each of several workers takes the best of its own tasks and of one
//     other worker's.
TEST_P(rank, is_kept_roughly_by_several_workers) {
    const auto size = static_cast<std::size_t>(quern_test::scaled(4'000, 1'000));
    quern::detail::rng random(workers());
    release all(rt, size);
    all.work = std::chrono::microseconds(2);
    for (std::size_t i = 0; i < size; ++i) {
        all.add(priority::normal, static_cast<int>(random.below(1'000)) + 1);
    }
    all.run();
    const double mean = mean_of_better_ones_left(all);
    std::printf("[ quality  ] %u workers: %.1f better ones left of %zu\n", workers(), mean, size);
    // Of a random order a quarter would be left. A worker whose thread the system has stopped may
    // hold a batch of 32, and one that it runs.
    EXPECT_LE(mean, workers() == 1 ? 3.0 : 33.0 * workers());
    EXPECT_LE(mean, 0.15 * static_cast<double>(size));
}

struct note {
    std::string& order;
    const char* what;
    void operator()() const { order += what; }
};

quern::task<void> note_later(std::string& order, quern::shared_future<void> gate) {
    co_await gate;
    order += "4";
}

// Holds: task_attributes: rank: every way to make a task has it.
TEST_P(rank, is_obeyed_of_tasks_that_are_made_in_any_way) {
    if (workers() != 1) {
        GTEST_SKIP() << "an order on one worker";
    }
    std::string order;
    inside([&] {
        quern::task_group group;
        quern::post({.rank = 1}, note{order, "1"});
        auto five = quern::async({.rank = 5}, note{order, "5"});
        group.run({.rank = 3}, note{order, "3"});
        auto six = quern::make_ready_future().then({.rank = 6}, [&](auto) { order += "6"; });
        auto two = quern::dataflow(
            {.rank = 2}, [&](auto) { order += "2"; }, quern::make_ready_future());
        quern::post({.rank = -1}, note{order, "-"});
        group.run({}, note{order, "0"});
        quern::post({.rank = -1}, note{order, "-"});
        quern::this_task::sleep_for(std::chrono::milliseconds(20));
        group.wait();
        five.get();
        six.get();
        two.get();
    });
    EXPECT_EQ(order, "653210--");
}

/// The order in which tasks of several ranks continue that have waited for one gate.
std::string order_after_a_gate(quern::runtime& rt, quern::detail::pool& where) {
    std::string order;
    quern::promise<void> opens;
    const quern::shared_future<void> gate = opens.get_future().share();
    std::vector<quern::future<void>> all;
    for (const std::int16_t r : std::to_array<std::int16_t>({1, 3, -1, 5})) {
        all.push_back(quern::async({.rank = r, .pool = &where}, [&order, gate, r] {
            gate.wait();
            order += r < 0 ? "-" : std::to_string(r);
        }));
    }
    all.push_back(quern::start({.rank = 4, .pool = &where}, note_later(order, gate)));
    all.push_back(quern::async({.pool = &where}, [&order, gate] {
        gate.wait();
        order += "0";
    }));
    EXPECT_TRUE(quern_test::eventually([&] { return where.away() == 6; }));
    quern::async(rt, [&] { opens.set_value(); }).get();
    for (auto& each : all) {
        each.get();
    }
    return order;
}

// Holds: task_attributes: rank: a task keeps its rank when it has waited.
TEST_P(rank, is_kept_when_a_task_has_waited) {
    if (workers() != 1) {
        GTEST_SKIP() << "an order on one worker";
    }
    std::string order;
    // Once in a thousand looks it is the turn of an item without a rank.
    for (int attempt = 0; attempt < 3 && order != "54310-"; ++attempt) {
        order = order_after_a_gate(rt, pool());
    }
    EXPECT_EQ(order, "54310-");
}

/// A chain of tasks of one rank that does not end by itself.
void run_on(const std::atomic<bool>& stop, std::atomic<unsigned>& running,
            quern::task_attributes how) {
    if (stop.load()) {
        running.fetch_sub(1);
        return;
    }
    quern::post(how, [&stop, &running, how] { run_on(stop, running, how); });
}

// Holds: task_attributes: rank: no rank starves another one, or other tasks, for ever.
TEST_P(rank, starves_nothing_for_ever) {
    const std::array<quern::task_attributes, 2> endless{
        {{.rank = 9}, {.urgency = priority::high, .rank = 9}}};
    for (const quern::task_attributes& how : endless) {
        inside([&] {
            std::atomic<bool> stop{false};
            std::atomic<unsigned> running{2 * workers()};
            for (unsigned i = running.load(); i > 0; --i) {
                quern::post(how, [&, how] { run_on(stop, running, how); });
            }
            std::vector<quern::future<int>> others;
            for (const priority p : {priority::low, priority::normal, priority::high}) {
                for (const std::int16_t r : std::to_array<std::int16_t>({-1, 0, 5})) {
                    for (const int hint : {-1, 0}) {
                        others.push_back(quern::async({.urgency = p,
                                                       .rank = r,
                                                       .stack = quern::stack_class::medium,
                                                       .worker = hint},
                                                      [] { return 1; }));
                    }
                }
            }
            int sum = 0;
            for (auto& each : others) {
                sum += each.get();
            }
            EXPECT_EQ(sum, 18);
            stop.store(true);
            while (running.load() != 0) {
                quern_test::let_others_run();
            }
        });
    }
}

// Holds: task_attributes: worker: tasks of any urgency and rank go to the queue of that worker.
TEST_P(rank, does_not_take_a_task_from_the_worker_of_its_hint) {
    constexpr int k_each = 100;
    const auto n = static_cast<int>(workers());
    std::atomic<int> elsewhere{0};
    std::atomic<int> hinted_left{k_each * n};
    quern::async(rt, [&] {
        quern::task_group group;
        std::function<void()> busy = [&] {  // so that no worker is out of work before the end
            compute_for(std::chrono::microseconds(5));
            if (hinted_left.load() > 0) {
                group.run(busy);
                group.run(busy);
            }
        };
        for (int i = 0; i < n; ++i) {
            group.run({.worker = i}, busy);
        }
        for (int i = 0; i < k_each * n; ++i) {
            const bool is_high = i / n % 2 == 0;
            group.run({.urgency = is_high ? priority::high : priority::normal,
                       .rank = static_cast<std::int16_t>(is_high ? 0 : 1 + i % 5),
                       .worker = i % n},
                      [&, i] {
                          elsewhere.fetch_add(quern::current_worker_rank() == i % n ? 0 : 1);
                          hinted_left.fetch_sub(1);
                      });
        }
        group.wait();
    }).get();
    std::printf("[ hints    ] %d of %d tasks ran elsewhere\n", elsewhere.load(), k_each * n);
    if (has_thieves()) {
        EXPECT_LE(elsewhere.load(), k_each * n / 4);
    } else {
        EXPECT_EQ(elsewhere.load(), 0);
    }
}

// Holds: task_attributes: worker: where the policy steals, a worker that has found nothing else for
//     10 us may take it from one that is busy.
TEST_P(rank, lets_an_idle_worker_take_what_is_hinted_to_a_busy_one) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs a worker that may take the task";
    }
    quern_test::spin_gate held, leave;
    auto holder = quern::async({.worker = 0, .pool = &pool()}, [&] {
        held.open();
        leave.pass();
        return quern::current_worker_rank();
    });
    held.pass();
    for (const priority p : {priority::low, priority::normal, priority::high}) {
        for (const std::int16_t r : std::to_array<std::int16_t>({-1, 0, 1})) {
            for (int worker = 0; worker < static_cast<int>(workers()); ++worker) {
                quern::async({.urgency = p, .rank = r, .worker = worker, .pool = &pool()}, [] {
                }).get();
            }
        }
    }
    leave.open();
    holder.get();
}

quern::task_attributes any_attributes(quern_test::dice& random) {
    const bool has_rank = random.below(2) == 0;
    return {.urgency = static_cast<priority>(random.below(3)),
            .rank = static_cast<std::int16_t>(
                has_rank ? static_cast<int>(random.below(65'536)) - 32'768 : 0),
            .stack = static_cast<quern::stack_class>(random.below(2)),
            .worker = random.below(3) == 0 ? static_cast<int>(random.below(9)) : -1,
            .numa_node = random.below(5) == 0 ? 0 : -1};
}

/// A part of a random program: makes others of any rank, urgency and hint, in any way.
struct part {
    quern_test::dice random;
    quern::task_group& group;
    std::atomic<long>& ended;

    void run(int depth) {
        for (std::uint32_t i = depth > 0 ? random.below(6) : 0; i > 0; --i) {
            auto inner = [child = part{random.child(i), group, ended}, depth]() mutable {
                child.run(depth - 1);
            };
            const std::uint32_t way = random.below(5);
            const quern::task_attributes how = any_attributes(random);
            if (way == 0) {
                quern::async(how, inner).get();
            } else if (way == 1) {
                quern::async(how, [] {}).then(how, [inner](auto) mutable { inner(); }).get();
            } else {
                group.run(how, inner);
            }
            if (way == 2) {
                quern::this_task::yield();
            }
        }
        ended.fetch_add(1);
    }

    /// How many of them there will be.
    static long count(quern_test::dice random, int depth) {
        long sum = 1;
        for (std::uint32_t i = depth > 0 ? random.below(6) : 0; i > 0; --i) {
            sum += count(random.child(i), depth - 1);
            random.below(5);
            any_attributes(random);
        }
        return sum;
    }
};

TEST_P(rank, loses_nothing_among_urgencies_and_hints) {
    quern_test::dice random(quern_test::stress_seed());
    const auto end = quern_test::stress_end();
    do {
        const quern_test::dice seed = random.child(random.below(1'000'000));
        std::atomic<long> ended{0};
        long expected = 0;
        quern::async(rt, [&] {
            expected = part::count(seed, 6);
            quern::task_group group;
            part{seed, group, ended}.run(6);
            rt.default_pool().set_active_workers(1 + random.below(workers()));
            group.wait();
            rt.default_pool().set_active_workers(workers());
        }).get();
        ASSERT_EQ(ended.load(), expected);
    } while (std::chrono::steady_clock::now() < end);
}

}  // namespace
