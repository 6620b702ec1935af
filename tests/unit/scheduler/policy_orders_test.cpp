// SPDX-License-Identifier: BSL-1.0
// The order in which a worker takes ready items, and in which a thief steals: a case for each row
// of the tables in docs/policies.md.
#include "held_pool.hpp"

#include <algorithm>
#include <map>

namespace {

using quern::post;
using quern::priority;
using quern_test::eventually;
using quern_test::held_pool;
using quern_test::journal;
using quern_test::waiting_room;

using names = std::vector<std::string>;

/// Makes items ready on the calling worker: n1 is a new task, r1 a resumed one, h1 one that is
/// hinted to this worker, o1 one from outside, H1 and L1 are of high and low priority, and y is the
/// calling task, when it resumes after a yield.
class maker {
public:
    maker(held_pool& where, const names& made) : m_where(where), m_made(made) {
        for (const std::string& what : made) {
            if (what.front() == 'r') {
                prepare(what);
            }
        }
        where.hold_all();
        where.on_worker(0, [this] {
            for (const std::string& what : m_made) {
                make(what);
            }
        });
    }

    /// Waits until all these items have run.
    const journal& result() {
        EXPECT_TRUE(eventually([&] { return m_log.size() == m_made.size(); }));
        m_where.release_all();
        m_where.get().wait_until_quiet();
        return m_log;
    }

private:
    void prepare(const std::string& what) {
        waiting_room& room = m_rooms[what];
        post({.pool = &m_where.get()}, [this, &room, what] {
            room.wait();
            m_log.note(what);
        });
        EXPECT_TRUE(eventually([&] { return room.size() == 1; }));
    }

    void make(const std::string& what) {
        quern::detail::pool* const pool = &m_where.get();
        const auto task = [this, what] { m_log.note(what); };
        switch (what.front()) {
            case 'r':
                return m_rooms.at(what).resume_all();
            case 'h':
                return post({.worker = quern::current_worker_rank(), .pool = pool}, task);
            case 'o':
                return std::thread([&] { post({.pool = pool}, task); }).join();
            case 'H':
                return post({.urgency = priority::high, .pool = pool}, task);
            case 'L':
                return post({.urgency = priority::low, .pool = pool}, task);
            case 'y':
                quern_test::let_others_run();
                return m_log.note(what);
            default:
                return post({.pool = pool}, task);
        }
    }

