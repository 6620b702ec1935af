// SPDX-License-Identifier: BSL-1.0
// unlock_guard: a scope that unlocks a held mutex, and ends holding it again.
#include <quern/sync/mutex.hpp>
#include <quern/sync/unlock_guard.hpp>

#include "crew.hpp"

#include <mutex>
#include <stdexcept>
#include <type_traits>

namespace {

class unlock_guard_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(unlock_guard_test);

// Holds: unlock_guard: It unlocks a mutex that is held: others may lock it.
// Holds: unlock_guard: It locks it again at the end of the scope, before anything after it runs.
TEST_P(unlock_guard_test, opens_a_mutex_for_others) {
    quern::mutex m;
    int value = 0;  // guarded by m
    bool gave_way = false;
    all.task([&] {
        m.lock();
        {
            const quern::unlock_guard open(m);
            m.lock();  // throws unless it is unlocked
            m.unlock();
            gave_way = true;
        }
        EXPECT_FALSE(m.try_lock());  // held again
        ++value;
        m.unlock();
    });
    for (int i = 0; i < 10; ++i) {
        all.task([&] {
            std::unique_lock lock(m);
            const int before = ++value;
            EXPECT_GT(before, 0);
            const quern::unlock_guard open(lock);
        });
    }
    all.settle();
    EXPECT_TRUE(gave_way);
    EXPECT_EQ(value, 11);
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

// Holds: unlock_guard: A std::unique_lock will do, and owns the mutex again afterwards.
TEST(unlock_guard_outside_test, leaves_a_unique_lock_owning) {
    quern::mutex m;
    std::unique_lock lock(m);
    {
        const quern::unlock_guard open(lock);
        EXPECT_FALSE(lock.owns_lock());
    }
    EXPECT_TRUE(lock.owns_lock());
}

// Holds: unlock_guard: It locks again when an exception leaves the scope.
TEST(unlock_guard_outside_test, locks_again_when_an_exception_leaves) {
    quern::mutex m;
    std::unique_lock lock(m);
    const auto leave = [&lock] {
        const quern::unlock_guard open(lock);
        throw std::runtime_error("leaves");
    };
    EXPECT_THROW(leave(), std::runtime_error);
    EXPECT_TRUE(lock.owns_lock());
}

static_assert(!std::is_copy_constructible_v<quern::unlock_guard<quern::mutex>>);

}  // namespace
