// SPDX-License-Identifier: BSL-1.0
// Suspending and resuming at full speed, among workers and from outside: no wake-up is lost and
// nothing is run twice.
#include "stopwatch.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/task/promise.hpp>

#include <array>
#include <thread>
#include <vector>

namespace {

using quern_test::random_for;
using quern_test::stopwatch;

class ping_pong : public quern_test::on_runtime {};
QUERN_ON_FIRST_POLICIES(ping_pong, 2);

/// A place where one task waits for another: the second to arrive resumes the first.
class meeting_place {
public:
    void meet() {
        auto publish = [this](quern::detail::context& self) {
            quern::detail::context* other = m_waiting.exchange(&self, std::memory_order_acq_rel);
            if (other == nullptr) {
                return true;
            }
            m_waiting.store(nullptr, std::memory_order_release);
            quern::detail::resume(*other);
            return false;
        };
        quern::detail::suspend(publish);
    }

private:
    std::atomic<quern::detail::context*> m_waiting{nullptr};
};

TEST_P(ping_pong, between_two_tasks) {
    // Each side counts in the other's plain variable while the other waits.
    constexpr int k_rounds = quern_test::scaled(20'000, 1'000);
    for (const stopwatch watch(0.5); watch.running();) {
        long value = 0;
        meeting_place odd, even;
        const auto player = [&](int me) {
            for (int i = 0; i < k_rounds; ++i) {
                if (i % 2 == me) {
                    ++value;
                }
                (i % 2 == 0 ? even : odd).meet();
            }
        };
        auto a = quern::async(rt, player, 0);
        auto b = quern::async(rt, player, 1);
        a.get();
        b.get();
        ASSERT_EQ(value, k_rounds);
    }
}

TEST_P(ping_pong, in_a_ring_of_tasks) {
    constexpr std::size_t k_tasks = 50;
    constexpr int k_rounds = quern_test::scaled(100, 20);
    for (const stopwatch watch(0.5); watch.running();) {
        std::vector<std::vector<quern::promise<int>>> send(k_tasks);
        std::vector<std::vector<quern::future<int>>> receive(k_tasks);
        for (std::size_t t = 0; t < k_tasks; ++t) {
            for (int i = 0; i < k_rounds; ++i) {
                send[t].emplace_back();
                receive[(t + 1) % k_tasks].push_back(send[t].back().get_future());
            }
        }
        std::vector<quern::future<int>> all;
        for (std::size_t t = 0; t < k_tasks; ++t) {
            all.push_back(quern::async(rt, [&, t] {
                int token = 0;
                for (std::size_t i = 0; i < k_rounds; ++i) {
                    if (t == 0) {
                        send[t][i].set_value(token + 1);
                        token = receive[t][i].get();
                    } else {
                        token = receive[t][i].get() + 1;
                        send[t][i].set_value(token);
                    }
                }
                return token;
            }));
        }
        ASSERT_EQ(all[0].get(), k_rounds * static_cast<int>(k_tasks));
        for (std::size_t t = 1; t < k_tasks; ++t) {
            all[t].get();
        }
    }
}

TEST_P(ping_pong, between_tasks_and_a_thread) {
    auto random = random_for(workers());
    for (const stopwatch watch(0.5); watch.running();) {
        constexpr int k_rounds = 200;
        std::array<quern::promise<int>, k_rounds> to_task, to_thread;
        std::array<quern::future<int>, k_rounds> in_task, in_thread;
        for (std::size_t i = 0; i < k_rounds; ++i) {
            in_task[i] = to_task[i].get_future();
            in_thread[i] = to_thread[i].get_future();
        }
        auto task = quern::async(rt, [&] {
            for (std::size_t i = 0; i < k_rounds; ++i) {
                to_thread[i].set_value(in_task[i].get() + 1);
            }
        });
        for (std::size_t i = 0; i < k_rounds; ++i) {
            if (random.below(8) == 0) {
                std::this_thread::yield();
            }
            to_task[i].set_value(static_cast<int>(i));
            ASSERT_EQ(in_thread[i].get(), static_cast<int>(i) + 1);
        }
        task.get();
    }
}

TEST_P(ping_pong, of_many_tasks_that_only_let_one_another_run) {
    for (const stopwatch watch(0.5); watch.running();) {
        std::vector<quern::future<void>> all;
        for (int t = 0; t < 100; ++t) {
            all.push_back(quern::async(rt, [] {
                for (int i = 0; i < 50; ++i) {
                    quern_test::let_others_run();
                }
            }));
        }
        for (auto& f : all) {
            f.get();
        }
    }
}

}  // namespace
