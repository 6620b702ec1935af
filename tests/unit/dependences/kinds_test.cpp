// SPDX-License-Identifier: BSL-1.0
// Commutative, weak and released accesses; attributes of dependent tasks.
#include <quern/dependences/access_list.hpp>
#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using quern::commutative;
using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern::weak;
using quern_test::eventually;

class domain_kinds : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(domain_kinds);

void wait_until(const std::atomic<bool>& open) {
    while (!open) {
        quern::this_task::yield();
    }
}

// -- commutative -------------------------------------------------------------------------------

// Holds: domain: The tasks run in any order, one at a time.
TEST_P(domain_kinds, commutative_tasks_run_one_at_a_time_in_any_order) {
    inside([] {
        domain work;
        int value = 0;
        int first = 0;
        std::atomic<int> inside_now{0};
        std::atomic<bool> is_open{false};
        work.spawn(out(first), [&](int&) { wait_until(is_open); });
        // This one waits for the task above; the later ones do not wait for it.
        work.spawn(in(first), commutative(value), [&](const int&, int& v) { v *= 2; });
        constexpr int k_tasks = 50;
        for (int i = 0; i < k_tasks; ++i) {
            work.spawn(commutative(value), [&](int& v) {
                EXPECT_EQ(inside_now.fetch_add(1), 0);
                quern::this_task::yield();
                v += 1;
                if (v == k_tasks) {
                    is_open = true;
                }
                inside_now.fetch_sub(1);
            });
        }
        int seen = 0;
        work.spawn(in(value), out(seen), [](const int& v, int& s) { s = v; });
        work.taskwait();
        EXPECT_EQ(seen, 2 * k_tasks);
    });
}

// Holds: domain: A task takes all of its commutative objects or none, so a task that waits
//     keeps no object from others.
TEST_P(domain_kinds, a_waiting_task_keeps_no_object) {
    inside([] {
        domain work;
        int a = 0;
        int b = 0;
        std::atomic<bool> is_open{false};
        work.spawn(commutative(b), [&](int&) { wait_until(is_open); });
        work.spawn(commutative(a), commutative(b), [](int& x, int& y) { x = y = 1; });
        work.spawn(commutative(a), [&](int&) { is_open = true; });
        work.taskwait();
        EXPECT_EQ(a + b, 2);
    });
}

// Holds: domain: When several wait for one object, the largest rank comes first.
TEST_P(domain_kinds, the_largest_rank_gets_the_lock_next) {
    inside([] {
        domain work;
        int value = 0;
        std::vector<int> order;
        std::atomic<bool> has_begun{false};
        std::atomic<bool> is_open{false};
        work.spawn(commutative(value), [&](int&) {
            has_begun = true;
            wait_until(is_open);
        });
        while (!has_begun) {
            quern::this_task::yield();
        }
        for (const int rank : {0, 3, 1, 2}) {
            work.spawn({.rank = static_cast<std::int16_t>(rank)}, commutative(value),
                       [&order, rank] { order.push_back(rank); });
        }
        is_open = true;
        work.taskwait();
        EXPECT_EQ(order, (std::vector<int>{3, 2, 1, 0}));
    });
}

// Holds: domain: parts of an object do not exclude each other, and the whole excludes all.
TEST_P(domain_kinds, disjoint_parts_do_not_exclude_each_other) {
    inside([] {
        domain work;
        std::array<int, 4> all{};
        std::atomic<bool> is_open{false};
        work.spawn(commutative(all.data(), 4), [](auto v) { v[3] = 1; });
        work.spawn(commutative(all.data(), 2), [&](auto) { wait_until(is_open); });
        work.spawn(commutative(&all[2], 2), [&](auto v) {
            v[0] = 2;
            is_open = true;
        });
        work.taskwait();
        EXPECT_EQ(all[2] + all[3], 3);
    });
}

// -- weak --------------------------------------------------------------------------------------

// Holds: domain: The task begins without waiting, and each child waits as if it were a task of the
//     outer domain.
TEST_P(domain_kinds, a_weak_access_keeps_the_children_waiting_alone) {
    inside([] {
        domain work;
        std::array<int, 2> parts{};
        std::atomic<bool> is_open{false};
        std::atomic<bool> has_spawned{false};
        work.spawn(out(parts[0]), [&](int& p) {
            wait_until(has_spawned);
            wait_until(is_open);
            p = 5;
        });
        work.spawn(weak(inout(parts)), [&] {
            quern::spawn(inout(parts[0]), [](int& p) { p += 1; });
            quern::spawn(inout(parts[1]), [&](int& p) {
                p = 7;
                is_open = true;  // this child waits for nothing
            });
            has_spawned = true;
        });
        int sum = 0;
        work.spawn(in(parts), out(sum), [](const auto& p, int& s) { s = p[0] + p[1]; });
        work.taskwait();
        EXPECT_EQ(sum, 13);
    });
}

