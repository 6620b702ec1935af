// SPDX-License-Identifier: BSL-1.0
// The scheduling policy that docs/policies.md shows, written by a program and chosen by its name.
// [global_fifo]
#include <quern/quern.hpp>

#include <memory>
#include <mutex>

namespace {

/// One queue for all workers, the oldest first.
class global_fifo final : public quern::policy_queues {
public:
    unsigned push(unsigned self, quern::ready_item item) override {
        const std::scoped_lock lock(m_mutex);
        m_items.push_back(item);
        return self;  // wakes a worker when one sleeps
    }
    quern::ready_item pop(unsigned) override {
        const std::scoped_lock lock(m_mutex);
        return m_items.pop_front();  // or none
    }
    unsigned put_back(unsigned self, quern::ready_item item) override {
        const std::scoped_lock lock(m_mutex);
        m_items.push_front(item);
        return self;
    }
    std::size_t size(unsigned) const override { return 0; }  // no queue belongs to one worker only
    std::size_t shared_size() const override {
        const std::scoped_lock lock(m_mutex);
        return m_items.size();
    }

private:
    mutable std::mutex m_mutex;
    quern::ready_list m_items;  // linked through the items: allocates nothing
};

constexpr quern::scheduling_policy k_global_fifo{
    .name = "global-fifo",
    .summary = "one queue for all workers, oldest first",
    .make = [](quern::policy_host) -> std::unique_ptr<quern::policy_queues> {
        return std::make_unique<global_fifo>();
    }};

// Before settings are read. Then --quern:policy=global-fifo and QUERN_POLICY know it too.
const bool k_registered = (quern::register_policy(k_global_fifo), true);

int sum_of_squares() {
    auto four = quern::async([] { return 2 * 2; });
    auto nine = quern::async([] { return 3 * 3; });
    return four.get() + nine.get();
}

int squares_under_it(unsigned workers) {
    quern::runtime rt(quern::runtime_options::with_workers(workers, "global-fifo"));
    return quern::async(rt, sum_of_squares).get();
}

}  // namespace
// [global_fifo]

#include "under_policy.hpp"

namespace {

using quern_test::under_policy;

class global_fifo_example : public under_policy {};
INSTANTIATE_TEST_SUITE_P(on, global_fifo_example, testing::Values(1U, 2U, 8U));

// Holds: scheduling policies: register_policy(): a program's policy...
TEST_P(global_fifo_example, gives_the_answer) {
    ASSERT_TRUE(k_registered);
    EXPECT_EQ(squares_under_it(GetParam()), 13);
}

// Holds: scheduling policies: A program's policy with...
TEST_P(global_fifo_example, runs_whatever_the_built_in_ones_run) { runs_everything("global-fifo"); }

// Holds: scheduling policies: It decides the order...
TEST(global_fifo_order, is_that_of_one_queue) {
    EXPECT_EQ(quern_test::order_on_one_worker("global-fifo"), "0 1 2 3 4 5 6 7 8 9");
}

}  // namespace
