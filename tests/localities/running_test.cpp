// SPDX-License-Identifier: BSL-1.0
// Functions that wait, call further ones or block, and what then becomes of the calls behind them.
#include "on_job.hpp"

#include <quern/scheduler/held_locks.hpp>
#include <quern/sync/channel.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/blocking_region.hpp>
#include <quern/task/task_hold.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace quern_test;
using namespace std::chrono_literals;
using quern::localities::count;
using quern::localities::here;
using quern::localities::post_to;
using quern::localities::run_at;

constexpr std::size_t k_pairs = 100;

/// Of each call in a ring of localities there is one caller, so one set of these is enough.
struct meetings {
    std::array<quern::event, k_pairs> events;
    std::atomic<int> met{0};
    std::atomic<bool> is_open{false};
    std::atomic<bool> is_over{false};
    quern::channel<int> numbers;
    quern::mutex lock;
    int under_lock = 0;
};
std::unique_ptr<meetings> g_here;

/// A case that calls the next locality of the ring, with meetings of its own.
class localities_running : public on_workers {
protected:
    void TearDown() override {
        m_job->end();
        g_here.reset();
    }

private:
    static void prepare() { g_here = std::make_unique<meetings>(); }
    std::unique_ptr<own_job> m_job = (prepare(), std::make_unique<own_job>(GetParam()));
};

void wait_for(std::size_t pair) {
    g_here->events[pair].wait();
    ++g_here->met;
}
void set(std::size_t pair) { g_here->events[pair].set(); }

// Holds: run_at: A function that waits does not delay those that were called after it.
TEST_P(localities_running, a_function_may_wait_for_one_that_is_called_later) {
    std::vector<quern::future<void>> calls;
    for (std::size_t pair = 0; pair < k_pairs; ++pair) {
        calls.push_back(run_at(next_locality(), &wait_for, pair));
        calls.push_back(run_at(next_locality(), &set, pair));
    }
    for (auto& each : calls) {
        each.get();
    }
    EXPECT_EQ(run_at(next_locality(), [] { return g_here->met.load(); }).get(), int{k_pairs});
}

// Holds: run_at: A function that waits...
TEST_P(localities_running, all_may_wait_before_the_first_that_wakes_one_is_called) {
    std::vector<quern::future<void>> calls;
    for (std::size_t pair = 0; pair < k_pairs; ++pair) {
        calls.push_back(run_at(next_locality(), &wait_for, pair));
    }
    for (std::size_t pair = k_pairs; pair-- > 0;) {
        calls.push_back(run_at(next_locality(), &set, pair));
    }
    for (auto& each : calls) {
        each.get();
    }
    EXPECT_EQ(run_at(next_locality(), [] { return g_here->met.load(); }).get(), int{k_pairs});
}

// Holds: post_to: A function that waits does not delay those that were posted after it.
TEST_P(localities_running, a_posted_function_may_wait_for_one_that_is_posted_later) {
    for (std::size_t pair = 0; pair < k_pairs; ++pair) {
        post_to(next_locality(), &wait_for, pair);
        post_to(next_locality(), &set, pair);
    }
    const auto all_have_met = [] {
        while (g_here->met != int{k_pairs}) {
            quern::this_task::yield();
        }
    };
    run_at(next_locality(), all_have_met).get();
}

// Holds: run_at: The function is a task, which may wait in all ways in which a task waits.
TEST_P(localities_running, functions_may_sleep_lock_receive_and_wait_for_tasks) {
    constexpr int k_calls = 50;
    const auto wait_in_turn = [](int number) {
        EXPECT_TRUE(quern::this_task::is_task());
        quern::this_task::sleep_for(std::chrono::microseconds(50 * (number % 4)));
        {
            const std::scoped_lock lock(g_here->lock);
            const quern::ignore_held_locks meant;
            quern::this_task::yield();
            ++g_here->under_lock;
        }
        const int received = g_here->numbers.receive().value_or(-1);
        return received + quern::async([number] { return 1000 * number; }).get();
    };
    std::vector<quern::future<int>> calls;
    int expected = 0;
    for (int i = 0; i < k_calls; ++i) {
        calls.push_back(run_at(next_locality(), wait_in_turn, i));
        post_to(
            next_locality(), [](int number) { g_here->numbers.send(number); }, i);
        expected += 1001 * i;
    }
    int sum = 0;
    for (auto& each : calls) {
        sum += each.get();
    }
    EXPECT_EQ(sum, expected);
    EXPECT_EQ(run_at(next_locality(), [] { return g_here->under_lock; }).get(), k_calls);
}