// Holds: domain: A weak access is released when the children that use it have ended: tasks that name
//     their parts one by one follow each other part by part.
TEST_P(domain_kinds, weak_accesses_of_parts_are_released_part_by_part) {
    inside([] {
        domain work;
        std::array<int, 2> parts{};
        std::atomic<bool> is_open{false};
        for (int step = 0; step < 2; ++step) {
            work.spawn(weak(inout(parts[0])), weak(inout(parts[1])), [&, step] {
                quern::spawn(inout(parts[0]), [&, step](int& p) {
                    if (step == 0) {
                        wait_until(is_open);  // until the other child of the next step has begun
                    }
                    ++p;
                });
                quern::spawn(inout(parts[1]), [&, step](int& p) {
                    ++p;
                    if (step == 1) {
                        is_open = true;
                    }
                });
            });
        }
        work.taskwait();
        EXPECT_EQ(parts, (std::array<int, 2>{2, 2}));
    });
}

// Holds: domain: tasks that come later wait for what the task waits for, also if no child used it.
TEST_P(domain_kinds, an_unused_weak_access_keeps_the_order) {
    inside([] {
        domain work;
        int value = 0;
        std::atomic<bool> is_open{false};
        work.spawn(out(value), [&](int& v) {
            wait_until(is_open);
            v = 1;
        });
        work.spawn(weak(inout(value)), [&] { is_open = true; });
        work.spawn(inout(value), [](int& v) { v *= 3; });
        work.taskwait();
        EXPECT_EQ(value, 3);
    });
}

// Holds: domain: Children of a task with weak(commutative(x)) exclude each other on all of x.
TEST_P(domain_kinds, children_of_weak_commutative_accesses_exclude_each_other) {
    inside([] {
        domain work;
        int value = 0;
        for (int i = 0; i < 10; ++i) {
            work.spawn(weak(commutative(value)), [&value] {
                for (int k = 0; k < 10; ++k) {
                    quern::spawn(commutative(value), [](int& v) {
                        const int seen = v;
                        quern::this_task::yield();
                        v = seen + 1;
                    });
                }
            });
        }
        work.taskwait();
        EXPECT_EQ(value, 100);
    });
}

// -- release and holds -------------------------------------------------------------------------

// Holds: domain: tasks that wait for the access may begin now.
TEST_P(domain_kinds, a_released_access_lets_the_next_task_begin) {
    inside([] {
        domain work;
        int a = 0;
        int b = 0;
        std::atomic<bool> is_open{false};
        work.spawn(out(a), out(b), [&](int& x, int& y) {
            x = 1;
            quern::this_task::release(out(x));
            wait_until(is_open);
            y = 1;
        });
        work.spawn(in(a), [&](const int& x) {
            EXPECT_EQ(x, 1);
            is_open = true;
        });
        work.spawn(in(b), [](const int& y) { EXPECT_EQ(y, 1); });
        work.taskwait();
        EXPECT_TRUE(is_open);
    });
}

// Holds: domain: Children that use them are waited for first.
TEST_P(domain_kinds, a_released_access_waits_for_the_children_that_use_it) {
    inside([] {
        domain work;
        int a = 0;
        std::atomic<bool> is_open{false};
        work.spawn(inout(a), [&](int& x) {
            quern::spawn(inout(x), [&](int& y) {
                quern::this_task::yield();
                y = 1;
            });
            quern::this_task::release(inout(x));
            wait_until(is_open);
        });
        work.spawn(in(a), [&](const int& x) {
            EXPECT_EQ(x, 1);
            is_open = true;
        });
        work.taskwait();
    });
}

// Holds: domain: An access that is released early is kept as long as another one of its task that
//     it overlaps with.
TEST_P(domain_kinds, a_released_access_is_kept_with_one_that_overlaps) {
    inside([] {
        for (const bool reads_second : {true, false}) {
            domain work;
            std::array<int, 3> a{};
            std::atomic<bool> is_open{false};
            std::atomic<bool> has_ended{false};
            const auto body = [&](auto... second) {
                wait_until(is_open);
                quern::this_task::release(second...);
                for (int i = 0; i < 50; ++i) {
                    quern::this_task::yield();
                }
                a[1] = 1;  // of the first access too
                has_ended = true;
            };
            if (reads_second) {
                const auto second = in(&a[1], 2);
                work.spawn(inout(a.data(), 2), second, [=] { body(second); });
            } else {
                const auto second = inout(&a[1], 2);
                work.spawn(inout(a.data(), 2), second, [=] { body(second); });
            }
            work.spawn(inout(a[1]), [&](int& x) {
                EXPECT_TRUE(has_ended);
                EXPECT_EQ(x, 1);
            });
            is_open = true;
            work.taskwait();
        }
    });
}

