// SPDX-License-Identifier: BSL-1.0
// Long chains of objects that own one another through the runtime can be run and destroyed, and
// loops within loops can walk a deep and uneven tree.
#include "unit/scheduler/on_runtime.hpp"

#include <quern/quern.hpp>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

namespace {

using quern_test::scaled;

constexpr long k_length = scaled(1'000'000L, 20'000L);

/// On workers, and on a thread outside with a small stack.
class deep_chains : public testing::TestWithParam<unsigned> {
protected:
    template <class F>
    void everywhere(F f) {
        quern::async(rt, f).get();
        std::thread(f).join();
    }

    quern::runtime rt{quern::runtime_options::with_workers(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(workers, deep_chains, testing::Values(1U, 2U),
                         testing::PrintToStringParamName());

quern::task<long> one_more(quern::task<long> before) { co_return co_await std::move(before) + 1; }
quern::task<long> first() { co_return 0; }

// Holds: task: Destroying tasks that own one another and were never started takes no stack, however
//     many.
TEST_P(deep_chains, of_coroutines_that_were_never_started_can_be_destroyed) {
    everywhere([] {
        std::optional<quern::task<long>> last(first());
        for (long i = 0; i < k_length; ++i) {
            last.emplace(one_more(std::move(*last)));
        }
        last.reset();
    });
}

quern::future<long> deferred_chain() {
    auto last = quern::async(quern::launch::deferred, [] { return 0L; });
    for (long i = 0; i < k_length; ++i) {
        last = quern::async(quern::launch::deferred,
                            [before = std::move(last)]() mutable { return before.get() + 1; });
    }
    return last;
}

// Holds: future: A chain of deferred tasks or of results that hold futures may be run and
//     destroyed, however long, on any thread.
TEST_P(deep_chains, of_deferred_tasks_can_be_run) {
    everywhere([] { EXPECT_EQ(deferred_chain().get(), k_length); });
}

// Holds: future: A chain of deferred...
TEST_P(deep_chains, of_deferred_tasks_can_be_destroyed) {
    everywhere([] { static_cast<void>(deferred_chain()); });
}

struct link {
    quern::shared_future<link> next;
};

// Holds: future: A chain of deferred...
TEST_P(deep_chains, of_results_that_hold_futures_can_be_destroyed) {
    everywhere([] {
        quern::shared_future<link> last;
        for (long i = 0; i < k_length; ++i) {
            last = quern::make_ready_future(link{std::move(last)});
        }
    });
}

struct deeper_child {
    long left;
    void operator()(long& depth) const {
        ++depth;
        if (left > 1) {
            quern::spawn(quern::inout(depth), deeper_child{left - 1});
        }
    }
};

// Holds: domain: Children may have children; the...
TEST_P(deep_chains, of_children_of_dependent_tasks_can_be_run) {
    quern::async(rt, [] {
        long depth = 0;
        quern::domain work;
        work.spawn(quern::inout(depth), deeper_child{k_length});
        work.spawn(quern::in(depth), [](const long& d) { EXPECT_EQ(d, k_length); });
        work.taskwait();
    }).get();
}

/// The exception passes all parents, whose functions have returned.
struct failing_child {
    long left;
    void operator()(long& depth) const {
        if (left == 0) {
            throw left;
        }
        ++depth;
        quern::spawn(quern::inout(depth), failing_child{left - 1});
    }
};

// Holds: domain: Children may have children; the...
TEST_P(deep_chains, of_children_of_dependent_tasks_may_end_by_an_exception) {
    everywhere([] {
        long depth = 0;
        bool is_dropped = true;
        quern::domain work;
        work.spawn(quern::inout(depth), failing_child{k_length / 10});
        work.spawn(quern::in(depth), [&is_dropped] { is_dropped = false; });
        EXPECT_THROW(work.taskwait(), long);
        EXPECT_EQ(depth, k_length / 10);
        EXPECT_TRUE(is_dropped);
    });
}

/// A tree like those of the benchmark UTS: nearly all nodes are leaves, and one branch is deep.
class uneven_tree {
public:
    explicit uneven_tree(int depth) noexcept : m_depth(depth) {}

    long count_serially(int level = 0, int i = 0) const {
        long nodes = 1;
        for (int child = 0; child < children(level, i); ++child) {
            nodes += count_serially(level + 1, child);
        }
        return nodes;
    }
    long count_by_reduce(int level = 0, int i = 0) const {
        return 1 + quern::parallel_reduce(
                       0, children(level, i), 0L,
                       [&](int child) { return count_by_reduce(level + 1, child); }, std::plus<>{});
    }
    long count_by_for(int level = 0, int i = 0) const {
        std::atomic<long> nodes{1};
        quern::parallel_for(0, children(level, i), [&](int child) {
            nodes.fetch_add(count_by_for(level + 1, child), std::memory_order_relaxed);
        });
        return nodes.load();
    }

private:
    /// The last child of each node on the branch continues it; the others are leaves, or small
    /// trees.
    int children(int level, int i) const noexcept {
        const int width = 3 + level % 5;
        if (level >= m_depth) {
            return 0;
        }
        const bool on_branch = level == 0 || i == 2 + (level - 1) % 5;
        return on_branch ? width : i == 1 ? level % 3 : 0;
    }

    int m_depth;
};

// Holds: parallel_for: Loops in loops may...
// Holds: parallel_reduce: Loops in loops may...
TEST_P(deep_chains, of_loops_within_loops_give_the_right_sum) {
    const uneven_tree tree(scaled(20'000, 2'000));
    const long nodes = tree.count_serially();
    everywhere([&] {
        EXPECT_EQ(tree.count_by_reduce(), nodes);
        EXPECT_EQ(tree.count_by_for(), nodes);
    });
}

}  // namespace
