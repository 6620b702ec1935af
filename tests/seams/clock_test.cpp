// SPDX-License-Identifier: BSL-1.0
// A toy layer that decides: policies that are called at intervals on the thread for time, beside
// those that throw, take long, end themselves and live through fork() and exit().
#include <quern/quern.hpp>
#include <quern/scheduler/detail/periodic_call.hpp>
#include <quern/scheduler/detail/process_registry.hpp>

#include "processes/child.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using quern::detail::off_the_clock;
using quern::detail::periodic_call;
using quern_test::alone;
using quern_test::eventually;
using quern_test::fork_and_wait;
using clock_type = periodic_call::clock;

/// The layer: it counts the calls of its policies.
struct policy {
    policy(const char* name, std::chrono::nanoseconds period)
        : call(name, period, [this] {
              thread = quern_test::os_thread();
              calls.fetch_add(1);
          }) {}

    std::atomic<int> calls{0};
    std::atomic<pid_t> thread{0};
    periodic_call call;  ///< the last member: it uses the others
};

std::vector<std::filesystem::path> time_threads() {
    std::vector<std::filesystem::path> all;
    std::error_code gone;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task", gone)) {
        std::string name;
        std::ifstream(each.path() / "comm") >> name;
        if (name == "quern-time") {
            all.push_back(each.path());
        }
    }
    return all;
}

/// A thread that has been joined may be seen for a moment.
bool come_to(std::size_t threads) {
    return eventually([threads] { return time_threads().size() == threads; });
}

/// How often the threads for time have gone to sleep.
long sleeps() {
    long sum = 0;
    for (const auto& each : time_threads()) {
        std::ifstream in(each / "status");
        for (std::string word; in >> word;) {
            if (word == "voluntary_ctxt_switches:") {
                long count = 0;
                in >> count;
                sum += count;
            }
        }
    }
    return sum;
}

bool is_harmless(pid_t thread) {
    const auto& all = quern::detail::process_registry::of_process();
    const std::scoped_lock guard(quern::detail::process_registry::lock());
    for (auto* each = all.harmless.front(); each != nullptr; each = all.harmless.after(*each)) {
        if (each->thread == thread) {
            return true;
        }
    }
    return false;
}

TEST(clock_test, calls_policies_of_different_periods_on_one_thread_that_ends_with_the_last) {
    EXPECT_TRUE(come_to(0));
    {
        policy often("often", 1ms);
        {
            policy seldom("seldom", 20ms);
            EXPECT_TRUE(eventually([&] { return seldom.calls >= 5 && often.calls >= 5; }));
            EXPECT_GT(often.calls, seldom.calls);
            EXPECT_EQ(often.thread, seldom.thread);
            EXPECT_TRUE(is_harmless(often.thread));
        }
        EXPECT_TRUE(come_to(1));
    }
    EXPECT_TRUE(come_to(0));
}

TEST(clock_test, a_call_that_is_late_by_whole_periods_leaves_them_out) {
    std::vector<clock_type::time_point> at;
    std::atomic<bool> is_done{false};
    const auto start = clock_type::now();
    periodic_call call("late", 10ms, [&] {
        at.push_back(clock_type::now());
        if (at.size() == 1) {
            std::this_thread::sleep_for(35ms);
        }
        is_done = at.size() >= 3;
    });
    ASSERT_TRUE(eventually([&] { return is_done.load(); }));
    EXPECT_GE(at[1] - start, 50ms) << "due at 20, 30 and 40 ms: left out";
    EXPECT_GE(at[2] - start, 60ms);
}

TEST(clock_test, after_an_exception_the_others_are_still_called) {
    policy good("good", 1ms);
    std::atomic<int> attempts{0};
    testing::internal::CaptureStderr();
    {
        periodic_call bad("bad policy", 1ms, [&] {
            attempts.fetch_add(1);
            throw std::runtime_error("no such knob");
        });
        EXPECT_TRUE(eventually([&] { return attempts == 1; }));
        const int before = good.calls;
        EXPECT_TRUE(eventually([&] { return good.calls > before + 5; }));
        bad.hurry(clock_type::now());
        EXPECT_TRUE(eventually([&] { return good.calls > before + 10; }));
    }
    EXPECT_EQ(attempts, 1);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "quern: 'bad policy' threw an exception and is not called again: no such knob\n");
}

