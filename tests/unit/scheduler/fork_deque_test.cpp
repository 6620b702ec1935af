// SPDX-License-Identifier: BSL-1.0
// The fork deque on real processors, with the system's own barrier, which the models cannot cover.
#include <quern/scheduler/detail/fork_deque.hpp>

#include "on_runtime.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace {

using quern::detail::std_atomics;

struct entry {
    int argument = 0;
    int result = 0;
    std::atomic<int> runs{0};
    std::atomic<bool> done{false};

    void run() {
        runs.fetch_add(1, std::memory_order_relaxed);
        result = argument + 1;
    }
};

constexpr int k_depth = 6;

class family {
public:
    /// Forks nested `level` deep, none of which the owner publishes.
    void fork(int level) {
        if (level == k_depth) {
            return;
        }
        entry child;
        child.argument = level;
        slot* const place = &m_slots[static_cast<std::size_t>(level)];
        m_deque.push(place, &child);
        fork(level + 1);
        if (m_deque.pop(place) || m_deque.reclaim(place)) {
            child.run();
        } else {
            while (!child.done.load(std::memory_order_acquire)) {
                std::this_thread::yield();
            }
            m_deque.reset(place);
            ++m_stolen;
        }
        m_wrong += child.runs.load() != 1 || child.result != level + 1;
    }

    void steal_until(const std::atomic<bool>& stop) {
        while (!stop.load(std::memory_order_relaxed)) {
            m_deque.take_over();
            if (entry* const taken = m_deque.steal()) {
                taken->run();
                taken->done.store(true, std::memory_order_release);  // pairs with fork
            }
        }
    }

    int stolen() const { return m_stolen; }
    int wrong() const { return m_wrong; }

private:
    using deque = quern::detail::fork_deque<std_atomics, entry>;
    using slot = deque::slot;

    std::array<slot, k_depth + 1> m_slots{};
    deque m_deque{m_slots.data(), m_slots.data() + k_depth};
    int m_stolen = 0;
    int m_wrong = 0;
};

TEST(fork_deque, runs_each_entry_once_while_thieves_take_over) {
    if (!std_atomics::has_heavy_barrier()) {
        GTEST_SKIP() << "the system has no barrier for all processors";
    }
    family all;
    std::atomic<bool> stop{false};
    std::vector<std::thread> thieves;
    for (int i = 0; i < 2; ++i) {
        thieves.emplace_back([&] { all.steal_until(stop); });
    }
    // Beside many other programs thieves and owner seldom run at the same time: fewer thefts then.
    static_cast<void>(quern_test::eventually([&all] {
        for (int i = 0; i < 1'000; ++i) {
            all.fork(0);
        }
        return all.stolen() >= quern_test::scaled(500, 100);
    }));
    stop = true;
    for (std::thread& t : thieves) {
        t.join();
    }
    EXPECT_GT(all.stolen(), 0);
    EXPECT_EQ(all.wrong(), 0);
}

}  // namespace
