// SPDX-License-Identifier: BSL-1.0
// Producers and consumers of futures, in random order and with random delays: tasks on one side,
// tasks and threads on the other.
#include "stopwatch.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/task/promise.hpp>
#include <quern/task/when.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace {

using quern::future;
using quern::promise;
using quern::shared_future;
using quern_test::random_for;
using quern_test::stopwatch;

class producers : public quern_test::on_runtime {
protected:
    /// 0 … n-1 in an order that the seed determines.
    static std::vector<std::size_t> shuffled(std::size_t n, quern::detail::rng& random) {
        std::vector<std::size_t> order(n);
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (std::size_t i = n; i > 1; --i) {
            std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
        }
        return order;
    }
};
QUERN_ON_FIRST_POLICIES(producers, 2);

TEST_P(producers, and_consumers_meet_in_any_order) {
    auto random = random_for(workers());
    constexpr std::size_t k_items = quern_test::scaled(2'000U, 200U);
    for (const stopwatch watch(0.8); watch.running();) {
        std::vector<promise<std::unique_ptr<std::size_t>>> out(k_items);
        std::vector<future<std::unique_ptr<std::size_t>>> in;
        for (auto& p : out) {
            in.push_back(p.get_future());
        }
        std::vector<future<void>> tasks;
        for (const std::size_t i : shuffled(k_items, random)) {
            tasks.push_back(quern::async(rt, [&in, i] { ASSERT_EQ(*in[i].get(), i); }));
        }
        const auto order = shuffled(k_items, random);
        std::thread half([&] {
            for (std::size_t k = 0; k < k_items / 2; ++k) {
                out[order[k]].set_value(std::make_unique<std::size_t>(order[k]));
            }
        });
        for (std::size_t k = k_items / 2; k < k_items; ++k) {
            const std::size_t i = order[k];
            tasks.push_back(quern::async(
                rt, [&out, i] { out[i].set_value(std::make_unique<std::size_t>(i)); }));
        }
        for (auto& t : tasks) {
            t.get();
        }
        half.join();
    }
}

TEST_P(producers, that_give_up_break_their_promises) {
    auto random = random_for(10 + workers());
    for (const stopwatch watch(0.5); watch.running();) {
        std::vector<future<int>> readers;
        for (int i = 0; i < 200; ++i) {
            auto p = std::make_shared<promise<int>>();
            shared_future<int> f = p->get_future().share();
            const bool keeps = random.below(2) == 0;
            for (int r = 0; r < 3; ++r) {
                readers.push_back(quern::async(rt, [f] {
                    try {
                        return f.get();
                    } catch (const std::future_error&) {
                        return -1;
                    }
                }));
            }
            quern::post({.pool = &rt.default_pool().get()}, [p = std::move(p), keeps]() mutable {
                if (keeps) {
                    p->set_value(1);
                }
                p.reset();
            });
            if (i % 16 == 0) {
                quern::async(rt, [] { quern_test::let_others_run(); }).get();
            }
        }
        for (auto& r : readers) {
            const int value = r.get();
            ASSERT_TRUE(value == 1 || value == -1);
        }
    }
}

TEST_P(producers, of_groups_of_futures_are_waited_for_together) {
    auto random = random_for(20 + workers());
    for (const stopwatch watch(0.5); watch.running();) {
        std::vector<future<std::size_t>> groups;
        for (int g = 0; g < 20; ++g) {
            std::vector<future<std::size_t>> parts;
            const std::size_t n = random.below(20);
            for (std::size_t i = 0; i < n; ++i) {
                const bool waits = random.below(2) == 0;
                parts.push_back(quern::async(rt, [i, waits] {
                    if (waits) {
                        quern_test::let_others_run();
                    }
                    return i;
                }));
            }
            groups.push_back(quern::when_all(std::move(parts)).then([n](auto all) {
                std::size_t sum = 0;
                for (auto& f : all.get()) {
                    sum += f.get();
                }
                return sum == (n == 0 ? 0 : n * (n - 1) / 2) ? std::size_t{1} : std::size_t{0};
            }));
        }
        for (auto& g : groups) {
            ASSERT_EQ(g.get(), 1U);
        }
    }
}

}  // namespace
