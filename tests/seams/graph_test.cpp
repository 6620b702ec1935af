// SPDX-License-Identifier: BSL-1.0
// A toy front end from outside the scheduler: tasks of a graph, which begin when their predecessors
// are complete. It uses the completion hook, holds, successors, batches and the front end's word.
#include <quern/quern.hpp>
#include <quern/scheduler/detail/queued_task.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace {

using quern::detail::queued_task;
using quern::detail::ready_batch;

/// A task with its successors.
struct node final : queued_task<node> {
    using queued_task::queued_task;

    void precedes(node& later) {
        followers.push_back(&later);
        later.before.fetch_add(1, std::memory_order_relaxed);
    }
    void call() noexcept {
        EXPECT_EQ(current(), this);
        if (body) {
            body(*this);
        }
    }
    void completed(ready_batch& batch) noexcept {
        is_complete.store(true, std::memory_order_release);
        for (node* const each : followers) {
            if (each->before.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                batch.add(*each);
            }
        }
        if (left != nullptr) {
            left->count_down();
        }
    }

    std::function<void(node&)> body;
    std::vector<node*> followers;
    std::atomic<int> before{0};
    std::atomic<bool> is_complete{false};
    quern::latch* left = nullptr;
};

class graph : public quern_test::on_runtime {
protected:
    quern::detail::pool& pool() { return rt.default_pool().get(); }
};
QUERN_ON_ALL_POLICIES(graph);

TEST_P(graph, runs_each_task_after_those_before_it) {
    quern::detail::rng random(workers() + 1);
    constexpr std::size_t k_nodes = 2'000;
    std::deque<node> nodes;
    std::vector<std::vector<node*>> before(k_nodes);
    quern::latch left(k_nodes);
    for (std::size_t i = 0; i < k_nodes; ++i) {
        node& each = nodes.emplace_back(pool());
        each.left = &left;
        for (std::size_t k = random.below(4); i > 0 && k > 0; --k) {
            node& earlier =
                nodes[i - 1 -
                      random.below(static_cast<std::uint32_t>(std::min<std::size_t>(i, 50)))];
            earlier.precedes(each);
            before[i].push_back(&earlier);
        }
    }
    std::atomic<int> faults{0};
    std::vector<node*> first;
    for (std::size_t i = 0; i < k_nodes; ++i) {
        nodes[i].body = [&, i](node&) {
            for (const node* const earlier : before[i]) {
                faults.fetch_add(earlier->is_complete.load(std::memory_order_acquire) ? 0 : 1);
            }
            if (i % 50 == 0) {
                quern::this_task::yield();
            }
        };
        if (before[i].empty()) {
            first.push_back(&nodes[i]);
        }
    }
    for (node* const each : first) {
        each->make_ready();
    }
    left.wait();
    EXPECT_EQ(faults.load(), 0);
}

TEST_P(graph, goes_on_with_a_chain_of_successors_without_depth) {
    const int length = quern_test::scaled(100'000, 5'000);
    std::deque<node> chain;
    quern::latch left(length);
    for (int i = 0; i < length; ++i) {
        chain.emplace_back(pool()).left = &left;
        if (i > 0) {
            chain[static_cast<std::size_t>(i) - 1].precedes(chain.back());
        }
    }
    chain.front().make_ready();
    left.wait();
}

/// Makes itself ready again as its own successor until it is told to end.
struct endless final : queued_task<endless> {
    using queued_task::queued_task;
    void call() noexcept { ++turns; }
    void completed(ready_batch& batch) noexcept {
        if (ends.load()) {
            done.count_down();
        } else {
            batch.add(*this);
        }
    }
    std::atomic<bool> ends{false};
    std::atomic<std::uint64_t> turns{0};
    quern::latch done{1};
};