    held_pool& m_where;
    const names m_made;
    journal m_log;
    std::map<std::string, waiting_room> m_rooms;
};

/// The usual order of one worker. Every 61st item may come from outside, at any position, so the
/// most frequent order counts.
std::string order_of(const char* policy, const names& made) {
    constexpr int k_rounds = 15;
    held_pool pool({.workers = 1}, policy);
    std::map<std::string, int> seen;
    for (int i = 0; i < k_rounds; ++i) {
        maker m(pool, made);
        pool.release(0);
        ++seen[m.result().text()];
    }
    return std::max_element(seen.begin(), seen.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

struct row {
    const char* policy;
    const char* new_and_resumed;  ///< of n1 r1 n2 r2
    const char* new_and_others;   ///< of o1 h1 n1 h2 n2 y
    const char* by_priority;      ///< of L1 n1 H1 L2 n2 H2
    const char* to_a_thief;       ///< of n1 r1 n2 r2, or nothing
};

constexpr row k_rows[] = {
    {"work-stealing", "r2 n2 r1 n1", "n2 n1 h1 h2 y o1", "H1 H2 n2 n1 L1 L2", "n1 r1 n2 r2"},
    {"priority-local-fifo", "r1 r2 n1 n2", "n1 n2 h1 h2 y o1", "H1 H2 n1 n2 L1 L2", "n1 n2 r1 r2"},
    {"priority-local-lifo", "r2 r1 n2 n1", "n2 n1 h1 h2 y o1", "H1 H2 n2 n1 L1 L2", "n1 n2 r1 r2"},
    {"sherwood", "r2 n2 r1 n1", "n2 n1 h1 h2 y o1", "H1 H2 n2 n1 L1 L2", "r2 n2 r1 n1"},
    {"nemesis", "n1 r1 n2 r2", "h1 n1 h2 n2 y o1", "H1 H2 n1 n2 L1 L2", ""},
    {"static", "n1 r1 n2 r2", "h1 n1 h2 n2 y o1", "H1 H2 n1 n2 L1 L2", ""},
};

class policy_orders : public testing::TestWithParam<row> {};

INSTANTIATE_TEST_SUITE_P(of, policy_orders, testing::ValuesIn(k_rows), [](const auto& chosen) {
    std::string name = chosen.param.policy;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(policy_orders_table, has_a_row_for_every_policy) {
    ASSERT_EQ(std::size(k_rows), quern::scheduling_policies().size());
    for (std::size_t i = 0; i < std::size(k_rows); ++i) {
        EXPECT_EQ(quern::scheduling_policies()[i].name, k_rows[i].policy);
    }
}

// Holds: scheduling policies: Under every policy what is ready runs in the order of the table in
//     policies.md: new and resumed tasks.
TEST_P(policy_orders, of_new_and_resumed_tasks) {
    EXPECT_EQ(order_of(GetParam().policy, {"n1", "r1", "n2", "r2"}), GetParam().new_and_resumed);
}

// Holds: scheduling policies: Under every policy hinted tasks, those from outside, and one that
//     yields run in the order of the table.
TEST_P(policy_orders, of_hinted_tasks_those_from_outside_and_one_that_yields) {
    EXPECT_EQ(order_of(GetParam().policy, {"o1", "h1", "n1", "h2", "n2", "y"}),
              GetParam().new_and_others);
}

// Holds: scheduling policies: Under every policy priorities are those of the table.
TEST_P(policy_orders, of_priorities) {
    EXPECT_EQ(order_of(GetParam().policy, {"L1", "n1", "H1", "L2", "n2", "H2"}),
              GetParam().by_priority);
}

// Holds: scheduling policies: Under every policy a thief of the same node gets what the table says.
TEST_P(policy_orders, of_what_a_thief_of_the_same_node_gets) {
    if (std::string_view(GetParam().to_a_thief).empty()) {
        GTEST_SKIP() << "nothing is stolen";
    }
    held_pool pool({.workers = 2}, GetParam().policy);
    maker m(pool, {"n1", "r1", "n2", "r2"});
    pool.release(1);
    const journal& log = m.result();
    EXPECT_EQ(log.text(), GetParam().to_a_thief);
    EXPECT_EQ(log.ranks(), std::vector<int>(4, 1));
}

// Holds: scheduling policies: No ready item starves.
TEST_P(policy_orders, put_nobody_off_for_ever) {
    // A worker that makes its own work comes to hinted items, to items from outside, and, when its
    // own items have high priority, to all the rest.
    for (const priority endless : {priority::normal, priority::high}) {
        held_pool pool({.workers = 1}, GetParam().policy);
        journal log;
        std::atomic<bool> stop{false};
        struct feeder {
            std::atomic<bool>& stop;
            priority urgency;
            void operator()() const {
                if (!stop.load()) {
                    post({.urgency = urgency}, *this);
                }
            }
        };
        post({.urgency = endless, .pool = &pool.get()}, feeder{stop, endless});
        names wanted{"h", "o"};
        if (endless == priority::high) {
            wanted.insert(wanted.end(), {"n", "L"});
        }
        for (const std::string& what : wanted) {
            post({.urgency = what == "L" ? priority::low : priority::normal,
                  .worker = what == "h" ? 0 : -1,
                  .pool = &pool.get()},
                 [&log, what] { log.note(what); });
        }
        EXPECT_TRUE(eventually([&] { return log.size() == wanted.size(); }));
        stop.store(true);
    }
}

}  // namespace
