// SPDX-License-Identifier: BSL-1.0
// Which worker a task of many bytes is hinted to when it becomes ready. Workers are held, so that
// their queues can be looked at.
#include "locality_fixture.hpp"

#include "unit/scheduler/held_pool.hpp"

#include <quern/dependences/block.hpp>
#include <quern/dependences/spawn.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern_test::block_of_bytes;
using quern_test::blocks_of;
using quern_test::counted;
using quern_test::eventually;
using quern_test::held_pool;
using quern_test::k_block;
using quern_test::own_hint;
using quern_test::spin_gate;

using sizes = std::vector<std::size_t>;

class locality : public testing::Test {
protected:
    locality() { m_pool.hold_all(); }
    ~locality() override { m_pool.release_all(); }

    domain made_outside() { return domain{quern::pool_ref(m_pool.get())}; }

    /// The worker writes these; then all are held again.
    template <class... Blocks>
    void write_on(std::uint32_t rank, domain& work, Blocks&... blocks) {
        std::atomic<int> done{0};
        (work.spawn({.worker = static_cast<int>(rank)}, inout(blocks), [&] { done.fetch_add(1); }),
         ...);
        m_pool.release(rank);
        EXPECT_TRUE(eventually([&] { return done.load() == sizeof...(blocks); }));
        work.taskwait();
        m_pool.release_all();
        m_pool.hold_all();
    }

    std::size_t hinted_to(std::uint32_t rank) { return m_pool.get().at(rank).mailbox().size(); }
    /// Of each worker.
    std::vector<std::size_t> hinted() {
        std::vector<std::size_t> all;
        for (std::uint32_t rank = 0; rank < m_pool.get().size(); ++rank) {
            all.push_back(hinted_to(rank));
        }
        return all;
    }
    void end(domain& work) {
        m_pool.release_all();
        work.taskwait();
    }
    void limit_bytes(std::uint32_t bytes) {
        quern::pool_ref(m_pool.get()).set_knob("locality-bytes", bytes);
    }

    held_pool m_pool{quern_test::four_nodes(), "work-stealing"};
};

// Holds: domain: A ready task of many bytes goes to the worker that last wrote most of them.
TEST_F(locality, a_task_that_is_ready_when_it_is_made_goes_to_the_last_writer) {
    auto blocks = blocks_of(3);
    domain work = made_outside();
    write_on(5, work, blocks[0], blocks[1]);
    write_on(2, work, blocks[2]);
    work.spawn(inout(blocks[0]), [] {});
    work.spawn(in(blocks[1]), [] {});
    work.spawn(in(blocks[2]), [] {});
    work.spawn(in(blocks[2]), [] {});
    EXPECT_EQ(hinted(), (sizes{0, 0, 2, 0, 0, 2, 0, 0}));
    end(work);
}

TEST_F(locality, a_task_made_by_a_task_goes_to_the_last_writer) {
    auto blocks = blocks_of(1);
    std::unique_ptr<domain> work;
    std::atomic<int> done{0};
    std::atomic<int> hint{-2};
    spin_gate gate;
    m_pool.on_worker(0, [&] {
        work = std::make_unique<domain>();
        work->spawn({.worker = 5}, inout(blocks[0]), [&] { done.fetch_add(1); });
        quern::post({.worker = 5}, [&] {
            done.fetch_add(1);
            gate.pass();
        });
    });
    m_pool.release(5);
    EXPECT_TRUE(eventually([&] { return done.load() == 2; }));
    m_pool.on_worker(0, [&] {
        work->spawn(inout(blocks[0]), [&] {
            hint.store(own_hint());
            done.fetch_add(1);
        });
    });
    EXPECT_EQ(hinted(), (sizes{0, 0, 0, 0, 0, 1, 0, 0}));
    gate.open();
    EXPECT_TRUE(eventually([&] { return done.load() == 3; }));
    EXPECT_EQ(hint.load(), 5);
    m_pool.on_worker(0, [&] { work.reset(); });
}

