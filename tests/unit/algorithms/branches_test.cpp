// SPDX-License-Identifier: BSL-1.0
// Loops of a task whose branches are tasks of their own (scheduler/detail/branches.hpp): no part of
// a loop is taken for the task, whichever worker runs it.
#include <quern/algorithms/parallel_for.hpp>
#include <quern/algorithms/sort.hpp>
#include <quern/scheduler/detail/branches.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/task_hold.hpp>
#include <quern/task/this_task.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using quern::parallel_for;
using quern::detail::task_record;
using quern_test::scaled;

const task_record& record_here() { return quern::detail::current_context()->root().task(); }

class own_branches {
public:
    own_branches() { quern::detail::begin_own_branches(m_task); }
    own_branches(const own_branches&) = delete;
    own_branches& operator=(const own_branches&) = delete;
    ~own_branches() { quern::detail::end_own_branches(m_task); }

    bool are_here() const { return &record_here() != &m_task; }

private:
    const task_record& m_task = record_here();
};

class loops_with_own_branches : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(loops_with_own_branches);

TEST_P(loops_with_own_branches, are_not_the_task_in_any_iteration) {
    inside([] {
        for (int round = 0; round < scaled(50, 10); ++round) {
            const own_branches apart;
            std::atomic<int> apart_count{0};
            const auto count = [&](auto) { apart_count += apart.are_here() ? 1 : 0; };
            parallel_for(0, 64, count);
            EXPECT_EQ(apart_count, 64);
            EXPECT_FALSE(apart.are_here());
            quern::scope([&](quern::fork_scope& s) {
                for (int i = 0; i < 10; ++i) {
                    s.spawn([&count, i] { count(i); });
                }
                EXPECT_FALSE(apart.are_here());
            });
            EXPECT_EQ(apart_count, 74);
        }
    });
}

TEST_P(loops_with_own_branches, compute_and_throw_what_others_do) {
    inside([] {
        const own_branches apart;
        std::vector<int> marks(100'000);
        parallel_for(std::size_t{0}, marks.size(), [&marks](std::size_t i) { ++marks[i]; });
        EXPECT_EQ(std::count(marks.begin(), marks.end(), 1), std::ssize(marks));
        EXPECT_THROW(parallel_for(0, 1000,
                                  [](int i) {
                                      if (i == 700) {
                                          throw std::runtime_error("one");
                                      }
                                  }),
                     std::runtime_error);
        EXPECT_FALSE(apart.are_here());
        for (std::size_t i = 0; i < marks.size(); ++i) {
            marks[i] = static_cast<int>(i * 7919 % marks.size());
        }
        quern::sort(quern::par, marks.begin(), marks.end());
        EXPECT_TRUE(std::is_sorted(marks.begin(), marks.end()));
    });
}

// A part of a loop waits for its holds, wherever it runs.
TEST_P(loops_with_own_branches, wait_for_the_holds_of_their_parts) {
    inside([] {
        const own_branches apart;
        std::atomic<int> dropped{0};
        std::vector<std::jthread> devices(4);
        parallel_for(0, 4, [&](int i) {
            devices[static_cast<std::size_t>(i)] =
                std::jthread([&dropped, hold = quern::this_task::hold()]() mutable {
                    ++dropped;
                    hold.drop();
                });
        });
        EXPECT_EQ(dropped, 4);
    });
}

}  // namespace
