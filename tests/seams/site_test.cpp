// SPDX-License-Identifier: BSL-1.0
// A toy adaptive layer from outside the scheduler: it reads sites while tasks run and picks the one
// with the largest mean time. And a front end of another language, whose places reports print.
#include <quern/quern.hpp>
#include <quern/scheduler/sites.hpp>
#include <quern/sync/event.hpp>
#include <quern/trace/profile.hpp>
#include <quern/trace/recorder.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Which kind of task to make coarser, or not to run in the place of its waiter.
class toy_adaptation {
public:
    explicit toy_adaptation(const quern::runtime& of) : m_of(of) {}

    /// Null while too little is known: the estimate is to be good to a third.
    const void* slowest() const {
        std::vector<quern::site_statistics> all = quern::site_statistics_of(m_of);
        std::erase_if(all, [](const quern::site_statistics& each) {
            return each.calls < 50 || each.calls_error > each.calls / 3 ||
                   each.exclusive_error_ns > each.exclusive_ns / 3 || each.suspensions != 0;
        });
        const auto found = std::max_element(
            all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.mean_ns() < b.mean_ns(); });
        return all.size() >= 2 ? found->site : nullptr;
    }

private:
    const quern::runtime& m_of;
};

class site_seam : public testing::TestWithParam<unsigned> {
protected:
    void SetUp() override {
        if (!quern::counts_sites()) {
            GTEST_SKIP() << "counters are compiled out";
        }
    }

    using clock = std::chrono::steady_clock;

    const void* slowest() const { return toy_adaptation(*m_runtime).slowest(); }

    /// What `attempt` has found by a time; each attempt in a new runtime, since one long stall of
    /// the machine stays in the means of its sites.
    void expect_found(const std::function<const void*(clock::time_point)>& attempt) {
        const void* found = nullptr;
        for (int i = 0; i < 5 && found != m_long; ++i) {
            m_runtime.reset();
            m_runtime.emplace(quern::runtime_options::with_workers(GetParam()));
            found = attempt(clock::now() + std::chrono::seconds(2));
        }
        EXPECT_EQ(found, m_long);
    }

    /// Runs tasks of two kinds until `enough` is set.
    void run_until(const std::atomic<bool>& enough, const std::function<void()>& between) {
        while (!enough.load()) {
            quern::task_group group;
            for (int i = 0; i < 100; ++i) {
                group.run({.site = m_short}, [] { spin(2); });
                group.run({.site = m_long}, [] { spin(20); });
            }
            group.wait();
            between();
        }
    }

    static void spin(int us) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
        while (std::chrono::steady_clock::now() < end) {
        }
    }

    const void* const m_short =
        quern::register_site({.language = "Python", .function = "norm", .file = "heat.py"});
    const void* const m_long = quern::register_site(
        {.language = "Python", .function = "relax", .file = "heat.py", .line = 42});
    std::optional<quern::runtime> m_runtime{quern::runtime_options::with_workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(on, site_seam, testing::Values(1U, 2U, 8U));

TEST_P(site_seam, lets_a_thread_find_the_slowest_site_while_tasks_run) {
    expect_found([this](clock::time_point limit) {
        std::atomic<bool> enough{false};
        const void* found = nullptr;
        std::thread decides([&] {
            while ((found = slowest()) != m_long && clock::now() < limit) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            enough.store(true);
        });
        quern::async(*m_runtime, [&] { run_until(enough, [] {}); }).get();
        decides.join();
        return found;
    });
}

TEST_P(site_seam, lets_a_task_find_the_slowest_site) {
    expect_found([this](clock::time_point limit) {
        std::atomic<bool> enough{false};
        quern::async(*m_runtime, [&] {
            run_until(enough, [&] { enough = slowest() == m_long || clock::now() > limit; });
        }).get();
        return slowest();
    });
}

TEST_P(site_seam, prints_a_place_of_another_language_in_a_report_of_waits) {
    quern::event go_on;
    auto waits = quern::async({.pool = &m_runtime->default_pool().get(), .site = m_long},
                              [&] { go_on.wait(); });
    EXPECT_TRUE(quern_test::eventually([] {
        return quern::task_report().find("made in relax (Python) at heat.py:42\n") !=
               std::string::npos;
    })) << quern::task_report();
    go_on.set();
    waits.get();
}

TEST_P(site_seam, prints_a_place_of_another_language_in_a_profile) {
    std::ostringstream text;
    {
        quern::trace::recorder recorder(*m_runtime);
        quern::async({.pool = &m_runtime->default_pool().get(), .site = m_long}, [] {
            spin(100);
        }).get();
        quern::trace::write_profile(recorder.stop(), text);
    }
    EXPECT_NE(text.str().find("relax (Python)"), std::string::npos) << text.str();
    EXPECT_NE(text.str().find("heat.py:42"), std::string::npos) << text.str();
}

}  // namespace
