// SPDX-License-Identifier: BSL-1.0
// Objects in place: only where they are, and with the turns of calls.
#include "on_job.hpp"

#include <quern/localities/object.hpp>
#include <quern/task/task_group.hpp>

#include <stdexcept>
#include <utility>

namespace {

using quern::localities::count;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::migrate;
using quern::localities::object;
using quern::localities::pinned;
using quern_test::next_locality;

struct sum {
    int value = 0;
    int add(int n) { return value += n; }
    int get() const { return value; }
};

class localities_pinned : public quern_test::on_job {};

// Holds: object: here_or_null() gives the object where it is, and null elsewhere; also after a move.
TEST_P(localities_pinned, is_where_the_object_is) {
    const object<sum> one = make_at<sum>(here(), 3);
    {
        const pinned<const sum> found = one.here_or_null();
        ASSERT_TRUE(found);
        EXPECT_EQ(found->value, 3);
    }
    migrate(one, next_locality()).get();
    EXPECT_EQ(one.here_or_null().get() != nullptr, count() == 1);
    EXPECT_EQ(one.pin().get() != nullptr, count() == 1);
    EXPECT_EQ(one.call(&sum::get).get(), 3);
    migrate(one, here()).get();
    EXPECT_TRUE(one.here_or_null());
}

// Holds: object: what is pinned counts as a call: const ones are beside each other, another one is
// alone, and calls come after it.
TEST_P(localities_pinned, takes_a_turn) {
    const object<sum> one = make_at<sum>(here(), 1);
    quern::future<int> later;
    {
        const pinned<const sum> first = one.here_or_null();
        const pinned<const sum> second = one.here_or_null();
        EXPECT_EQ(first.get(), second.get());
        EXPECT_FALSE(one.pin());
        EXPECT_EQ(one.call(&sum::get).get(), 1);
    }
    {
        pinned<sum> alone = one.pin();
        ASSERT_TRUE(alone);
        EXPECT_FALSE(one.here_or_null());
        later = one.call(&sum::add, 10);
        alone->value = 5;
        const pinned<sum> moved = std::move(alone);
        EXPECT_TRUE(moved);
    }
    EXPECT_EQ(later.get(), 15);
}

// Holds: object: many tasks may pin it, 10^5 times.
TEST_P(localities_pinned, counts_with_many_tasks) {
    constexpr int k_tasks = 20;
    constexpr int k_each = 5000;
    const object<sum> one = make_at<sum>(here());
    quern::task_group tasks;
    for (int i = 0; i < k_tasks; ++i) {
        tasks.run([one] {
            for (int k = 0; k < k_each; ++k) {
                if (pinned<sum> found = one.pin()) {
                    ++found->value;
                } else {
                    one.call(&sum::add, 1).get();
                }
            }
        });
    }
    tasks.wait();
    EXPECT_EQ(one.call(&sum::get).get(), k_tasks * k_each);
}

// Holds: object: a reference to none is refused.
TEST_P(localities_pinned, refuses_no_object) {
    EXPECT_THROW(static_cast<void>(object<sum>().pin()), std::logic_error);
    EXPECT_THROW(static_cast<void>(object<sum>().here_or_null()), std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(on, localities_pinned, testing::Values(1U, 2U));

}  // namespace