// A wake-up takes longer than moving the data.
TEST_F(locality, a_lone_task_does_not_wake_its_last_writer) {
    auto blocks = blocks_of(1);
    char flag = 0;
    domain work = made_outside();
    write_on(3, work, blocks[0]);
    std::atomic<int> hint{-2};
    spin_gate gate;
    std::atomic<bool> begun{false};
    work.spawn({.worker = 6}, out(flag), [&] {
        begun.store(true);
        gate.pass();
    });
    m_pool.release(6);
    EXPECT_TRUE(eventually([&] { return begun.load(); }));
    m_pool.release(3);
    EXPECT_TRUE(eventually([&] { return m_pool.get().at(3).is_asleep(); }));
    work.spawn(in(flag), inout(blocks[0]), [&] { hint.store(own_hint()); });
    gate.open();
    work.taskwait();
    EXPECT_EQ(hint.load(), -1);
    end(work);
}

TEST_F(locality, most_bytes_count_and_of_equals_the_first_access) {
    block_of_bytes a(3 * k_block);
    block_of_bytes b(2 * k_block);
    block_of_bytes c(2 * k_block);
    domain work = made_outside();
    write_on(1, work, a);
    write_on(4, work, b);
    write_on(6, work, c);
    work.spawn(in(a), in(b), [] {});
    EXPECT_EQ(hinted(), (sizes{0, 1, 0, 0, 0, 0, 0, 0}));
    work.spawn(in(b), in(c), [] {});
    EXPECT_EQ(hinted(), (sizes{0, 1, 0, 0, 1, 0, 0, 0}));
    work.spawn(in(c), in(a), in(c), [] {});
    EXPECT_EQ(hinted(), (sizes{0, 1, 0, 0, 1, 0, 1, 0}));
    end(work);
}

TEST_F(locality, the_writer_is_remembered_beyond_readers_and_small_tasks) {
    auto blocks = blocks_of(1);
    domain work = made_outside();
    write_on(5, work, blocks[0]);
    m_pool.release(2);
    for (int i = 0; i < 100; ++i) {
        work.spawn({.worker = 2}, in(blocks[0]), [] {});
    }
    work.taskwait();
    for (int i = 0; i < 10; ++i) {
        work.spawn({.worker = 2}, inout(blocks[0].data(), 8), [] {});
    }
    work.taskwait();
    m_pool.release_all();
    m_pool.hold_all();
    work.spawn(in(blocks[0]), [] {});
    EXPECT_EQ(hinted(), (sizes{0, 0, 0, 0, 0, 1, 0, 0}));
    work.spawn(inout(blocks[0]), [] {});
    m_pool.release(5);
    end(work);
}

TEST_F(locality, of_parts_by_several_workers_the_largest_counts) {
    block_of_bytes all(8 * k_block);
    domain work = made_outside();
    std::span<char> first(all.data(), k_block);
    std::span<char> second(all.data() + k_block, 4 * k_block);
    std::span<char> third(all.data() + 5 * k_block, 3 * k_block);
    write_on(1, work, first);
    write_on(6, work, second);
    write_on(3, work, third);
    work.spawn(inout(all), [] {});
    EXPECT_EQ(hinted(), (sizes{0, 0, 0, 0, 0, 0, 1, 0}));
    end(work);
}

TEST_F(locality, a_block_of_a_matrix_counts_with_all_of_its_rows) {
    constexpr int k_side = 256;
    std::vector<double> matrix(4 * k_side * k_side);
    domain work = made_outside();
    auto tile = quern::block(matrix.data(), 2 * k_side, k_side, k_side);
    write_on(7, work, tile);
    work.spawn(inout(tile), [] {});
    EXPECT_EQ(hinted(), (sizes{0, 0, 0, 0, 0, 0, 0, 1}));
    end(work);
}