TEST_P(graph, leaves_turns_to_others_while_successors_follow_without_end) {
    std::deque<endless> chains;
    for (unsigned i = 0; i < workers(); ++i) {
        chains.emplace_back(pool()).make_ready();
    }
    quern::async(rt, [] {
        quern::async([] {}).get();
        quern::this_task::sleep_for(std::chrono::microseconds(50));
        quern::task_group group;
        for (int i = 0; i < 10; ++i) {
            group.run([] { quern::this_task::yield(); });
        }
        group.wait();
    }).get();
    for (endless& each : chains) {
        while (each.turns.load() < 2) {  // the system may have run its worker late
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        each.ends.store(true);
    }
    for (endless& each : chains) {
        each.done.wait();
    }
}

TEST_P(graph, makes_a_batch_ready_from_a_thread) {
    constexpr int k_size = 1'000;
    std::deque<node> nodes;
    quern::latch left(k_size);
    ready_batch ready;
    for (int i = 0; i < k_size; ++i) {
        node& each = nodes.emplace_back(pool());
        each.left = &left;
        if (i % 7 == 0) {
            each.urgency = quern::priority::high;
        } else if (i % 7 == 1) {
            each.home = i;
        }
        ready.add(each);
    }
    EXPECT_EQ(ready.size(), static_cast<std::size_t>(k_size));
    pool().make_ready(ready);
    EXPECT_TRUE(ready.empty());
    left.wait();
}

/// The order in which a pool of one worker begins the tasks that one task makes ready when it ends.
std::vector<std::size_t> order_of_a_batch(quern::detail::pool& pool, std::size_t size) {
    std::vector<std::size_t> order;
    std::deque<node> nodes;
    quern::latch left(static_cast<std::ptrdiff_t>(size) + 1);
    node first(pool);
    first.left = &left;
    for (std::size_t i = 0; i < size; ++i) {
        node& each = nodes.emplace_back(pool);
        each.left = &left;
        each.body = [&order, i](node&) { order.push_back(i); };
        first.precedes(each);
    }
    first.make_ready();
    left.wait();
    return order;
}

/// Whether they are in order but for one of them at most.
bool is_sorted_but_for_one(const std::vector<std::size_t>& order) {
    for (std::size_t left_out = 0; left_out < order.size(); ++left_out) {
        std::vector<std::size_t> others = order;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
        if (std::is_sorted(others.begin(), others.end())) {
            return true;
        }
    }
    return order.empty();
}

// Some turns of a worker are for others (k_outside_interval) or for the oldest task
// (k_ageing_interval), and a search without result takes turns too. So one batch in some forty has
// a task in another place.
TEST_P(graph, begins_a_batch_in_its_order_on_one_worker) {
    if (workers() != 1) {
        GTEST_SKIP() << "several workers begin the tasks of a batch at once";
    }
    constexpr std::size_t k_size = 20;
    constexpr int k_batches = 40;
    int begun_by_successor = 0;  // under each policy
    int in_order = 0;
    for (int i = 0; i < k_batches; ++i) {
        const std::vector<std::size_t> order = order_of_a_batch(pool(), k_size);
        ASSERT_EQ(order.size(), k_size);
        begun_by_successor += order.front() == 0 ? 1 : 0;
        in_order += std::is_sorted(order.begin(), order.end()) ? 1 : 0;
        if (pool().policy().make == nullptr) {
            EXPECT_TRUE(is_sorted_but_for_one(order)) << testing::PrintToString(order);
        }
    }
    EXPECT_GE(begun_by_successor, k_batches - 8);
    if (pool().policy().make == nullptr) {
        EXPECT_GE(in_order, k_batches - 8);
    }
}

TEST_P(graph, completes_held_tasks_on_the_thread_that_drops_the_last_hold) {
    constexpr int k_size = 100;
    std::deque<node> held;
    std::vector<quern::task_hold> holds(k_size);
    quern::latch begun(k_size);
    quern::latch left(k_size + 1);
    node last(pool());
    last.left = &left;
    std::atomic<bool> is_last{false};
    last.body = [&](node&) { is_last.store(true); };
    for (std::size_t i = 0; i < k_size; ++i) {
        node& each = held.emplace_back(pool());
        each.left = &left;
        each.body = [&, i](node&) {
            holds[i] = quern::this_task::hold();
            begun.count_down();
        };
        each.precedes(last);
    }
    for (node& each : held) {
        each.make_ready();
    }
    begun.wait();
    // None of them keeps a stack.
    EXPECT_TRUE(quern_test::eventually([this] { return pool().contexts_away() == 0; }));
    EXPECT_FALSE(is_last.load());
    for (quern::task_hold& each : holds) {
        EXPECT_FALSE(is_last.load());
        each.drop();
    }
    left.wait();
    EXPECT_TRUE(is_last.load());
}

TEST_P(graph, knows_its_own_tasks_from_others) {
    quern::latch left(1);
    node here(pool());
    here.left = &left;
    std::atomic<bool> is_null{false};
    here.body = [&](node& self) {
        quern::async([&] { is_null.store(node::current() == nullptr); }).get();
        quern::this_task::yield();
        EXPECT_EQ(node::current(), &self);
        EXPECT_EQ(quern::blocking([] { return node::current(); }), &self);
    };
    here.make_ready();
    left.wait();
    EXPECT_TRUE(is_null.load());
    EXPECT_EQ(node::current(), nullptr);
}

}  // namespace
