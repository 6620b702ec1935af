// SPDX-License-Identifier: BSL-1.0
// Children of dependent tasks: when the parent's accesses are released, and when it is complete.
#include <quern/dependences/spawn.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/task_hold.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::on;
using quern::out;
using quern_test::scaled;

class domain_nesting : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(domain_nesting);

// Holds: domain: A task is complete when its function and its children have ended.
TEST_P(domain_nesting, a_successor_waits_for_children) {
    inside([] {
        domain work;
        int value = 0;
        constexpr int k_rounds = 25;
        for (int round = 1; round <= k_rounds; ++round) {
            work.spawn(inout(value), [](int& v) {
                quern::spawn(inout(v), [](int& w) {
                    quern::this_task::yield();
                    w += 1;
                });
                quern::spawn(inout(v), [](int& w) { w *= 2; });
            });
            work.spawn(in(value), [](const int& v) { EXPECT_EQ(v % 2, 0); });
        }
        work.taskwait();
        int expected = 0;
        for (int round = 1; round <= k_rounds; ++round) {
            expected = (expected + 1) * 2;
        }
        EXPECT_EQ(value, expected);
    });
}

// Holds: domain: When the function has returned, the accesses that no child uses are released at
//     once, the others when those children end.
TEST_P(domain_nesting, accesses_are_released_one_by_one) {
    inside([] {
        domain work;
        int used = 0;
        int unused = 0;
        std::vector<int> parts(2, 0);
        std::atomic<bool> is_open{false};
        std::atomic<bool> opens_second{false};
        std::atomic<bool> complete{false};
        work.spawn(inout(used), inout(unused), inout(parts.data(), 1), inout(&parts[1], 1),
                   [&](int& u, int&, auto first, auto second) {
                       quern::spawn(inout(u), [&] {
                           while (!is_open) {
                               quern::this_task::yield();
                           }
                       });
                       quern::spawn(inout(second), [&] {
                           while (!opens_second) {
                               quern::this_task::yield();
                           }
                       });
                       quern::spawn(inout(first), [](auto f) { f[0] = 1; });
                   });
        work.spawn(inout(unused), [&] { opens_second = true; });  // while the child runs
        work.spawn(inout(parts), [&](auto p) {                    // when two children have ended
            EXPECT_EQ(p[0], 1);
            EXPECT_FALSE(complete);
            is_open = true;
        });
        work.spawn(inout(used), [&] { complete = true; });
        work.taskwait();
        EXPECT_TRUE(complete);
    });
}

// Holds: domain: quern::taskwait() returns when the children are complete, quern::taskwait(on())
//     when data may be used.
TEST_P(domain_nesting, a_task_waits_for_its_children) {
    inside([] {
        domain work;
        int value = 0;
        work.spawn(inout(value), [](int& v) {
            for (int i = 0; i < 10; ++i) {
                quern::spawn(inout(v), [](int& w) { ++w; });
            }
            quern::taskwait(on(in(v)));
            EXPECT_EQ(v, 10);
            quern::spawn({.name = "child"}, out(v), [](int& w) { w = 5; });
            quern::taskwait();
            EXPECT_EQ(v, 5);
        });
        work.taskwait();
    });
}

// Holds: domain: Children may have children; the depth is not limited by a stack.
TEST_P(domain_nesting, is_deep) {
    struct deeper {
        int left;
        void operator()(int& v) const {
            ++v;
            if (left != 0) {
                quern::spawn(inout(v), deeper{left - 1});
            }
        }
    };
    inside([] {
        const int depth = scaled(100'000, 5'000);
        domain work;
        int value = 0;
        work.spawn(inout(value), deeper{depth});
        work.spawn(inout(value), [depth](int& v) { EXPECT_EQ(v, depth + 1); });
        work.taskwait();
    });
}

// Holds: domain: A task under a hold is complete when the hold has been dropped.
TEST_P(domain_nesting, a_hold_keeps_the_accesses) {
    inside([] {
        domain work;
        int value = 0;
        std::optional<quern::task_hold> hold;
        std::atomic<bool> is_held{false};
        std::atomic<bool> dropped{false};
        work.spawn(out(value), [&](int& v) {
            hold = quern::this_task::hold();
            v = 1;
            quern::spawn(out(v), [] {});
            is_held = true;
        });
        work.spawn(in(value), [&] { EXPECT_TRUE(dropped); });
        while (!is_held) {
            quern::this_task::yield();
        }
        quern::this_task::yield();
        dropped = true;
        hold->drop();
        work.taskwait();
    });
}

