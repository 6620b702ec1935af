// SPDX-License-Identifier: BSL-1.0
// The basis of the upper layers: suspending a context, resuming it from any thread, yielding to
// another item, calling on a fresh stack; and which state belongs to a task rather than its worker.
#include <quern/scheduler/detail/fresh_stack.hpp>

#include "on_runtime.hpp"

#include <cfenv>
#include <string>
#include <vector>

namespace {

using quern::detail::context;
using quern_test::let_others_run;
using quern_test::scaled;

class suspension_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(suspension_test);

TEST_P(suspension_test, ends_at_once_when_the_event_has_already_happened) {
    inside([] {
        for (int i = 0; i < 100; ++i) {
            auto publish = [](context&) { return false; };
            quern::detail::suspend(publish);
        }
    });
}

TEST_P(suspension_test, ends_when_a_thread_outside_says_so) {
    for (int i = 0; i < 100; ++i) {
        std::atomic<context*> waiting{nullptr};
        int value = 0;
        auto task = quern::async(rt, [&] {
            auto publish = [&](context& self) {
                waiting.store(&self);
                return true;
            };
            quern::detail::suspend(publish);
            return value;
        });
        while (waiting.load() == nullptr) {
            std::this_thread::yield();
        }
        value = i;
        quern::detail::resume(*waiting.load());
        ASSERT_EQ(task.get(), i);
    }
}

TEST_P(suspension_test, leaves_the_worker_to_other_tasks) {
    quern_test::waiting_room room;
    auto task = quern::async(rt, [&] {
        room.wait();
        return 1;
    });
    ASSERT_TRUE(quern_test::eventually([&] { return room.size() == 1; }));
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(inside([i] { return i; }), i);
    }
    EXPECT_FALSE(task.is_ready());
    room.resume_all();
    EXPECT_EQ(task.get(), 1);
}

TEST_P(suspension_test, of_many_tasks_in_turn_keeps_each_one_s_variables) {
    const int tasks = scaled(200, 50);
    const int rounds = scaled(100, 20);
    std::vector<quern::future<void>> all;
    for (int t = 0; t < tasks; ++t) {
        all.push_back(quern::async(rt, [t, rounds] {
            std::string mine = std::to_string(t);
            double sum = t;
            for (int i = 0; i < rounds; ++i) {
                let_others_run();
                sum += 1.0;
                ASSERT_EQ(mine, std::to_string(t));
            }
            ASSERT_EQ(sum, static_cast<double>(t + rounds));
        }));
    }
    for (auto& f : all) {
        f.get();
    }
}

TEST_P(suspension_test, may_end_on_another_worker) {
    if (workers() == 1) {
        GTEST_SKIP() << "needs another worker";
    }
    inside([] {
        for (int i = 0; i < 10; ++i) {
            ASSERT_TRUE(quern_test::move_to_another_worker());
        }
    });
}

// Holds: launch: fork: the creator resumes when a worker is free.
TEST_P(suspension_test, happens_to_the_creator_of_a_forked_task) {
    inside([] {
        std::string trace;
        auto f = quern::async(quern::launch::fork, [&trace] { trace += "child "; });
        f.get();
        trace += "parent";
        EXPECT_EQ(trace, "child parent");
    });
}

/// The rounding modes at the start of new tasks.
std::vector<int> modes_of_new_tasks(quern::runtime& rt) {
    std::vector<quern::future<int>> all;
    for (int i = 0; i < 50; ++i) {
        all.push_back(quern::async(rt, [] { return std::fegetround(); }));
    }
    std::vector<int> modes;
    for (auto& f : all) {
        modes.push_back(f.get());
    }
    return modes;
}

TEST_P(suspension_test, keeps_the_rounding_mode_of_a_task_and_gives_it_to_no_other) {
    quern_test::waiting_room room;
    std::vector<quern::future<int>> odd;
    for (unsigned i = 0; i < 2 * workers(); ++i) {
        odd.push_back(quern::async(rt, [&room] {
            std::fesetround(FE_UPWARD);
            room.wait();
            const int mode = std::fegetround();
            std::fesetround(FE_TONEAREST);
            return mode;
        }));
    }
    ASSERT_TRUE(quern_test::eventually([&] { return room.size() == odd.size(); }));
    EXPECT_EQ(modes_of_new_tasks(rt), std::vector<int>(50, FE_TONEAREST));
    room.resume_all();
    for (auto& f : odd) {
        EXPECT_EQ(f.get(), FE_UPWARD);
    }
}

TEST_P(suspension_test, to_the_end_of_the_queue_lets_work_from_outside_pass) {
    std::atomic<bool> stop{false};
    std::vector<quern::future<void>> restless;
    for (unsigned i = 0; i < 2 * workers(); ++i) {
        restless.push_back(quern::async(rt, [&stop] {
            while (!stop.load()) {
                let_others_run();
            }
        }));
    }
    auto outside = quern::async(rt, [] {});
    EXPECT_TRUE(
        quern_test::eventually([&] { return outside.is_ready(); }, std::chrono::seconds(2)));
    stop.store(true);
    for (auto& f : restless) {
        f.get();
    }
}

TEST_P(suspension_test, of_a_call_on_a_fresh_stack_is_as_of_any_call) {
    inside([] {
        struct call {
            int depth;
            int result;
        };
        struct recursion {
            static void run(void* p) {
                auto& c = *static_cast<call*>(p);
                if (c.depth == 0) {
                    c.result = 1;
                    return;
                }
                call next{c.depth - 1, 0};
                let_others_run();
                quern::detail::call_on_fresh_stack(run, &next);
                let_others_run();
                c.result = next.result + 1;
            }
        };
        call c{100, 0};
        recursion::run(&c);
        EXPECT_EQ(c.result, 101);
    });
}

TEST_P(suspension_test, does_not_lose_a_wake_up_however_short_the_wait) {
    // Two tasks pass one token to and fro, through random interleavings.
    const int rounds = scaled(2'000, 300);
    std::atomic<context*> parked[2] = {nullptr, nullptr};
    const auto player = [&](int me) {
        for (int i = 0; i < rounds; ++i) {
            auto publish = [&, me](context& self) {
                context* other = parked[1 - me].exchange(nullptr);
                parked[me].store(&self);
                if (other != nullptr) {
                    quern::detail::resume(*other);
                }
                return true;
            };
            quern::detail::suspend(publish);
        }
    };
    auto a = quern::async(rt, player, 0);
    auto b = quern::async(rt, player, 1);
    // Wakes the waiter that is left.
    while (!a.is_ready() || !b.is_ready()) {
        for (auto& p : parked) {
            if (context* c = p.exchange(nullptr)) {
                quern::detail::resume(*c);
            }
        }
        std::this_thread::yield();
    }
    a.get();
    b.get();
}

}  // namespace
