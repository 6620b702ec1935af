// SPDX-License-Identifier: BSL-1.0
// How many sleepers are woken: by a worker that publishes, and by a thief whose victim has more;
// and that all workers come, whatever the setting wake-fanout.
#include "on_runtime.hpp"

#include <quern/task/fork_join.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace {

using quern_test::eventually;

constexpr unsigned k_sleepers = 7;

/// Holds all workers that are woken but one, until they are released.
struct held_sleepers : quern::detail::hooks {
    held_sleepers() noexcept {
        unparks = [](self me, quern::detail::worker& on) {
            const auto& all = static_cast<const held_sleepers&>(me);
            const auto* const free = all.not_held.load();
            if (free != nullptr && free != &on) {
                EXPECT_TRUE(eventually([&] { return all.are_released.load(); }));
            }
        };
    }

    std::atomic<const quern::detail::worker_shared*> not_held{nullptr};
    std::atomic<bool> are_released{false};
};

class waking_test : public testing::TestWithParam<unsigned> {
protected:
    waking_test() { rt.default_pool().set_knob("wake-fanout", GetParam()); }
    ~waking_test() override { rt.default_pool().set_knob("wake-fanout", 2); }

    quern::detail::pool& pool() { return rt.default_pool().get(); }

    void wait_until_asleep(unsigned count) {
        ASSERT_TRUE(eventually([&] {
            const auto now = pool().gate().load();
            return now.sleeping == count && now.searching == 0;
        }));
    }

    /// Sleepers read the hooks before they sleep.
    void install_hooks() {
        wait_until_asleep(k_sleepers + 1);
        pool().set_hooks(&m_hooks);
        const std::uint64_t parks = rt.default_pool().totals().parks;
        pool().set_active_workers(k_sleepers + 1);  // wakes all
        ASSERT_TRUE(
            eventually([&] { return rt.default_pool().totals().parks >= parks + k_sleepers + 1; }));
    }

    /// Runs a function on a worker while all others sleep.
    template <class F>
    void beside_sleepers(F f) {
        quern::async(rt, [&] {
            wait_until_asleep(k_sleepers);
            f(quern::detail::this_worker());
        }).get();
    }

    /// Items of which each waits until all have begun or the time is up: each needs a worker.
    void post_meeting(unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            quern::post([this, count] {
                m_hooks.are_released = true;
                m_begun.fetch_add(1);
                EXPECT_TRUE(eventually([&] { return m_begun.load() == count; }));
                m_ended.fetch_add(1);
            });
        }
    }
    bool all_have_begun(unsigned count) {
        return eventually([&] { return m_begun.load() == count; });
    }
    bool all_have_ended(unsigned count) {
        return eventually([&] { return m_ended.load() == count; });
    }

    static std::uint64_t wakes_of(const quern::detail::worker_shared& of) {
        return of.stats().read().wakes;
    }

    std::atomic<unsigned> m_begun{0};
    std::atomic<unsigned> m_ended{0};
    held_sleepers m_hooks;
    quern::runtime rt{quern::runtime_options::with_workers(k_sleepers + 1)};
};
INSTANTIATE_TEST_SUITE_P(on, waking_test, testing::Values(1U, 2U, 3U, 15U));

// Of seven private items half are published: one for each of them, as far as allowed.
TEST_P(waking_test, a_publisher_wakes_as_many_as_it_has_public_items) {
    install_hooks();
    beside_sleepers([&](quern::detail::worker& self) {
        m_hooks.not_held = &self;
        self.deque().arm();  // no request is open
        const std::uint64_t before = wakes_of(self);
        post_meeting(k_sleepers);
        EXPECT_EQ(wakes_of(self), before) << "private items wake none";
        self.deque().request_work(quern::detail::ticks());
        self.offer_if_wanted();
        EXPECT_EQ(wakes_of(self) - before, std::min(GetParam(), 4U));
        m_hooks.are_released = true;
        EXPECT_TRUE(all_have_begun(k_sleepers));
    });
    EXPECT_TRUE(all_have_ended(k_sleepers));
}

// A single sleeper is woken, finds seven items at a worker that does not look, and takes one.
TEST_P(waking_test, a_thief_wakes_as_many_as_its_victim_has_items_left) {
    if (!pool().has_barrier()) {
        GTEST_SKIP() << "all items are public here";
    }
    install_hooks();
    beside_sleepers([&](quern::detail::worker& self) {
        quern::detail::worker_shared& thief = *self.victims().front().front();
        m_hooks.not_held = &thief;
        self.deque().arm();
        post_meeting(k_sleepers);
        const std::uint64_t before = wakes_of(thief);
        ASSERT_TRUE(pool().gate().wake(thief.parker()));
        EXPECT_TRUE(all_have_begun(k_sleepers));
        EXPECT_EQ(wakes_of(thief) - before, std::min(GetParam(), k_sleepers - 1));
    });
    EXPECT_TRUE(all_have_ended(k_sleepers));
}

/// Leaves by halves; the first of them on each worker waits until all workers have one.
struct meeting_of_leaves {
    std::array<std::atomic<bool>, k_sleepers + 1> is_here{};
    std::atomic<unsigned> workers{0};
    std::atomic<bool> failed{false};

    void run(unsigned leaves) {
        if (leaves > 1) {
            quern::fork_join([&] { run(leaves / 2); }, [&] { run(leaves - leaves / 2); });
            return;
        }
        if (!is_here[static_cast<std::size_t>(quern::current_worker_rank())].exchange(true)) {
            workers.fetch_add(1);
        }
        if (!eventually([&] { return workers.load() == k_sleepers + 1; })) {
            failed = true;
        }
    }
};

TEST_P(waking_test, all_workers_come_to_the_leaves_of_a_loop) {
    if (!pool().has_barrier()) {
        GTEST_SKIP() << "the first leaf would keep its worker's entries";
    }
    for (int round = 0; round < quern_test::scaled(20, 5); ++round) {
        auto leaves = std::make_unique<meeting_of_leaves>();
        beside_sleepers([&](quern::detail::worker&) { leaves->run(64); });
        EXPECT_FALSE(leaves->failed) << leaves->workers << " workers in round " << round;
    }
}

TEST_P(waking_test, all_workers_come_to_the_items_of_one) {
    beside_sleepers([&](quern::detail::worker&) {
        post_meeting(k_sleepers);
        EXPECT_TRUE(all_have_begun(k_sleepers));
    });
    EXPECT_TRUE(all_have_ended(k_sleepers));
}

// A pool of two has one sleeper at most: one wake-up, whatever is allowed.
TEST_P(waking_test, the_only_sleeper_is_woken_once) {
    quern::runtime two(quern::runtime_options::with_workers(2));
    two.default_pool().set_knob("wake-fanout", GetParam());
    quern::async(two, [&] {
        ASSERT_TRUE(
            eventually([&] { return two.default_pool().get().gate().load().sleeping == 1; }));
        quern::detail::worker& self = quern::detail::this_worker();
        const std::uint64_t before = wakes_of(self);
        std::atomic<bool> ran = false;
        quern::post([&] { ran = true; });
        EXPECT_TRUE(eventually([&] { return ran.load(); }));
        EXPECT_LE(wakes_of(self) - before, 1U);
    }).get();
}

}  // namespace
