// SPDX-License-Identifier: BSL-1.0
// Listeners begin and end while other threads tell events; what the functions of a listener may do,
// and what they must not.
#include <quern/task/async.hpp>
#include <quern/trace/listener.hpp>
#include <quern/trace/recorder.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <thread>

namespace {

using quern::trace::custom_event;
using quern::trace::event_kind;
using quern::trace::listen;
using quern::trace::task_event;

constexpr custom_event k_fired("fired");

class listening_test : public quern_test::on_runtime {};

/// Logs what it hears, as a policy does.
struct logging final : quern::trace::listener {
    void on_custom(const task_event&, const custom_event&, double value) noexcept override {
        quern::trace::mark("policy", "decided");
        quern::trace::sample("value", value);
        ++calls;
    }
    std::atomic<int> calls{0};
};

// Holds: custom_event: A listener's function for it may call mark() and sample().
TEST_P(listening_test, may_log_what_it_does_while_others_come_and_go) {
    quern::trace::recorder records(rt);
    logging policy;
    const auto handle = listen(policy, event_kind::custom);
    std::atomic<bool> enough{false};
    std::thread others([&] {
        while (!enough) {
            quern::trace::listener deaf;
            const auto briefly = listen(deaf);
        }
    });
    constexpr int k_events = 500;
    inside([] {
        for (int i = 0; i < k_events; ++i) {
            k_fired.fire(i);
        }
    });
    enough = true;
    others.join();
    EXPECT_EQ(policy.calls, k_events);
    EXPECT_EQ(records.stop().decisions.size(), std::size_t{k_events});
}

/// Must not be called when it has stopped.
struct mortal final : quern::trace::listener {
    explicit mortal(std::atomic<int>& f) : faults(f) {}
    ~mortal() override { is_alive = false; }
    void on_custom(const task_event&, const custom_event&, double) noexcept override {
        ++heard;
        std::this_thread::yield();
        faults += is_alive ? 0 : 1;
    }
    void on_made(const task_event&) noexcept override { faults += is_alive ? 0 : 1; }

    std::atomic<int>& faults;
    std::atomic<bool> is_alive{true};
    std::atomic<int> heard{0};
};

// Holds: listener: When stop() has returned, no call is in progress and none will come.
TEST_P(listening_test, is_not_called_after_its_end_by_any_thread) {
    std::atomic<bool> enough{false};
    std::atomic<int> faults{0};
    const auto fire = [&] {
        while (!enough) {
            k_fired.fire();
        }
    };
    auto task = quern::async(rt, [&] {
        while (!enough) {
            quern::async([] { k_fired.fire(); }).get();
        }
    });
    std::array<std::thread, 3> threads{std::thread(fire), std::thread(fire), std::thread(fire)};
    for (int i = 0; i < quern_test::scaled(60, 30); ++i) {
        mortal one(faults);
        auto handle = listen(one, event_kind::custom | event_kind::task_made);
        if (i % 10 == 0) {
            EXPECT_TRUE(quern_test::eventually([&] { return one.heard > 0; }));
        }
        handle.stop();
        const int heard = one.heard;
        std::this_thread::yield();
        EXPECT_EQ(one.heard, heard);
    }
    enough = true;
    for (std::thread& each : threads) {
        each.join();
    }
    task.get();
    EXPECT_EQ(faults, 0);
}

/// Stops itself, or listens once more, where neither may be done.
struct confused final : quern::trace::listener {
    void on_custom(const task_event&, const custom_event&, double value) noexcept override {
        if (value != 0) {
            own.stop();
        }
        try {
            own = listen(*this);
        } catch (const std::logic_error&) {
            ++refused;
        }
    }
    void on_start(const task_event&) noexcept override { own.stop(); }

    quern::trace::listening own;
    std::atomic<int> refused{0};
};

// Holds: listener: listen() throws in a listener's function.
TEST_P(listening_test, cannot_listen_from_a_call) {
    confused one;
    one.own = listen(one, event_kind::custom);
    inside([] { k_fired.fire(0); });
    EXPECT_EQ(one.refused, 1);
}

// Holds: listener: stop() in a listener's function aborts, since it would wait for itself.
TEST(listening_death_test, stopping_from_a_call_aborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    confused one;
    EXPECT_DEATH(
        {
            one.own = listen(one, event_kind::custom);
            k_fired.fire(1);
        },
        "stop.. was called by a function of a listener");
    EXPECT_DEATH(
        {
            one.own = listen(one, event_kind::task_start);
            const quern::runtime rt(quern::runtime_options::with_workers(1));
            quern::async([] {}).get();
        },
        "stop.. was called by a function of a listener");
}

QUERN_ON_1_2_8_WORKERS(listening_test);

}  // namespace