TEST(clock_test, destruction_waits_for_the_call_in_progress) {
    for (int i = 0; i < quern_test::scaled(200, 20); ++i) {
        std::atomic<bool> is_in{false};
        std::atomic<bool> was_out{false};
        std::optional<periodic_call> call(std::in_place, "slow", clock_type::now(), [&] {
            is_in = true;
            std::this_thread::sleep_for(200us);
            was_out = true;
            return clock_type::now();  // due again at once
        });
        while (!is_in) {
        }
        call.reset();
        EXPECT_TRUE(was_out);
        is_in = false;
        std::this_thread::sleep_for(100us);
        EXPECT_FALSE(is_in);
    }
    EXPECT_TRUE(come_to(0));
}

TEST(clock_test, a_function_may_destroy_its_own_call_and_then_the_thread_sleeps) {
    struct one_shot {
        std::unique_ptr<periodic_call> call;
        std::atomic<int> calls{0};
    } mine;
    auto held = std::make_shared<int>(1);
    const std::weak_ptr<int> seen = held;
    std::atomic<bool> may_run{false};
    mine.call = std::make_unique<periodic_call>("once", clock_type::now(), [&, held] {
        while (!may_run) {
        }
        mine.call.reset();
        mine.calls += *held;  // what it holds is still there
        return clock_type::now();
    });
    held.reset();
    may_run = true;
    EXPECT_TRUE(eventually([&] { return seen.expired(); }));
    EXPECT_EQ(mine.calls, 1);
    EXPECT_TRUE(come_to(1));
    std::this_thread::sleep_for(20ms);
    const long before = sleeps();
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(sleeps(), before) << "it wakes although no function is registered";
    {
        policy next("next", 1ms);
        EXPECT_TRUE(eventually([&] { return next.calls > 0; }));
        EXPECT_TRUE(come_to(1));
    }
    EXPECT_TRUE(come_to(0));
}

TEST(clock_test, one_function_may_destroy_and_make_others) {
    std::optional<policy> other(std::in_place, "other", 1ms);
    std::atomic<bool> is_done{false};
    periodic_call first("first", clock_type::now(), [&] {
        other.reset();
        other.emplace("another", 1ms);
        is_done = true;
        return clock_type::time_point::max();
    });
    ASSERT_TRUE(eventually([&] { return is_done.load(); }));
    EXPECT_TRUE(eventually([&] { return other->calls > 3; }));
}

TEST(clock_test, sleeps_until_something_is_due) {
    std::atomic<int> calls{0};
    periodic_call far("far", clock_type::now() + 1h, [&] {
        calls.fetch_add(1);
        return clock_type::time_point::max();
    });
    ASSERT_TRUE(eventually([] { return sleeps() > 0; }));
    std::this_thread::sleep_for(20ms);
    const long before = sleeps();
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(sleeps(), before);
    EXPECT_EQ(calls, 0);
    far.hurry(clock_type::now());
    EXPECT_TRUE(eventually([&] { return calls == 1; }));
}

TEST(clock_test, is_called_when_a_descriptor_is_ready) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC), 0);
    std::atomic<int> sum{0};
    std::optional<periodic_call> reads;
    reads.emplace("reads", clock_type::now() + 1h, [&] {
        unsigned char value = 0;
        while (::read(ends[0], &value, 1) == 1) {
            sum += value;
        }
        return clock_type::time_point::max();
    });
    reads->await(std::array{pollfd{ends[0], POLLIN, 0}, pollfd{-1, POLLIN, 0}});
    for (unsigned char i = 1; i <= 100; ++i) {
        ASSERT_EQ(::write(ends[1], &i, 1), 1);
        ASSERT_TRUE(eventually([&] { return sum == i * (i + 1) / 2; }));
    }
    reads.reset();
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(clock_test, the_others_are_on_time_while_one_is_off_the_clock) {
    policy good("good", 1ms);
    std::atomic<bool> is_in{false};
    std::atomic<bool> may_leave{false};
    std::atomic<bool> was_harmless{true};
    std::atomic<int> slow_calls{0};
    periodic_call slow("slow", 1ms, [&] {
        const off_the_clock waits_for_the_program;
        was_harmless = is_harmless(quern_test::os_thread());
        is_in = true;
        while (!may_leave) {
            std::this_thread::sleep_for(1ms);
        }
        slow_calls.fetch_add(1);
    });
    ASSERT_TRUE(eventually([&] { return is_in.load(); }));
    EXPECT_FALSE(was_harmless);
    const int before = good.calls;
    EXPECT_TRUE(eventually([&] { return good.calls > before + 20; }));
    EXPECT_EQ(slow_calls, 0);
    may_leave = true;
    EXPECT_TRUE(eventually([&] { return slow_calls > 20; }));
    EXPECT_TRUE(come_to(2)) << "no thread for each call";
}