// Holds: domain: std::logic_error for quern::spawn() and quern::taskwait() outside of a dependent
//     task.
TEST_P(domain_nesting, refuses_children_of_other_tasks) {
    EXPECT_THROW(quern::spawn([] {}), std::logic_error);
    EXPECT_THROW(quern::taskwait(), std::logic_error);
    inside([] {
        EXPECT_THROW(quern::spawn([] {}), std::logic_error);
        domain work;
        work.spawn([] {
            quern::task_group group;
            group.run([] {
                EXPECT_THROW(quern::spawn([] {}), std::logic_error);
                domain own;  // but it may have a domain
                own.spawn([] { quern::spawn([] {}); });
            });
            group.wait();
            EXPECT_THROW(quern::async([] { quern::taskwait(); }).get(), std::logic_error);
            quern::spawn([] {});
        });
        work.taskwait();
    });
}

// Holds: domain: At the limit spawn() lets other tasks run until half of them are left.
TEST_P(domain_nesting, a_creator_stays_near_the_limit) {
    rt.default_pool().set_knob("live-tasks", 64);
    const auto counts = [](domain& work) {
        // The limit may give way when the system does not run a worker for long: then once more.
        int most = 1000;
        for (int attempt = 0; attempt < 20 && most > 66; ++attempt) {
            std::atomic<int> live{0};
            most = 0;
            for (int i = 0; i < scaled(3000, 500); ++i) {
                most = std::max(most, ++live);
                work.spawn([&live] { --live; });
            }
            work.taskwait();
        }
        EXPECT_LE(most, 66);
    };
    inside([&] {
        domain work;
        counts(work);
        work.spawn([&] {
            domain own;
            counts(own);
        });
    });
    domain work(rt.default_pool());
    counts(work);
    rt.default_pool().set_knob("live-tasks", 10'000);
}

// Holds: domain: When nothing runs any more, the limit gives way.
TEST_P(domain_nesting, the_limit_gives_way) {
    rt.default_pool().set_knob("live-tasks", 16);
    const auto meets = [](domain& work) {
        std::atomic<bool> is_open{false};
        int value = 0;
        std::optional<quern::suspended_task> sleeper;
        std::atomic<bool> sleeps{false};
        work.spawn(out(value), [&] {
            quern::this_task::suspend([&](quern::suspended_task me) {
                sleeper = std::move(me);
                sleeps = true;
            });
        });
        for (int i = 0; i < 40; ++i) {
            work.spawn(inout(value), [](int& v) { ++v; });
        }
        while (!sleeps) {
            std::this_thread::yield();
        }
        sleeper->resume();
        work.taskwait();
        EXPECT_EQ(value, 40);
    };
    inside([&] {
        domain work;
        meets(work);
    });
    domain work(rt.default_pool());
    meets(work);
    rt.default_pool().set_knob("live-tasks", 10'000);
}

// Holds: domain: When tasks do nothing but look and suspend themselves again, the limit gives way.
TEST_P(domain_nesting, the_limit_gives_way_beside_tasks_that_poll) {
    rt.default_pool().set_knob("live-tasks", 8);
    const auto meets = [](domain& work) {
        std::atomic<bool> is_open{false};
        for (int i = 0; i < 9; ++i) {
            work.spawn([&is_open, i] {
                while (!is_open) {
                    if (i % 3 == 0) {
                        quern::this_task::sleep_for(std::chrono::microseconds(50));
                    } else {
                        quern::this_task::yield();
                    }
                }
            });
        }
        work.spawn([&is_open] { is_open = true; });
        work.taskwait();
        EXPECT_TRUE(is_open);
    };
    inside([&] {
        domain work;
        meets(work);
    });
    domain work(rt.default_pool());
    meets(work);
    rt.default_pool().set_knob("live-tasks", 10'000);
}

// Below the limit a creator that gives way must come back, too.
TEST_P(domain_nesting, more_tasks_than_the_first_window_may_poll_for_the_creator) {
    inside([&] {
        std::atomic<bool> is_open{false};
        domain work;
        for (int i = 0; i < 4000; ++i) {
            work.spawn([&is_open] {
                while (!is_open) {
                    quern::this_task::yield();
                }
            });
        }
        is_open = true;
        work.taskwait();
        EXPECT_TRUE(is_open);
    });
}

}  // namespace
