// SPDX-License-Identifier: BSL-1.0
// Commutative accesses of children, below weak ones of their parent: those that share no byte run
// at the same time, whatever lies between their bytes.
#include <quern/dependences/block.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/spawn.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <vector>

namespace {

using quern::block;
using quern::commutative;
using quern::domain;
using quern::weak;
using quern_test::scaled;

class domain_commutative_locks : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(domain_commutative_locks);

/// Each of two tasks waits for the other one.
class meeting {
public:
    auto body() {
        return [this](auto) {
            ++m_met;
            const bool have_met = quern_test::eventually([this] {
                quern::this_task::yield();
                return m_met == 2;
            });
            EXPECT_TRUE(have_met);
        };
    }

private:
    std::atomic<int> m_met{0};
};

// Holds: domain: Tasks that share no byte may run at the same time: children with commutative
//     accesses to interleaved blocks, below weak ones.
TEST_P(domain_commutative_locks, interleaved_blocks_below_weak_accesses_do_not_exclude_each_other) {
    inside([] {
        std::vector<int> m(64);
        const auto left = block(m.data(), 8, 8, 4);
        const auto right = block(m.data() + 4, 8, 8, 4);
        domain work;
        meeting first;
        work.spawn(weak(commutative(left)), weak(commutative(right)), [&] {
            quern::spawn(commutative(left), first.body());
            quern::spawn(commutative(right), first.body());
        });
        work.taskwait();
    });
}

// Holds: domain: Tasks that share no byte may run at the same time: ... parts of what was one
//     region before.
TEST_P(domain_commutative_locks, parts_need_the_locks_of_their_own_memory_only) {
    inside([] {
        std::vector<int> v(100);
        domain work;
        meeting second;
        std::atomic<int> children{0};
        work.spawn(weak(commutative(v.data(), 50)), weak(commutative(v.data() + 50, 50)), [&] {
            quern::spawn(quern::inout(v), [] {});  // one region from now on
            quern::taskwait();
            quern::spawn(commutative(v), [&](auto) { ++children; });
            quern::taskwait();
            quern::spawn(commutative(v.data(), 20), second.body());
        });
        work.spawn(weak(commutative(v.data() + 50, 50)), [&] {
            while (children == 0) {
                quern::this_task::yield();
            }
            quern::spawn(commutative(v.data() + 50, 50), second.body());
        });
        work.taskwait();
        EXPECT_EQ(children, 1);
    });
}

// Holds: domain: Children of a task with weak(commutative(x)) exclude each other on all of x: with
//     those of other tasks, on blocks and sentinels too.
TEST_P(domain_commutative_locks, children_of_several_tasks_exclude_each_other) {
    inside([] {
        std::vector<int> m(64);
        const auto left = block(m.data(), 8, 8, 4);
        const int phase = 0;
        const auto order = quern::sentinel(phase);
        domain work;
        std::atomic<int> inside_block{0};
        std::atomic<int> inside_order{0};
        const auto alone = [](std::atomic<int>& in) {
            EXPECT_EQ(in.fetch_add(1), 0);
            quern::this_task::yield();
            in.fetch_sub(1);
        };
        for (int i = 0; i < scaled(40, 10); ++i) {
            work.spawn(weak(commutative(left)), weak(commutative(order)), [&, alone] {
                quern::spawn(commutative(left), [&, alone] { alone(inside_block); });
                quern::spawn(commutative(block(m.data() + 2, 8, 4, 2)),
                             [&, alone] { alone(inside_block); });
                quern::spawn(commutative(order), [&, alone] { alone(inside_order); });
            });
        }
        work.taskwait();
    });
}

}  // namespace