TEST(clock_test, calls_come_and_go_on_several_threads) {
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i) {
        all.emplace_back([i] {
            for (int k = 0; k < quern_test::scaled(200, 20); ++k) {
                std::atomic<int> calls{0};
                periodic_call one("one", clock_type::now(), [&] {
                    const off_the_clock sometimes((i + k) % 2 == 0);
                    calls.fetch_add(1);
                    return clock_type::now() + 50us;
                });
                one.hurry(clock_type::now() + 10us);
                while (k % 3 == 0 && calls < 3) {
                }
            }
        });
    }
    for (std::thread& each : all) {
        each.join();
    }
    EXPECT_TRUE(come_to(0));
}

TEST(clock_test, the_child_of_a_fork_has_its_own_and_not_its_parents) {
    if (quern::detail::k_tsan) {
        GTEST_SKIP() << "ThreadSanitizer refuses threads in the child of a fork";
    }
    const auto end = alone([] {
        auto parents = std::make_unique<policy>("parent's", 1ms);
        if (parents->call.inherited() || !eventually([&] { return parents->calls > 0; })) {
            return 1;
        }
        const int in_child = fork_and_wait([&] {
            const int before = parents->calls;
            policy own("child's", 1ms);
            const bool works = eventually([&] { return own.calls > 5; });
            const bool is_right = parents->call.inherited() && parents->calls == before;
            parents->call.hurry(clock_type::now());
            parents.reset();
            return works && is_right && time_threads().size() == 1 ? 0 : 2;
        });
        const int before = parents->calls;
        return eventually([&] { return parents->calls > before + 5; }) ? in_child : 3;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

TEST(clock_test, a_function_may_fork) {
    const auto end = alone([] {
        std::atomic<int> status{-1};
        periodic_call forks("forks", clock_type::now(), [&] {
            status = fork_and_wait([] { return 7; });
            return clock_type::time_point::max();
        });
        return eventually([&] { return status != -1; }) ? status.load() : 1;
    });
    EXPECT_EQ(end.status, 7) << end.output;
}

TEST(clock_test, the_process_may_end_at_any_time) {
    for (int i = 0; i < quern_test::scaled(20, 5); ++i) {
        const auto end = alone([i] {
            return fork_and_wait(
                [i] {
                    static policy kept("kept until static objects are destroyed", 50us);
                    new policy("kept for ever", 50us);
                    struct guarded {
                        std::mutex lock;
                        std::unique_ptr<periodic_call> call;
                    };
                    static auto& once = *new guarded;
                    {
                        const std::scoped_lock guard(once.lock);
                        const auto soon = clock_type::now() + 100us;
                        once.call = std::make_unique<periodic_call>("once", soon, [] {
                            const std::scoped_lock inner(once.lock);
                            once.call.reset();
                            return clock_type::time_point::max();
                        });
                    }
                    std::this_thread::sleep_for(std::chrono::microseconds(i * 50));
                    return 5;
                },
                std::exit);
        });
        EXPECT_EQ(end.status, 5) << end.output;
    }
}

TEST(clock_test, all_of_a_program_that_is_observed_share_one_thread) {
    const auto end = quern_test::in_child(
        {.arguments = {"--quern:print-counter=/runtime/uptime", "--quern:print-counter-interval=10",
                       "--quern:print-counter-destination=/dev/null", "--quern:hang-report=5",
                       "--quern:live=on"}},
        [](int& argc, char** argv) {
            if (!quern::take_command_line(argc, argv)) {
                return 1;
            }
            quern::runtime rt;
            quern::trace::recorder recorder(rt);
            auto sampled = quern::counters::create("/statistics{/runtime/uptime}/max@1", rt);
            const bool works = eventually([&] { return sampled.value().ok(); });
            recorder.stop();
            return works ? static_cast<int>(10 + time_threads().size()) : 2;
        });
    EXPECT_EQ(end.status, 11) << end.output;
}

}  // namespace
