// SPDX-License-Identifier: BSL-1.0
// The number of active workers changes at random while random programs run: by the program, and by
// policies that are registered and end at random.
#include "random_program.hpp"
#include "stopwatch.hpp"

#include <quern/adaptation/policy.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

/// Registers policies and ends them until it is destroyed.
class policy_changer {
public:
    policy_changer(quern::pool_ref pool, std::uint64_t part)
        : m_pool(pool), m_thread([this, part] {
              auto random = quern_test::random_for(part);
              std::array<quern::adaptation::policy_handle, 3> kept;
              while (!m_stop.load()) {
                  auto& one = kept[random.below(3)];
                  one = random.below(3) == 0 ? quern::adaptation::policy_handle() : make(random);
                  std::this_thread::sleep_for(std::chrono::microseconds(random.below(2'000)));
              }
          }) {}
    ~policy_changer() {
        m_stop.store(true);
        m_thread.join();
        m_pool.set_active_workers(m_pool.workers());
    }

private:
    quern::adaptation::policy_handle make(quern::detail::rng& random) {
        namespace adaptation = quern::adaptation;
        const unsigned wanted = 1 + random.below(m_pool.workers());
        const auto act = [wanted, calls = 0U](adaptation::policy_context& now) mutable {
            try {
                now.set("active-workers", ++calls % 2 == 0 ? wanted : 1, "at random");
            } catch (const std::logic_error&) {
                return;  // another policy owns the knob
            }
        };
        const adaptation::policy_options how{
            .pool = m_pool, .budget = std::chrono::minutes(1), .queue = 16};
        if (random.below(2) == 0) {  // attaches the hooks of tasks while these run
            return adaptation::on(quern::trace::event_kind::worker_park, "when a worker parks", act,
                                  how);
        }
        const std::chrono::microseconds interval(100 + random.below(200));
        return adaptation::every(interval, "at intervals", act, how);
    }

    quern::pool_ref m_pool;
    std::atomic<bool> m_stop{false};
    std::thread m_thread;
};

using quern_test::random_for;
using quern_test::random_program;
using quern_test::stopwatch;

class throttling : public quern_test::on_runtime {
protected:
    /// Changes the number of active workers until it is destroyed.
    class disturber {
    public:
        disturber(quern::pool_ref pool, std::uint64_t part)
            : m_thread([this, pool, part] {
                  auto random = random_for(part);
                  while (!m_stop.load()) {
                      pool.set_active_workers(1 + random.below(pool.workers()));
                      std::this_thread::sleep_for(std::chrono::microseconds(random.below(2'000)));
                  }
              }) {}
        ~disturber() {
            m_stop.store(true);
            m_thread.join();
        }

    private:
        std::atomic<bool> m_stop{false};
        std::thread m_thread;
    };

    /// For a second; `part` is the part of the random numbers.
    void expect_the_serial_answers(std::uint64_t part) {
        auto random = random_for(part);
        for (const stopwatch watch(1.0); watch.running();) {
            const std::uint64_t seed = random.next();
            constexpr int k_budget = 7;
            ASSERT_EQ(inside([seed] { return random_program::run(seed, k_budget); }),
                      random_program::run_serially(seed, k_budget))
                << seed;
        }
    }
};
QUERN_ON_ALL_POLICIES(throttling);

TEST_P(throttling, does_not_change_the_answers) {
    const disturber disturbs(rt.default_pool(), 50 + workers());
    expect_the_serial_answers(workers());
}

TEST_P(throttling, by_policies_that_come_and_go_does_not_change_the_answers) {
    const policy_changer changes(rt.default_pool(), 70 + workers());
    expect_the_serial_answers(20 + workers());
}

TEST_P(throttling, loses_no_task_from_outside) {
    const disturber disturbs(rt.default_pool(), 80 + workers());
    auto random = random_for(90 + workers());
    for (const stopwatch watch(0.5); watch.running();) {
        std::vector<quern::future<int>> all;
        for (int i = 0; i < 20; ++i) {
            const quern::task_attributes how{.urgency = static_cast<quern::priority>(i % 3),
                                             .worker = static_cast<int>(random.below(9)) - 1,
                                             .pool = &rt.default_pool().get()};
            all.push_back(quern::async(how, [i] { return i; }));
        }
        for (int i = 0; i < 20; ++i) {
            ASSERT_EQ(all[static_cast<std::size_t>(i)].get(), i);
        }
    }
}

TEST_P(throttling, while_a_runtime_ends_loses_nothing) {
    auto random = random_for(120 + workers());
    for (const stopwatch watch(0.5); watch.running();) {
        std::vector<int> runs(100, 0);
        {
            quern::runtime other(
                quern::runtime_options::with_workers(workers(), GetParam().policy));
            for (int& r : runs) {
                quern::post({.pool = &other.default_pool().get()}, [&r] { ++r; });
                if (random.below(10) == 0) {
                    other.default_pool().set_active_workers(1 + random.below(workers()));
                }
            }
        }
        ASSERT_EQ(runs, std::vector<int>(100, 1));
    }
}

}  // namespace