// Holds: run_at: A function that blocks in a blocking_region does not delay those that were called
// after it.
TEST_P(localities_running, a_function_may_block_in_a_region_until_a_later_one_has_run) {
    const auto block = [] {
        return quern::blocking([] { return eventually([] { return g_here->is_open.load(); }); });
    };
    std::vector<quern::future<bool>> blocked;
    for (int i = 0; i < 10; ++i) {
        blocked.push_back(run_at(next_locality(), block));
    }
    run_at(next_locality(), [] { g_here->is_open = true; }).get();
    for (auto& each : blocked) {
        EXPECT_TRUE(each.get());
    }
}

// Holds: run_at: A function that blocks its worker does not delay one that came in another message,
// while there is another worker.
TEST_P(localities_running, a_function_that_blocks_leaves_other_messages_to_other_workers) {
    if (GetParam() == 1) {
        return;
    }
    const auto block = [] { return eventually([] { return g_here->is_open.load(); }); };
    auto blocked = run_at(next_locality(), block);  // the link is idle: each is a message
    auto opened = run_at(next_locality(), [] { g_here->is_open = true; });
    EXPECT_TRUE(blocked.get());
    opened.get();
}

/// Its function for serialisation waits while it is read, and may throw then.
class read_slowly {
public:
    read_slowly() = default;
    explicit read_slowly(int number)
        : m_number(number), m_text(static_cast<std::size_t>(number) % 500, 'x') {}
    bool is_whole() const {
        return m_text == std::string(static_cast<std::size_t>(m_number) % 500, 'x');
    }
    int number() const { return m_number; }

    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_number);
        if (Archive::is_loading::value) {
            wait();
        }
        archive(m_text);
    }

private:
    void wait() const {
        switch (m_number % 6) {
            case 0:
                quern::this_task::yield();
                break;
            case 1:
                quern::this_task::sleep_for(50us);
                break;
            case 2:
                quern::this_task::yield();
                throw std::range_error("cannot be read");
            default:  // at once
                break;
        }
    }

    int m_number = 0;
    std::string m_text;
};

// Holds: run_at: A function for serialisation may wait, and delays no other call.
TEST_P(localities_running, arguments_and_results_may_wait_while_they_are_read) {
    constexpr int k_calls = 600;
    if (next_locality() == here()) {
        return;  // nothing is read
    }
    const auto check = [](read_slowly of) {
        if (!of.is_whole()) {
            throw std::logic_error("its bytes have changed");
        }
        return of;
    };
    std::vector<quern::future<read_slowly>> calls;
    for (int i = 0; i < k_calls; ++i) {
        calls.push_back(run_at(next_locality(), check, read_slowly(i)));
    }
    for (int i = 0; i < k_calls; ++i) {
        auto& call = calls[static_cast<std::size_t>(i)];
        if (i % 6 == 2) {
            EXPECT_THROW(call.get(), quern::localities::remote_error);
        } else {
            const read_slowly result = call.get();
            EXPECT_EQ(result.number(), i);
            EXPECT_TRUE(result.is_whole());
        }
    }
}

int fibonacci(int n) {
    if (n < 2) {
        return n;
    }
    const int next = locality_after(here());
    auto first = run_at(next, &fibonacci, n - 1);
    const int second = run_at(locality_after(next), &fibonacci, n - 2).get();
    return first.get() + second;
}

// Holds: run_at: A called function may call others, at any locality.
TEST_P(localities_running, a_recursion_goes_over_all_localities) {
    EXPECT_EQ(run_at(next_locality(), &fibonacci, 12).get(), 144);
}

int depth_below(int n) {
    return n == 0 ? 0 : 1 + run_at(next_locality(), &depth_below, n - 1).get();
}

// Holds: run_at: A called function...
TEST_P(localities_running, a_chain_of_waiting_calls_goes_round_and_back) {
    std::vector<quern::future<int>> chains;
    for (int i = 0; i < 8; ++i) {
        chains.push_back(run_at(i % count(), &depth_below, 50));
    }
    for (auto& each : chains) {
        EXPECT_EQ(each.get(), 50);
    }
}

// Holds: run_at: The answer comes after the function's holds have been dropped.
TEST_P(localities_running, an_answer_waits_for_the_holds_of_its_task) {
    const auto hold_on = [] {
        auto hold = std::make_shared<quern::task_hold>(quern::this_task::hold());
        std::thread([hold] {
            std::this_thread::sleep_for(20ms);
            g_here->is_over = true;
            hold->drop();
        }).detach();
        return 7;
    };
    EXPECT_EQ(run_at(next_locality(), hold_on).get(), 7);
    EXPECT_TRUE(run_at(next_locality(), [] { return g_here->is_over.load(); }).get());
}

QUERN_ON_1_2_WORKERS(localities_running);

}  // namespace
