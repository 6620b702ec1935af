// SPDX-License-Identifier: BSL-1.0
// The state of a task under load: tasks take random steps (waits of all kinds, children, fresh
// stacks, blocking regions, pinned stretches), nested at random, while the number of active workers
// changes. After each step they check their task-local value, their exception and, when pinned,
// their worker. The values are plain, so that ThreadSanitizer detects races.
#include "stopwatch.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/quern.hpp>

#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using quern::detail::rng;
using quern_test::random_for;
using quern_test::scaled;
using quern_test::stopwatch;

std::atomic<int> g_alive{0};

struct belonging {
    belonging() { ++g_alive; }
    belonging(const belonging&) = delete;
    belonging& operator=(const belonging&) = delete;
    ~belonging() {
        if (owner % 8 == 0) {
            quern::this_task::yield();  // a destructor may wait
        }
        --g_alive;
    }
    std::uint64_t owner = 0;
    std::string text;
};
quern::task_local<belonging> g_mine;
quern::task_local<int> g_steps;

/// One task, or a part of it that its parent runs.
class walker {
public:
    walker(std::atomic<int>& faults, std::uint64_t seed, int budget)
        : m_faults(faults), m_random(seed), m_budget(budget) {}

    void operator()() {
        m_id = quern::this_task::id();
        expect(!g_mine.has_value());
        g_mine->owner = m_id;
        g_mine->text = std::to_string(m_id);
        *g_steps = 0;
        walk(6);
        expect(*g_steps >= 6);
    }

private:
    void expect(bool holds) { m_faults += holds ? 0 : 1; }

    void look() {
        expect(quern::this_task::id() == m_id);
        expect(g_mine->owner == m_id && g_mine->text == std::to_string(m_id));
        ++*g_steps;
        if (m_pinned_to) {
            expect(quern::current_worker_rank() == *m_pinned_to);
        }
    }

    void walk(int steps) {
        for (int i = 0; i < steps; ++i) {
            step();
            look();
        }
    }

    walker child() { return {m_faults, m_random.next(), m_budget - 1}; }

    void step() {
        switch (m_budget > 0 ? m_random.below(11) : m_random.below(5)) {
            case 0:
                return quern::this_task::yield();
            case 1:
                return quern::this_task::sleep_for(std::chrono::microseconds(m_random.below(60)));
            case 2:
                return blocking_stretch();
            case 3:
                return pinned_stretch();
            case 4:
                return thrown_and_caught();
            case 5:
                return quern::async(child()).get();
            case 6:
                return quern::thread(child()).join();
            case 7:
                return group_of_children();
            case 8:
                return forked_children();
            case 9:
                return quern::async(quern::launch::fork, child()).get();
            default:
                return on_a_fresh_stack();
        }
    }

    void blocking_stretch() {
        quern::blocking([this] {
            expect(g_mine->owner == m_id);
            std::this_thread::sleep_for(std::chrono::microseconds(m_random.below(40)));
        });
    }

    void pinned_stretch() {
        const quern::pin_to_worker here;
        const auto outer = std::exchange(m_pinned_to, quern::current_worker_rank());
        expect(!outer || outer == m_pinned_to);
        if (m_random.below(2) == 0) {
            walk(2);
        } else {
            quern::this_task::yield();
            look();
        }
        m_pinned_to = outer;
    }

    void thrown_and_caught() {
        const std::string text = std::to_string(m_random.next());
        try {
            const std::optional<quern::blocking_region> region = maybe_region();
            throw std::runtime_error(text);
        } catch (const std::runtime_error& error) {
            quern::this_task::yield();
            expect(error.what() == text);
        }
    }

    std::optional<quern::blocking_region> maybe_region() {
        if (m_random.below(2) == 0) {
            return std::nullopt;
        }
        return std::optional<quern::blocking_region>(std::in_place);
    }

    void group_of_children() {
        quern::task_group group;
        for (std::uint32_t i = m_random.below(5); i != 0; --i) {
            group.run(child());
        }
        group.wait();
    }

    void forked_children() {
        const auto forked = [this](walker w) {
            return [this, w]() mutable {
                if (quern::this_task::id() == m_id) {  // a part of this task
                    expect(g_mine->owner == m_id);
                    quern::this_task::yield();
                    expect(g_mine->owner == m_id);
                } else {
                    w();
                }
            };
        };
        auto f = forked(child());
        auto g = forked(child());
        quern::fork_join(f, g);
    }

    void on_a_fresh_stack() {
        const auto body = [](void* p) { static_cast<walker*>(p)->walk(1); };
        --m_budget;
        quern::detail::call_on_fresh_stack(body, this);
        ++m_budget;
    }

    std::atomic<int>& m_faults;
    rng m_random;
    int m_budget;
    std::uint64_t m_id = 0;
    std::optional<int> m_pinned_to;
};

class belongings : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(belongings);

TEST_P(belongings, stay_with_their_task) {
    auto random = random_for(300 + workers());
    std::atomic<int> faults{0};
    std::atomic<bool> stop{false};
    std::thread disturber([&] {
        auto own = random_for(400 + workers());
        while (!stop.load()) {
            rt.default_pool().set_active_workers(1 + own.below(workers()));
            std::this_thread::sleep_for(std::chrono::microseconds(own.below(2'000)));
        }
    });
    for (const stopwatch watch(1.0); watch.running();) {
        std::vector<quern::future<void>> all;
        for (int i = 0; i < scaled(50, 10); ++i) {
            const quern::task_attributes how{.stack = static_cast<quern::stack_class>(i % 3),
                                             .worker = static_cast<int>(random.below(9)) - 1,
                                             .pool = &rt.default_pool().get()};
            all.push_back(quern::async(how, walker(faults, random.next(), 3)));
        }
        for (auto& f : all) {
            f.get();
        }
        ASSERT_EQ(g_alive.load(), 0);
    }
    stop.store(true);
    disturber.join();
    EXPECT_EQ(faults.load(), 0);
}

TEST_P(belongings, outlive_many_short_regions_and_pins) {
    std::atomic<int> faults{0};
    rt.default_pool().set_knob("spare-threads", 3);
    for (const stopwatch watch(0.5); watch.running();) {
        std::vector<quern::future<void>> all;
        for (int i = 0; i < 20; ++i) {
            all.push_back(quern::async(rt, [&faults, i] {
                *g_steps = i;
                for (int k = 0; k < 10; ++k) {
                    quern::blocking([] {});
                    const quern::pin_to_worker here;
                    const int rank = quern::current_worker_rank();
                    quern::this_task::yield();
                    faults += quern::current_worker_rank() == rank && *g_steps == i ? 0 : 1;
                }
            }));
        }
        for (auto& f : all) {
            f.get();
        }
    }
    EXPECT_EQ(faults.load(), 0);
}

}  // namespace
