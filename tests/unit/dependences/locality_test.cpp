// SPDX-License-Identifier: BSL-1.0
// How many tasks of many bytes run on the worker that last wrote them, or on its NUMA node, in
// programs of steps. All workers are held while tasks become ready, so that it does not depend on
// the system when which of them runs.
#include "locality_fixture.hpp"

#include <quern/dependences/replay.hpp>
#include <quern/dependences/tiles.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern_test::add_one;
using quern_test::block_of_bytes;
using quern_test::blocks_of;
using quern_test::counted;
using quern_test::eventually;
using quern_test::k_workers;

// -- a program of steps ------------------------------------------------------------------------

/// Each worker runs what is hinted to it, and then is held until all have been.
class rounds {
public:
    explicit rounds(quern::detail::pool& of) : m_pool(of) { hold(); }
    ~rounds() {
        m_open.store(m_made);
        m_pool.wait_until_quiet();
    }

    /// All are held, by what comes behind their present tasks.
    void hold() {
        ++m_made;
        for (std::uint32_t rank = 0; rank < m_pool.size(); ++rank) {
            quern::post({.worker = static_cast<int>(rank), .pool = &m_pool},
                        [this, round = m_made] {
                            m_held.fetch_add(1);
                            while (m_open.load() < round) {
                                std::this_thread::yield();
                            }
                        });
        }
        m_open.store(m_made - 1);
        EXPECT_TRUE(eventually([&] { return m_held.load() == m_made * m_pool.size(); }));
    }

private:
    quern::detail::pool& m_pool;
    std::uint32_t m_made = 0;
    std::atomic<std::uint32_t> m_open{0};
    std::atomic<std::uint32_t> m_held{0};
};

class locality_of_steps : public testing::Test {
protected:
    static constexpr std::size_t k_blocks = 64;
    static constexpr int k_steps = 20;

    /// In each step a task for each block, in the first one on the worker that `first` says.
    template <class Spawn, class First>
    void run(Spawn spawn, First first) {
        quern::detail::pool pool(quern_test::four_nodes());
        domain work{quern::pool_ref(pool)};
        rounds held(pool);
        for (int step = 0; step < k_steps; ++step) {
            for (std::size_t j = 0; j < k_blocks; ++j) {
                spawn(work, step == 0 ? first(j) : -1, step, j);
            }
            held.hold();
            EXPECT_TRUE(eventually([&] { return m_begun.load() == (step + 1) * k_blocks; }));
        }
        // The last holders keep no task.
        work.taskwait();
    }

    /// Called by a task that writes block j.
    void begins(std::size_t j) {
        const int here = quern::current_worker_rank();
        const int last = m_writer[j].exchange(here);
        m_begun.fetch_add(1);
        if (last >= 0) {
            m_at_writer.fetch_add(last == here ? 1 : 0);
            m_on_node.fetch_add(last / 2 == here / 2 ? 1 : 0);
        }
    }

    void expect_most_at_their_writer() const {
        const std::size_t all = k_blocks * (k_steps - 1);
        EXPECT_GT(m_at_writer.load(), all / 2);  // by chance 1 / 8
        EXPECT_GT(m_on_node.load(), 3 * all / 4);
        RecordProperty("at_last_writer_percent", static_cast<int>(100 * m_at_writer.load() / all));
        RecordProperty("on_its_node_percent", static_cast<int>(100 * m_on_node.load() / all));
        std::printf("%zu of %zu tasks began at their last writer, %zu on its node\n",
                    m_at_writer.load(), all, m_on_node.load());
    }

    std::vector<std::atomic<int>> m_writer = writers_of_none();
    std::atomic<std::size_t> m_begun{0};
    std::atomic<std::size_t> m_at_writer{0};
    std::atomic<std::size_t> m_on_node{0};
    counted m_counted;

private:
    static std::vector<std::atomic<int>> writers_of_none() {
        std::vector<std::atomic<int>> all(k_blocks);
        for (auto& each : all) {
            each.store(-1);
        }
        return all;
    }
};

// Holds: domain: A ready task of many bytes...
TEST_F(locality_of_steps, each_block_stays_where_it_was_written) {
    auto blocks = blocks_of(k_blocks);
    run(
        [&](domain& work, int worker, int, std::size_t j) {
            work.spawn({.worker = worker}, inout(blocks[j]), [this, j](std::span<char> b) {
                begins(j);
                add_one(b);
            });
        },
        [](std::size_t j) { return static_cast<int>(j % k_workers); });
    expect_most_at_their_writer();
    EXPECT_EQ(m_counted.with_writer(), k_blocks * (k_steps - 1));
    EXPECT_EQ(m_counted.at_writer(), m_at_writer.load());
    for (const auto& each : blocks) {
        EXPECT_EQ(each.front(), k_steps);
    }
}

