// SPDX-License-Identifier: BSL-1.0
// How policies end: by their handles and by themselves, while runtimes end, in the child of a
// fork() and with the process.
#include "processes/child.hpp"

#include <quern/adaptation/policy.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
// Children of a fork() leave the state of the parent's counters as it is
// (counters/system/state.hpp).
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
    return "leak:kept_state\n";
}
#endif

namespace {

using namespace std::chrono_literals;
using quern::adaptation::every;
using quern::adaptation::on;
using quern::adaptation::policy_context;
using quern::adaptation::policy_handle;
using quern::adaptation::policy_options;
using quern::trace::custom_event;
using quern::trace::event_kind;
using quern_test::alone;
using quern_test::eventually;
using quern_test::fork_and_wait;

constexpr custom_event k_step("step");
constexpr policy_options k_patient{.budget = 60s};

// Holds: policy: stop(), and the handle's destructor, wait for a call in progress; none comes
// afterwards.
TEST(policy_ends_test, stop_waits_for_the_call_in_progress) {
    for (int i = 0; i < quern_test::scaled(100, 20); ++i) {
        std::atomic<bool> is_in{false};
        std::atomic<bool> was_out{false};
        policy_handle slow = every(
            100us, "slow",
            [&](policy_context&) {
                is_in = true;
                std::this_thread::sleep_for(200us);
                was_out = true;
            },
            k_patient);
        while (!is_in) {
            std::this_thread::yield();
        }
        i % 2 == 0 ? slow.stop() : static_cast<void>(slow = policy_handle());
        EXPECT_TRUE(was_out);
        is_in = false;
        std::this_thread::sleep_for(300us);
        EXPECT_FALSE(is_in);
        EXPECT_FALSE(slow.is_active());
    }
}

// Holds: policy: Its own function may end it, by the context and by the handle; it keeps what it
// holds until it returns, and sets no knob any more.
TEST(policy_ends_test, a_policy_may_end_itself) {
    const quern::runtime rt(quern::runtime_options::with_workers(2));
    for (const bool by_handle : {false, true}) {
        auto held = std::make_shared<int>(1);
        const std::weak_ptr<int> seen = held;
        policy_handle own;
        std::atomic<bool> is_registered{false};
        std::atomic<int> calls{0};
        own = every(
            1ms, "once",
            [&, held](policy_context& now) {
                while (!is_registered) {
                    std::this_thread::yield();
                }
                now.set("spin-us", 20, "");
                by_handle ? own.stop() : now.stop();
                now.set("spin-us", 10, "too late");
                calls += *held;
            },
            k_patient);
        held.reset();
        is_registered = true;
        ASSERT_TRUE(eventually([&] { return calls == 1 && !own.is_active(); }));
        std::this_thread::sleep_for(5ms);
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(rt.default_pool().knob("spin-us"), 20U);
        own = policy_handle();
        EXPECT_TRUE(eventually([&] { return seen.expired(); }));
    }
}

// Holds: policy: The end of a runtime waits for the calls that use it; later calls see the next
// runtime, or none.
TEST(policy_ends_test, runtimes_end_while_policies_are_called) {
    std::atomic<int> calls{0};
    const policy_handle periodic = every(
        50us, "periodic",
        [&](policy_context& now) {
            if (now.has_pool()) {
                now.try_counter("/threads/idle-rate");
                now.set("active-workers", 1 + static_cast<unsigned>(calls % 2), "to and fro");
            }
            calls += 1;
        },
        k_patient);
    const policy_handle triggered = on(
        quern::trace::k_worker_events | quern::trace::k_runtime_events | event_kind::task_stop,
        "triggered",
        [&](policy_context& now) {
            if (now.has_pool()) {
                now.try_counter("/threads/count/cumulative");
                now.get("spin-us");
            }
        },
        k_patient);
    for (int i = 0; i < quern_test::scaled(60, 10); ++i) {
        quern::runtime rt(quern::runtime_options::with_workers(1U << (i % 4)));
        quern::async(rt, [] {}).get();
        const int before = calls;
        EXPECT_TRUE(eventually([&] { return i % 3 != 0 || calls > before; }));
    }
    EXPECT_TRUE(periodic.is_active());
    EXPECT_TRUE(triggered.is_active());
}

// Holds: policy: Its function may make and end runtimes, also the one that it acts on.
TEST(policy_ends_test, a_policy_may_end_its_runtime) {
    std::optional<quern::runtime> rt(std::in_place, quern::runtime_options::with_workers(2));
    std::atomic<bool> is_done{false};
    const policy_handle kept = every(
        1ms, "ends-it",
        [&](policy_context& now) {
            EXPECT_TRUE(now.has_pool());
            rt.reset();
            EXPECT_FALSE(now.has_pool());
            { const quern::runtime another(quern::runtime_options::with_workers(1)); }
            is_done = true;
            now.stop();
        },
        k_patient);
    EXPECT_TRUE(eventually([&] { return is_done.load(); }));
}

// Holds: policy: Policies may be registered and ended on several threads and in tasks, at any
// moment of a runtime.
TEST(policy_ends_test, policies_come_and_go_on_several_threads) {
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    std::atomic<bool> is_over{false};
    std::thread runtimes([&] {
        while (!is_over) {
            quern::runtime rt(quern::runtime_options::with_workers(2));
            quern::async(rt, [] {
                const policy_handle inner = every(
                    100us, "of-task", [](policy_context&) {}, k_patient);
            }).get();
            k_step.fire();
        }
    });
    std::vector<std::thread> all;
    for (unsigned t = 0; t < 4; ++t) {
        all.emplace_back([t, seed] {
            std::minstd_rand random(seed + t);
            for (int i = 0; i < quern_test::scaled(150, 20); ++i) {
                std::atomic<int> calls{0};
                const auto act = [&](policy_context& now) {
                    calls += 1;
                    if (now.has_pool()) {
                        now.try_counter("/threads/count/cumulative");
                    }
                    if (now.event() == nullptr && calls > 2) {
                        now.stop();
                    }
                };
                policy_handle one =
                    random() % 2 == 0
                        ? every(50us, "one", act, k_patient)
                        : on(event_kind::custom | event_kind::task_stop | event_kind::worker_park,
                             "one", act, k_patient);
                k_step.fire(i);
                std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
                if (random() % 2 == 0) {
                    one.stop();
                }
            }
        });
    }
    for (std::thread& each : all) {
        each.join();
    }
    is_over = true;
    runtimes.join();
}

// Holds: policy: In the child of a fork() the parent's policies do not run, and their handles have
// no effect; the child may have policies of its own.
TEST(policy_ends_test, the_child_of_a_fork_does_not_run_it) {
    const auto end = alone([] {
        std::atomic<int> calls{0};
        const auto count = [&](policy_context&) { calls += 1; };
        auto periodic = std::make_unique<policy_handle>(every(1ms, "parent's", count, k_patient));
        auto triggered = std::make_unique<policy_handle>(on(k_step, "parent's", count, k_patient));
        every(1ms, "released", count, k_patient).release();
        if (!eventually([&] { return calls > 4; })) {
            return 1;
        }
        const int in_child = fork_and_wait(
            [&] {
                const int before = calls;
                k_step.fire();
                std::this_thread::sleep_for(10ms);
                const bool is_quiet = calls == before && !periodic->is_active();
                periodic->stop();
                periodic.reset();
                triggered.reset();
                if (quern::detail::k_tsan) {
                    return is_quiet ? 0 : 2;  // it refuses threads in the child of a fork
                }
                std::atomic<int> own{0};
                const policy_handle mine = every(
                    1ms, "child's", [&](policy_context&) { own += 1; }, k_patient);
                return is_quiet && eventually([&] { return own > 2; }) ? 0 : 3;
            },
            // What belongs to the parent's threads looks leaked in the child.
            quern::detail::k_asan ? ::_exit : std::exit);
        const int before = calls;
        return eventually([&] { return calls > before + 2; }) ? in_child : 4;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

// Holds: policy: Its function may fork.
TEST(policy_ends_test, a_policy_may_fork) {
    const auto end = alone([] {
        const quern::runtime rt(quern::runtime_options::with_workers(2));
        std::atomic<int> status{-1};
        std::atomic<int> calls{0};
        const policy_handle forks = every(
            1ms, "forks",
            [&](policy_context& now) {
                if (calls++ == 0) {
                    now.try_counter("/threads/idle-rate");
                    status = fork_and_wait([] { return 7; });
                }
            },
            k_patient);
        return eventually([&] { return status != -1 && calls > 3; }) ? status.load() : 1;
    });
    EXPECT_EQ(end.status, 7) << end.output;
}

/// Objects that a policy uses, which are destroyed when the process ends.
struct guarded {
    ~guarded() { is_alive = false; }
    std::atomic<bool> is_alive{true};
};

// Holds: policy: The process may end at any time, also by exit() in the policy: static handles and
// released policies end before the objects that were made before them.
TEST(policy_ends_test, the_process_may_end_at_any_time) {
    for (int i = 0; i < quern_test::scaled(20, 6); ++i) {
        const auto end = alone([i] {
            return fork_and_wait(
                [i] {
                    static guarded used;
                    static quern::runtime rt(quern::runtime_options::with_workers(2));
                    const auto act = [](policy_context& now) {
                        if (!used.is_alive) {
                            std::_Exit(77);
                        }
                        now.set("spin-us", now.get("spin-us") + 1, "count");
                    };
                    static const policy_handle kept = every(50us, "static", act, k_patient);
                    every(
                        50us, "released",
                        [](policy_context&) {
                            if (!used.is_alive) {
                                std::_Exit(78);
                            }
                        },
                        k_patient)
                        .release();
                    if (i % 4 == 3) {
                        every(
                            200us, "exits", [](policy_context&) { std::exit(5); }, k_patient)
                            .release();
                        std::this_thread::sleep_for(10s);
                    }
                    std::this_thread::sleep_for(std::chrono::microseconds(i * 50));
                    return 5;
                },
                std::exit);
        });
        EXPECT_EQ(end.status, 5) << end.output;
    }
}

}  // namespace