TEST_F(locality, what_a_child_has_written_belongs_to_its_worker) {
    auto blocks = blocks_of(1);
    domain work = made_outside();
    spin_gate gate;
    std::atomic<bool> child_done{false};
    work.spawn({.worker = 2}, inout(blocks[0]), [&](std::span<char> b) {
        quern::spawn({.worker = 5}, inout(b), [&] { child_done.store(true); });
        gate.pass();
    });
    m_pool.release(2);
    EXPECT_TRUE(eventually([&] { return hinted_to(5) == 1; }));
    m_pool.release(5);
    EXPECT_TRUE(eventually([&] { return child_done.load(); }));
    gate.open();
    work.taskwait();
    m_pool.release_all();
    m_pool.hold_all();
    work.spawn(inout(blocks[0]), [] {});
    EXPECT_EQ(hinted(), (sizes{0, 0, 0, 0, 0, 1, 0, 0}));
    end(work);
}

// -- a task that another one releases
// --------------------------------------------------------------

TEST_F(locality, a_worker_continues_with_the_task_whose_data_it_has_written) {
    auto blocks = blocks_of(2);
    char flag = 0;
    domain work = made_outside();
    write_on(3, work, blocks[0]);
    write_on(6, work, blocks[1]);
    spin_gate gate;
    std::atomic<int> rank{-1};
    work.spawn({.worker = 6}, out(flag), [] {});
    work.spawn(in(flag), inout(blocks[0]), [] {});
    work.spawn(in(flag), inout(blocks[1]), [&] {
        rank.store(quern::current_worker_rank());
        gate.pass();
    });
    m_pool.release(6);
    EXPECT_TRUE(eventually([&] { return rank.load() != -1; }));
    EXPECT_EQ(rank.load(), 6);
    EXPECT_EQ(hinted(), (sizes{0, 0, 0, 1, 0, 0, 0, 0}));  // the earlier one waits for its worker
    gate.open();
    end(work);
}

// Holds: domain: A worker without other work runs a task whose last writer is busy.
TEST_F(locality, a_worker_without_other_work_runs_a_task_of_a_busy_one) {
    auto blocks = blocks_of(1);
    char flag = 0;
    domain work = made_outside();
    write_on(3, work, blocks[0]);
    const counted since;
    std::atomic<int> rank{-1};
    work.spawn({.worker = 6}, out(flag), [] {});
    work.spawn(in(flag), inout(blocks[0]), [&] { rank.store(quern::current_worker_rank()); });
    m_pool.release(6);
    EXPECT_TRUE(eventually([&] { return rank.load() != -1; }));
    EXPECT_EQ(rank.load(), 6);
    work.taskwait();
    EXPECT_EQ(since.with_writer(), 1U);
    EXPECT_EQ(since.at_writer(), 0U);
    end(work);
}

// Holds: domain: A worker with other work leaves a task to its last writer.
TEST_F(locality, a_worker_with_other_work_leaves_a_task_to_the_last_writer) {
    auto blocks = blocks_of(1);
    char flag = 0;
    domain work = made_outside();
    write_on(3, work, blocks[0]);
    spin_gate gate;
    std::atomic<bool> begun{false};
    work.spawn({.worker = 6}, out(flag), [] {});
    work.spawn({.worker = 6}, [&] {
        begun.store(true);
        gate.pass();
    });
    work.spawn(in(flag), inout(blocks[0]), [] {});
    m_pool.release(6);
    EXPECT_TRUE(eventually([&] { return begun.load(); }));
    EXPECT_EQ(hinted(), (sizes{0, 0, 0, 1, 0, 0, 0, 0}));
    gate.open();
    end(work);
}

// Holds: domain: Another worker of the NUMA node gets what the last writer has no time for.
TEST_F(locality, what_a_worker_has_no_time_for_goes_to_its_node) {
    constexpr int k_most = 20'000;
    auto blocks = blocks_of(1);
    domain work = made_outside();
    write_on(3, work, blocks[0]);
    std::atomic<bool> is_on_node{false};
    m_pool.release(7);  // has nothing to do now
    for (int i = 0; i < k_most && hinted_to(2) == 0 && !is_on_node.load(); ++i) {
        work.spawn(in(blocks[0]), [&] {
            if (own_hint() == quern::detail::runnable::k_first_node + 1) {
                is_on_node.store(true);
            }
        });
    }
    end(work);
    EXPECT_TRUE(is_on_node.load());
}

// -- balance and other attributes
// ------------------------------------------------------------------