// Holds: domain: std::invalid_argument for an access that the task does not have, or
//     has released; std::logic_error if the caller is no dependent task.
TEST_P(domain_kinds, a_release_of_another_access_is_refused) {
    inside([] {
        domain work;
        std::array<int, 3> a{};
        work.spawn(inout(a.data(), 2), [&a](auto x) {
            EXPECT_THROW(quern::this_task::release(inout(a[2])), std::invalid_argument);
            EXPECT_THROW(quern::this_task::release(inout(a)), std::invalid_argument);
            EXPECT_THROW(quern::this_task::release(in(x)), std::invalid_argument);
            quern::this_task::release(inout(x));
            EXPECT_THROW(quern::this_task::release(inout(x)), std::invalid_argument);
            EXPECT_THROW(quern::this_task::release(inout(a[0])), std::invalid_argument);
        });
        work.taskwait();
        EXPECT_THROW(quern::this_task::release(inout(a)), std::logic_error);
        EXPECT_THROW((void)quern::this_task::hold_accesses(), std::logic_error);
    });
}

// Holds: domain: The task is complete when its function has returned and its
//     holds have been dropped.
TEST_P(domain_kinds, a_hold_keeps_the_accesses) {
    inside([] {
        domain work;
        int answer = 0;
        std::jthread device;
        work.spawn(out(answer), [&](int& a) {
            device = std::jthread([&a, hold = quern::this_task::hold_accesses()]() mutable {
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
                a = 42;
                hold.drop();
            });
        });
        work.spawn(in(answer), [](const int& a) { EXPECT_EQ(a, 42); });
        work.taskwait();
    });
}

// -- attributes --------------------------------------------------------------------------------

// Holds: domain: The task's children run at once, in the place of their creation.
TEST_P(domain_kinds, children_of_a_final_task_run_in_place) {
    inside([] {
        domain work;
        int value = 0;
        work.spawn({.final = true}, inout(value), [](int& v) {
            quern::spawn(inout(v), [](int& w) {
                w = 1;
                quern::spawn(inout(w), [](int& x) { x += 1; });
                EXPECT_EQ(w, 2);
            });
            EXPECT_EQ(v, 2);
            quern::spawn([] { throw std::runtime_error("thrown"); });
            quern::spawn(inout(v), [](int& w) { w = 100; });  // dropped
            EXPECT_THROW(quern::taskwait(), std::runtime_error);
        });
        work.taskwait();
        EXPECT_EQ(value, 2);
    });
}

// Holds: domain: The task releases none of its accesses before all its children have
//     ended.
TEST_P(domain_kinds, a_task_that_waits_releases_nothing_early) {
    inside([] {
        domain work;
        int a = 0;
        int b = 0;
        std::atomic<bool> child_ended{false};
        work.spawn({.wait = true}, out(a), out(b), [&](int& x, int&) {
            quern::spawn(inout(x), [&](int&) {
                quern::this_task::sleep_for(std::chrono::milliseconds(2));
                child_ended = true;
            });
        });
        work.spawn(in(b), [&] { EXPECT_TRUE(child_ended); });
        work.taskwait();
    });
}

// -- lists -------------------------------------------------------------------------------------

// Holds: domain: Any number of accesses, given to spawn() in the place of one.
TEST_P(domain_kinds, a_list_has_any_number_of_accesses) {
    inside([] {
        domain work;
        std::vector<int> values(100, 0);
        int sum = 0;
        quern::access_list all;
        for (int& each : values) {
            work.spawn(out(each), [](int& v) {
                quern::this_task::yield();
                v = 1;
            });
            all.add(in(each));
        }
        EXPECT_EQ(all.size(), values.size());
        work.spawn(out(sum), all, [&values](int& s) {
            for (const int v : values) {
                s += v;
            }
        });
        all.clear();
        EXPECT_TRUE(all.empty());
        work.spawn(all, inout(sum), [](int& s) { s *= 2; });
        work.taskwait();
        EXPECT_EQ(sum, 200);
    });
}

// A child of a weak access needs the lock of its part alone, and shares that of the whole, as a
// task in its place does.
TEST_P(domain_kinds, a_child_of_a_weak_part_shares_the_lock_of_the_whole) {
    inside([] {
        std::array<int, 4> data{};
        const std::span<int> all(data);
        std::atomic<bool> has_run{false};
        std::atomic<bool> was_beside{false};
        quern::domain work;
        work.spawn(quern::commutative(all), [] {});
        work.spawn(quern::commutative(all.first(2)), [&] {
            const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
            while (!has_run && std::chrono::steady_clock::now() < limit) {
                quern::this_task::yield();
            }
            was_beside = has_run.load();
        });
        work.spawn(quern::weak(quern::commutative(all.last(2))), [&has_run, all] {
            quern::spawn(quern::commutative(all.last(2)), [&has_run] { has_run = true; });
        });
        work.taskwait();
        EXPECT_TRUE(was_beside);
    });
}

}  // namespace