// Holds: domain: A ready task of many bytes...
TEST_F(locality_of_steps, a_stencil_of_two_rows_keeps_its_blocks) {
    std::array<std::vector<block_of_bytes>, 2> rows{blocks_of(k_blocks), blocks_of(k_blocks)};
    run(
        [&](domain& work, int worker, int step, std::size_t j) {
            auto& from = rows[static_cast<std::size_t>(step % 2)];
            auto& to = rows[static_cast<std::size_t>((step + 1) % 2)];
            const auto& left = from[j == 0 ? 0 : j - 1];
            const auto& right = from[std::min(j + 1, k_blocks - 1)];
            const auto body = [this, j, &from, &to] {
                begins(j);
                std::copy(from[j].begin(), from[j].end(), to[j].begin());
                add_one(to[j]);
            };
            if (j == 0 || j == k_blocks - 1) {
                work.spawn({.worker = worker}, in(from[j]), out(to[j]), body);
            } else {
                work.spawn({.worker = worker}, in(left), in(from[j]), in(right), out(to[j]), body);
            }
        },
        [](std::size_t j) { return static_cast<int>(j * k_workers / k_blocks); });
    expect_most_at_their_writer();
    EXPECT_EQ(m_counted.with_writer(), k_blocks * (k_steps - 1));
    EXPECT_EQ(m_counted.at_writer(), m_at_writer.load());
}

// Holds: tiles: assign(), touch() and copy_from() use...
TEST(locality_of_tiles, each_is_first_written_by_the_worker_that_is_named) {
    quern::detail::pool pool(quern_test::four_nodes());
    rounds held(pool);
    quern::tiles<int> a(64, 64, 16, 16);
    std::atomic<bool> is_done{false};
    quern::post({.worker = 0, .pool = &pool}, [&] {
        a.assign([](std::size_t, std::size_t) { return quern::current_worker_rank(); },
                 [](std::size_t i, std::size_t j) { return static_cast<int>((5 * i + j) % 8); });
        is_done.store(true);
    });
    held.hold();  // behind it are the tiles
    held.hold();
    EXPECT_TRUE(eventually([&] { return is_done.load(); }));
    for (std::size_t i = 0; i < a.grid_rows(); ++i) {
        for (std::size_t j = 0; j < a.grid_columns(); ++j) {
            EXPECT_EQ(a.tile(i, j)(0, 0), static_cast<int>((5 * i + j) % 8));
        }
    }
}

// -- without gates -----------------------------------------------------------------------------

class locality_on_runtime : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(locality_on_runtime);

TEST_P(locality_on_runtime, the_counters_agree_with_what_the_tasks_saw) {
    auto blocks = blocks_of(8);
    std::vector<std::atomic<int>> writer(blocks.size());
    for (auto& each : writer) {
        each.store(-1);
    }
    std::atomic<std::uint64_t> at_writer{0};
    std::atomic<std::uint64_t> later{0};
    const counted since;
    const auto task = [&](std::size_t j) {
        return [&, j](std::span<char> b) {
            const int last = writer[j].exchange(quern::current_worker_rank());
            later.fetch_add(last >= 0 ? 1 : 0);
            at_writer.fetch_add(last == quern::current_worker_rank() ? 1 : 0);
            add_one(b);
        };
    };
    inside([&] {
        domain work;
        for (int step = 0; step < 50; ++step) {
            for (std::size_t j = 0; j < blocks.size(); ++j) {
                work.spawn(inout(blocks[j]), task(j));
            }
            if (step % 5 == 0) {
                work.taskwait();
            }
        }
    });
    EXPECT_EQ(since.with_writer(), later.load());
    EXPECT_EQ(since.at_writer(), at_writer.load());
    if (workers() == 1) {
        EXPECT_EQ(at_writer.load(), later.load());
    }
}

TEST_P(locality_on_runtime, a_replayed_task_knows_where_it_ran_in_the_step_before) {
    constexpr std::int64_t k_steps = 200;
    auto blocks = blocks_of(8);
    std::vector<std::atomic<int>> writer(blocks.size());
    std::atomic<std::uint64_t> at_writer{0};
    const counted since;
    inside([&] {
        domain work;
        quern::replay(work, k_steps, [&](std::int64_t) {
            for (std::size_t j = 0; j < blocks.size(); ++j) {
                work.spawn(inout(blocks[j]), [&, j](std::span<char> b) {
                    const int here = quern::current_worker_rank();
                    at_writer.fetch_add(writer[j].exchange(here + 1) == here + 1 ? 1 : 0);
                    add_one(b);
                });
            }
        });
    });
    // Where replaying begins the tasks of one step know none.
    EXPECT_LE(since.with_writer(), blocks.size() * (k_steps - 1));
    EXPECT_GE(since.with_writer(), blocks.size() * (k_steps - 3));
    EXPECT_LE(since.at_writer(), at_writer.load());
    EXPECT_GE(since.at_writer() + 2 * blocks.size(), at_writer.load());
    for (const auto& each : blocks) {
        EXPECT_EQ(each.front(), static_cast<char>(k_steps));
    }
}

}  // namespace