// Holds: domain: A hint never keeps a task from workers without work.
TEST_F(locality, workers_without_work_take_tasks_of_a_busy_one) {
    auto blocks = blocks_of(64);
    domain work = made_outside();
    std::atomic<int> done{0};
    for (auto& each : blocks) {
        work.spawn({.worker = 0}, out(each), [&] { done.fetch_add(1); });
    }
    m_pool.release(0);
    work.taskwait();
    m_pool.release_all();
    std::mutex lock;
    std::set<int> ranks;
    for (auto& each : blocks) {
        work.spawn(inout(each), [&] {
            quern_test::spin_for(std::chrono::milliseconds(2));
            const std::scoped_lock held(lock);
            ranks.insert(quern::current_worker_rank());
        });
    }
    work.taskwait();
    EXPECT_GE(ranks.size(), 4U);
}

TEST_F(locality,
       a_task_of_high_urgency_goes_to_a_free_last_writer_and_does_not_wait_for_a_busy_one) {
    auto blocks = blocks_of(1);
    domain work = made_outside();
    write_on(3, work, blocks[0]);
    std::atomic<int> hint{-2};
    const quern::task_attributes urgent{.urgency = quern::priority::high};
    work.spawn(urgent, in(blocks[0]), [&] { hint.store(own_hint()); });
    EXPECT_TRUE(m_pool.get().at(3).mailbox().empty());
    m_pool.release(6);
    EXPECT_TRUE(eventually([&] { return hint.load() != -2; }));
    EXPECT_EQ(hint.load(), -1);
    work.taskwait();
    m_pool.release_all();
    m_pool.hold_all();
    hint.store(-2);
    quern::pool_ref(m_pool.get()).set_knob("spin-us", 10'000'000);  // stays awake
    m_pool.release(3);
    EXPECT_TRUE(eventually(
        [&] { return m_pool.get().at(3).stats().phase() == quern::worker_phase::idle; }));
    work.spawn(urgent, in(blocks[0]), [&] { hint.store(own_hint()); });
    EXPECT_TRUE(eventually([&] { return hint.load() != -2; }));
    EXPECT_EQ(hint.load(), 3);
    end(work);
}

TEST_F(locality, a_hint_of_the_user_counts) {
    auto blocks = blocks_of(1);
    domain work = made_outside();
    write_on(3, work, blocks[0]);
    work.spawn({.worker = 1}, in(blocks[0]), [] {});
    work.spawn({.urgency = quern::priority::high, .worker = 1}, in(blocks[0]), [] {});
    EXPECT_EQ(hinted(), (sizes{0, 2, 0, 0, 0, 0, 0, 0}));
    end(work);
}

// Holds: domain: Tasks with fewer than `locality-bytes` bytes go where they would go otherwise.
TEST_F(locality, tasks_of_few_bytes_have_no_place_and_are_not_counted) {
    auto blocks = blocks_of(1);
    domain work = made_outside();
    limit_bytes(k_block + 1);
    write_on(3, work, blocks[0]);
    const counted since;
    work.spawn(in(blocks[0]), [] {});
    EXPECT_EQ(hinted(), (sizes(8, 0)));
    end(work);
    m_pool.hold_all();
    limit_bytes(k_block);
    write_on(3, work, blocks[0]);
    work.spawn(in(blocks[0]), [] {});
    EXPECT_EQ(hinted_to(3), 1U);
    end(work);
    EXPECT_EQ(since.with_writer(), 1U);
    limit_bytes(128U << 10);
}

// Holds: domain: With `locality-bytes` 0 no task goes to its last writer.
TEST_F(locality, can_be_switched_off) {
    auto blocks = blocks_of(1);
    domain work = made_outside();
    limit_bytes(0);
    EXPECT_EQ(quern::pool_ref(m_pool.get()).knob("locality-bytes"), 0U);
    write_on(3, work, blocks[0]);
    work.spawn(in(blocks[0]), [] {});
    EXPECT_EQ(hinted(), (sizes(8, 0)));
    end(work);
    limit_bytes(128U << 10);
}

}  // namespace
