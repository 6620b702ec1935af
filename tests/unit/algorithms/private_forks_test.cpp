// SPDX-License-Identifier: BSL-1.0
// A private forked child does not stay private while its parent runs a long leaf and another worker
// is idle: the idle worker takes it over.
#include <quern/algorithms/parallel_for.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/wait.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <functional>
#include <vector>

namespace {

/// More than the number of forks that are public from the start because they are far apart; fewer
/// than the number of children that a scope keeps.
constexpr int k_siblings = 50;

/// Small forked children, and the long leaf that runs beside them on their parent's worker. The
/// leaf does not call the runtime and ends when all siblings have run.
class family {
public:
    explicit family(unsigned workers) : m_others(static_cast<int>(workers) - 1) {}

    /// One task for each other worker: occupies it until the leaf begins, so that no worker
    /// requests work while the siblings are forked.
    void hold_a_worker() {
        ++m_held;
        m_leaf_begins.pass();
    }
    void wait_until_others_are_held() const {
        while (m_held != m_others) {
            std::this_thread::yield();
        }
    }

    void sibling() { ++m_ran; }
    void leaf() {
        m_leaf_begins.open();
        m_all_ran = quern_test::eventually([this] { return m_ran == k_siblings; });
    }

    bool all_ran_beside_the_leaf() const { return m_all_ran; }

private:
    const int m_others;
    std::atomic<int> m_held = 0;
    std::atomic<int> m_ran = 0;
    quern_test::spin_gate m_leaf_begins;
    bool m_all_ran = false;
};

void nest(family& all, int siblings) {
    if (siblings == 0) {
        all.leaf();
        return;
    }
    quern::fork_join([&all] { all.sibling(); }, [&all, siblings] { nest(all, siblings - 1); });
}

void nest_siblings(family& all) { nest(all, k_siblings); }

void spawn_siblings(family& all) {
    quern::scope([&all](quern::fork_scope& s) {
        for (int i = 0; i < k_siblings; ++i) {
            s.spawn([&all] { all.sibling(); });
        }
        all.leaf();
    });
}

/// A scope runs the child first that was spawned last.
void spawn_leaf_too(family& all) {
    quern::scope([&all](quern::fork_scope& s) {
        for (int i = 0; i < k_siblings; ++i) {
            s.spawn([&all] { all.sibling(); });
        }
        s.spawn([&all] { all.leaf(); });
    });
}

void nest_in_loop(family& all) {
    quern::parallel_for(0, 1, [&all](int) { nest_siblings(all); });
}

void nest_in_reduction(family& all) {
    quern::parallel_reduce(
        0, 1, 0, [&all](int i) { return nest_siblings(all), i; }, std::plus<>{});
}

class private_forks_test : public quern_test::on_runtime {
protected:
    /// `work` runs the siblings and the leaf as children of the running task.
    bool run_beside_a_long_leaf(void (*work)(family&)) {
        family all(workers());
        std::vector<quern::future<void>> others;
        for (unsigned i = 1; i < workers(); ++i) {
            others.push_back(quern::async(rt, [&all] { all.hold_a_worker(); }));
        }
        inside([&all, work] {
            all.wait_until_others_are_held();
            work(all);
        });
        quern::wait_all(others);
        return all.all_ran_beside_the_leaf();
    }
};
QUERN_ON_STEALING_POLICIES(private_forks_test);

#define QUERN_NEEDS_THIEVES()          \
    if (!has_thieves()) {              \
        GTEST_SKIP() << "nobody else"; \
    }

// Holds: fork_join: Where the policy steals and the system has `membarrier`, no forked child waits
//     beside a long leaf while another worker has nothing to do.
TEST_P(private_forks_test, of_fork_join_run_elsewhere_while_a_leaf_runs_long) {
    QUERN_NEEDS_THIEVES();
    EXPECT_TRUE(run_beside_a_long_leaf(nest_siblings));
}

// Holds: scope: Where the policy steals and the system has `membarrier`, no child waits beside a
//     long one, or a long body, while another worker has nothing to do.
TEST_P(private_forks_test, of_a_scope_run_elsewhere_while_its_body_runs_long) {
    QUERN_NEEDS_THIEVES();
    EXPECT_TRUE(run_beside_a_long_leaf(spawn_siblings));
}

// Holds: scope: Where the policy steals...
TEST_P(private_forks_test, of_a_scope_run_elsewhere_while_another_child_runs_long) {
    QUERN_NEEDS_THIEVES();
    EXPECT_TRUE(run_beside_a_long_leaf(spawn_leaf_too));
}

// Holds: fork_join: Where the policy steals...
TEST_P(private_forks_test, of_loop_bodies_run_elsewhere_while_a_leaf_runs_long) {
    QUERN_NEEDS_THIEVES();
    EXPECT_TRUE(run_beside_a_long_leaf(nest_in_loop));
    EXPECT_TRUE(run_beside_a_long_leaf(nest_in_reduction));
}

// Holds: fork_join: Where the policy steals...
TEST_P(private_forks_test, run_elsewhere_when_all_others_slept) {
    QUERN_NEEDS_THIEVES();
    for (int round = 0; round < quern_test::scaled(20, 5); ++round) {
        rt.default_pool().get().wait_until_quiet();
        family all(1);
        inside([&all] { nest_siblings(all); });
        ASSERT_TRUE(all.all_ran_beside_the_leaf());
    }
}

/// Idle for longer than a worker searches before it sleeps.
// Holds: fork_join: Where the policy steals...
TEST_P(private_forks_test, run_elsewhere_when_the_others_begin_to_sleep_beside_them) {
    QUERN_NEEDS_THIEVES();
    ASSERT_EQ(rt.default_pool().set_knob("spin-us", 0), 0U);
    EXPECT_TRUE(run_beside_a_long_leaf(nest_siblings));
}

}  // namespace
