// SPDX-License-Identifier: BSL-1.0
// task_group(bounded(n)): the effect of the bound, and that a task run by its creator may wait for
// the creator's next action. Errors, cancellation and attributes are as in any group.
#include <quern/task/async.hpp>
#include <quern/task/blocking_region.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/pin_to_worker.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_group.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using quern::bounded;
using quern::task_group;
using quern_test::scaled;

class bounded_group : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(bounded_group);

/// Counts its live objects: closures of tasks that have been made and have not ended.
class live {
public:
    explicit live(std::atomic<int>& count) : m_count(count) { m_count.fetch_add(1); }
    live(const live& other) : live(other.m_count) {}
    live& operator=(const live&) = delete;
    ~live() { m_count.fetch_sub(1); }

private:
    std::atomic<int>& m_count;
};

// Holds: task_group: bounded(n): every task runs once, errors and cancellation as in any group.
TEST_P(bounded_group, runs_every_task_once) {
    inside([] {
        for (const int bound : {1, 2, 64, 1000}) {
            std::vector<int> runs(1'000, 0);
            task_group group{bounded(bound)};
            for (int round = 0; round < 2; ++round) {
                for (int& r : runs) {
                    group.run([&r] { ++r; });
                }
                group.wait();
            }
            ASSERT_EQ(runs, std::vector<int>(1'000, 2)) << bound;
        }
    });
}

// Holds: task_group: bounded(n): about n tasks have not begun.
TEST_P(bounded_group, keeps_few_tasks_that_have_not_begun) {
    constexpr int k_bound = 10;
    int most = 0;
    inside([&most] {
        std::atomic<int> alive{0};
        task_group group{bounded(k_bound)};
        for (int i = 0; i < scaled(20'000, 2'000); ++i) {
            group.run([one = live(alive)] {});
            most = std::max(most, alive.load());
        }
        group.wait();
        EXPECT_EQ(alive.load(), 0);
    });
    // Entries that thieves have requested, and running tasks, do not count when the owner checks
    // its deque.
    EXPECT_LE(most, 4 * k_bound + 2 * static_cast<int>(workers()) + 64);
    EXPECT_GE(most, 2);
}

// Holds: task_group: At the bound a task may wait for what its creator does next.
TEST_P(bounded_group, lets_a_task_wait_for_what_its_creator_does_next) {
    inside([] {
        std::vector<quern::promise<void>> next(100);
        int passed = 0;
        quern::promise<void> begun;
        task_group group{bounded(1)};
        for (auto& p : next) {
            group.run([&p] { p.get_future().get(); });
        }
        for (auto& p : next) {
            p.set_value();
        }
        group.run([&passed] { ++passed; });
        group.wait();
        EXPECT_EQ(passed, 1);
    });
}

// Holds: task_group: At the bound a...
TEST_P(bounded_group, lets_tasks_leave_their_worker_in_every_way) {
    inside([] {
        std::atomic<int> ended{0};
        task_group group{bounded(1)};
        for (int i = 0; i < 200; ++i) {
            group.run([&ended, i] {
                switch (i % 5) {
                    case 0:
                        quern_test::let_others_run();
                        break;
                    case 1:
                        quern::async(quern::launch::fork, [] {}).get();
                        break;
                    case 2:
                        quern::blocking([] {});
                        break;
                    case 3:
                        quern::this_task::sleep_for(std::chrono::microseconds(10));
                        break;
                    default:
                        quern::fork_join([] { quern_test::let_others_run(); }, [] {});
                }
                ended.fetch_add(1);
            });
        }
        group.wait();
        EXPECT_EQ(ended.load(), 200);
    });
}

// Holds: task_group: Tasks of a bounded group may run more tasks in it; bounded groups nest.
TEST_P(bounded_group, takes_tasks_from_its_tasks) {
    struct tree {
        static void grow(task_group& group, std::vector<int>& runs, std::size_t i) {
            ++runs[i];
            for (const std::size_t child : {2 * i + 1, 2 * i + 2}) {
                if (child < runs.size()) {
                    group.run([&group, &runs, child] { grow(group, runs, child); });
                }
            }
        }
    };
    inside([] {
        for (const int bound : {1, 3, 64}) {
            std::vector<int> runs(scaled(5'000U, 200U), 0);
            task_group group{bounded(bound)};
            group.run([&] { tree::grow(group, runs, 0); });
            group.wait();
            ASSERT_EQ(runs, std::vector<int>(runs.size(), 1));
        }
    });
}

// Holds: task_group: Tasks of a bounded...
TEST_P(bounded_group, nests) {
    inside([] {
        std::vector<int> runs(900, 0);
        task_group outer{bounded(2)};
        for (std::size_t i = 0; i < 30; ++i) {
            outer.run([&runs, i] {
                task_group inner{bounded(2)};
                for (std::size_t k = 0; k < 30; ++k) {
                    inner.run([&runs, i, k] { ++runs[30 * i + k]; });
                }
                inner.wait();
            });
        }
        outer.wait();
        EXPECT_EQ(runs, std::vector<int>(900, 1));
    });
}

// Holds: task_group: bounded(n): every task runs...
TEST_P(bounded_group, throws_the_first_exception_and_drops_what_comes_after) {
    inside([] {
        task_group group{bounded(4)};
        std::atomic<int> ran{0};
        for (int i = 0; i < 1'000; ++i) {
            group.run([&ran, i] {
                if (i == 100) {
                    throw std::runtime_error("task");
                }
                ran.fetch_add(1);
            });
        }
        EXPECT_THROW(group.wait(), std::runtime_error);
        EXPECT_LT(ran.load(), 1'000);
        group.run([&ran] { ran = -1; });
        group.wait();
        EXPECT_EQ(ran.load(), -1);
    });
}

// Holds: task_group: bounded(n): every task runs...
TEST_P(bounded_group, that_is_cancelled_runs_nothing_more) {
    inside([] {
        task_group group{bounded(1)};
        std::atomic<int> ran{0};
        group.run([] {});
        group.cancel();
        for (int i = 0; i < 100; ++i) {
            group.run([&ran] { ++ran; });
        }
        group.wait();
        EXPECT_EQ(ran.load(), 0);
    });
}

// Holds: task_group: Attributes hold at the bound, but for priority and hint.
TEST_P(bounded_group, gives_tasks_what_their_attributes_ask_for) {
    inside([] {
        task_group group{bounded(2)};
        std::atomic<int> named{0};
        std::atomic<int> right{0};
        for (int i = 0; i < 240; ++i) {
            const quern::task_attributes wanted{.name = "part",
                                                .urgency = static_cast<quern::priority>(i % 3),
                                                .stack = static_cast<quern::stack_class>(i / 3 % 3),
                                                .worker = i % 4 == 0 ? i : -1};
            group.run(wanted, [&, wanted] {
                named += std::string(quern::this_task::name()) == "part" ? 1 : 0;
                right += quern::this_task::get_priority() == wanted.urgency &&
                                 quern::detail::current_context()->size() >= wanted.stack
                             ? 1
                             : 0;
            });
        }
        group.wait();
        EXPECT_EQ(named.load(), 240);
        EXPECT_EQ(right.load(), 240);
    });
}

// Holds: task_group: A pinned owner stays on its worker.
TEST_P(bounded_group, leaves_a_pinned_owner_on_its_worker) {
    inside([] {
        const quern::pin_to_worker here;
        const int rank = quern::current_worker_rank();
        task_group group{bounded(1)};
        for (int i = 0; i < 100; ++i) {
            group.run([] { quern_test::let_others_run(); });
            ASSERT_EQ(quern::current_worker_rank(), rank);
        }
        group.wait();
    });
}

TEST_P(bounded_group, counts_each_task_once) {
    inside([this] {
        const auto before = rt.default_pool().totals().tasks;
        task_group group{bounded(3)};
        for (int i = 0; i < 1'000; ++i) {
            group.run([] {});
        }
        group.wait();
        EXPECT_EQ(rt.default_pool().totals().tasks - before, 1'000U);
    });
}

/// A task that begins on a worker ends there or suspends before another one begins.
struct begun_and_left final : quern::detail::hooks {
    begun_and_left() {
        item_begins = [](self h, quern::detail::worker& on, quern::detail::work&,
                         quern::detail::context*) { cast(h).count(on, 1); };
        item_ends = [](self h, quern::detail::worker& on) { cast(h).count(on, -1); };
        suspends = item_ends;
    }
    static const begun_and_left& cast(self h) { return static_cast<const begun_and_left&>(h); }
    void count(quern::detail::worker& on, int change) const {
        const int now = running[on.rank()] += change;
        faults += now < 0 || now > 1 ? 1 : 0;
        events += 1;
    }
    mutable std::atomic<int> running[8] = {};
    mutable std::atomic<int> faults{0};
    mutable std::atomic<int> events{0};
};

TEST_P(bounded_group, tells_hooks_of_each_task_and_of_its_creator) {
    begun_and_left seen;  // outlives the workers
    {
        quern::runtime own(quern::runtime_options::with_workers(workers(), GetParam().policy));
        own.default_pool().get().wait_until_quiet();
        own.default_pool().get().set_hooks(&seen);
        quern::async(own, [] {
            task_group group{bounded(4)};
            for (int i = 0; i < 200; ++i) {
                group.run([i] { i % 10 == 0 ? quern_test::let_others_run() : void(); });
            }
            group.wait();
        }).get();
    }
    EXPECT_EQ(seen.faults.load(), 0);
    EXPECT_GT(seen.events.load(), 200);
}

// Holds: task_group: An owner that is a thread outside or a task of another pool waits until half
//     of the bound has not begun.
TEST_P(bounded_group, holds_back_an_owner_that_is_a_thread_outside) {
    constexpr int k_bound = 10;
    std::atomic<int> alive{0};
    int most = 0;
    task_group group(rt.default_pool(), bounded(k_bound));
    for (int i = 0; i < 500; ++i) {
        group.run([one = live(alive)] {});
        most = std::max(most, alive.load());
    }
    group.wait();
    EXPECT_EQ(alive.load(), 0);
    EXPECT_LE(most, k_bound + 2 * static_cast<int>(workers()));
}

// Holds: task_group: An owner that is...
TEST_P(bounded_group, holds_back_an_owner_that_is_a_task_of_another_pool) {
    quern::runtime other(quern::runtime_options::with_workers(1));
    const int ran = quern::async(other, [this] {
                        std::atomic<int> count{0};
                        task_group group(rt.default_pool(), bounded(4));
                        for (int i = 0; i < 100; ++i) {
                            group.run([&count] { count.fetch_add(1); });
                        }
                        group.wait();
                        return count.load();
                    }).get();
    EXPECT_EQ(ran, 100);
}

// Holds: task_group: An owner that is...
TEST_P(bounded_group, lets_tasks_wait_for_an_owner_outside) {
    std::vector<quern::promise<void>> next(50);
    task_group group(rt.default_pool(), bounded(4));
    for (auto& p : next) {
        group.run([&p] { p.get_future().get(); });
    }
    for (auto& p : next) {
        p.set_value();
    }
    group.wait();
}

/// A chain of groups, in each of which the creator is aside.
void descend(int depth) {
    if (depth != 0) {
        task_group group{bounded(1)};
        group.run([] {});
        group.run([depth] { descend(depth - 1); });
        group.wait();
    }
}

// Holds: task_group: Tasks of a bounded...
TEST_P(bounded_group, may_be_nested_deeply) {
    inside([] { descend(scaled(20'000, 300)); });
}

std::string refusal_of(long long tasks) {
    try {
        const bounded most(tasks);
        return "none";
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
}

// Holds: task_group: bounded(n) throws std::invalid_argument unless 1 <= n <= k_most.
TEST(bounded, refuses_what_is_no_bound) {
    EXPECT_EQ(refusal_of(0),
              "quern: bounded(0): a task group can be bounded to 1 to 1000000000 tasks");
    EXPECT_EQ(refusal_of(-1),
              "quern: bounded(-1): a task group can be bounded to 1 to 1000000000 tasks");
    EXPECT_EQ(refusal_of(bounded::k_most + 1),
              "quern: bounded(1000000001): a task group can be bounded to 1 to 1000000000 tasks");
    EXPECT_EQ(refusal_of(1), "none");
    EXPECT_EQ(refusal_of(bounded::k_most), "none");
}

}  // namespace
