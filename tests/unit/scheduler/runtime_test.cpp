// SPDX-License-Identifier: BSL-1.0
// A runtime from its beginning to its end: accepted and rejected options, work from outside, and
// the waits of its destructor.
#include <quern/scheduler/runtime.hpp>

#include "on_runtime.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace {

using quern::runtime;
using quern::runtime_options;
using quern_test::k_sanitized;
using quern_test::scaled;

class runtime_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(runtime_test);

// Holds: runtime: It has the workers, the policy and the name that were asked for.
TEST_P(runtime_test, has_the_workers_that_were_asked_for) {
    EXPECT_EQ(rt.workers(), workers());
    EXPECT_EQ(rt.default_pool().workers(), workers());
    EXPECT_EQ(rt.default_pool().active_workers(), workers());
    EXPECT_EQ(rt.default_pool().policy(), GetParam().policy);
    EXPECT_EQ(rt.default_pool().name(), "default");
}

// Holds: runtime: Tasks run on its own workers.
// Holds: runtime: current_pool(): the pool that runs the calling task, else the default runtime's
//     first.
// Holds: runtime: current_worker_rank(): the rank within the pool, -1 outside.
TEST_P(runtime_test, runs_tasks_on_its_own_workers) {
    EXPECT_EQ(quern::current_worker_rank(), -1);
    for (int i = 0; i < 100; ++i) {
        const int rank = inside([] { return quern::current_worker_rank(); });
        ASSERT_GE(rank, 0);
        ASSERT_LT(rank, static_cast<int>(workers()));
    }
    EXPECT_EQ(inside([] { return &quern::current_pool().get(); }), &rt.default_pool().get());
}

// Holds: runtime: Any number of threads may give it work at once.
TEST_P(runtime_test, takes_work_from_many_threads_at_once) {
    constexpr std::size_t k_threads = 8;
    const std::size_t each = scaled(5'000U, 500U);
    std::vector<int> done(k_threads * each, 0);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < k_threads; ++t) {
        threads.emplace_back([&, t] {
            std::vector<quern::future<void>> futures;
            for (std::size_t i = 0; i < each; ++i) {
                futures.push_back(quern::async(rt, [&, t, i] { ++done[t * each + i]; }));
            }
            for (auto& f : futures) {
                f.get();
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    for (const int n : done) {
        ASSERT_EQ(n, 1);
    }
}

// Holds: runtime: A worker that sleeps wakes up for every single task.
TEST_P(runtime_test, wakes_for_every_single_task) {
    for (int i = 0; i < scaled(500, 100); ++i) {  // workers fall asleep in between
        ASSERT_EQ(inside([i] { return i; }), i);
        if (i % 10 == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
}

TEST_P(runtime_test, ends_without_ever_having_had_work) {}

/// Ends a runtime right after `start` has given it work.
template <class Start>
void end_after(const quern_test::setting& wanted, Start&& start) {
    runtime rt(runtime_options::with_workers(wanted.workers, wanted.policy));
    start(rt.default_pool().get());
}

// Holds: runtime: The destructor waits until every ready task has run, of every priority and hint.
TEST_P(runtime_test, waits_at_its_end_for_every_ready_task) {
    std::vector<int> done(1000, 0);
    end_after(GetParam(), [&](quern::detail::pool& where) {
        for (int& d : done) {
            quern::post({.pool = &where}, [&d] { ++d; });
        }
    });
    EXPECT_EQ(done, std::vector<int>(1000, 1));
}

// Holds: runtime: The destructor waits until...
TEST_P(runtime_test, waits_at_its_end_for_tasks_of_every_priority_and_hint) {
    std::vector<int> done(900, 0);
    end_after(GetParam(), [&](quern::detail::pool& where) {
        for (std::size_t i = 0; i < done.size(); ++i) {
            const auto urgency = static_cast<quern::priority>(i % 3);
            const int hint = i % 2 == 0 ? -1 : static_cast<int>(i % 8);
            quern::post({.urgency = urgency, .worker = hint, .pool = &where},
                        [&d = done[i]] { ++d; });
        }
    });
    EXPECT_EQ(done, std::vector<int>(900, 1));
}

/// A task that starts the next one, up to the last entry.
struct link_of_chain {
    std::vector<int>& done;

    void operator()(std::size_t i) const {
        quern_test::spin_for(std::chrono::microseconds(20));
        ++done[i];
        if (i + 1 != done.size()) {
            quern::post(*this, i + 1);
        }
    }
};

// Holds: runtime: The destructor waits for tasks...
TEST_P(runtime_test, waits_at_its_end_for_what_tasks_start) {
    std::vector<int> done(100, 0);
    end_after(GetParam(), [&](quern::detail::pool& where) {
        quern::post({.pool = &where}, link_of_chain{done}, std::size_t{0});
    });
    EXPECT_EQ(done, std::vector<int>(100, 1));
}

// Holds: runtime: The destructor waits for tasks that run, and for what they start.
TEST_P(runtime_test, waits_at_its_end_for_a_task_that_is_running) {
    int done = 0;
    end_after(GetParam(), [&](quern::detail::pool& where) {
        quern::post({.pool = &where}, [&done] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            done = 1;
        });
    });
    EXPECT_EQ(done, 1);
}

// Holds: runtime: A timer that is...
TEST_P(runtime_test, waits_at_its_end_for_a_task_that_sleeps) {
    std::atomic<int> done{0};
    end_after(GetParam(), [&](quern::detail::pool& where) {
        for (int i = 0; i < 10; ++i) {
            quern::post({.pool = &where}, [&done] {
                quern::this_task::sleep_for(std::chrono::milliseconds(5));
                done.fetch_add(1);
            });
        }
    });
    EXPECT_EQ(done.load(), 10);
}

// Holds: runtime: Several runtimes may live in one process, one within a task of another.
TEST_P(runtime_test, may_live_beside_others) {
    runtime second(runtime_options::with_workers(2));
    runtime third(runtime_options::with_workers(3, "priority-local-fifo"));
    for (int i = 0; i < 50; ++i) {
        auto a = quern::async(rt, [] { return &quern::current_pool().get(); });
        auto b = quern::async(second, [] { return &quern::current_pool().get(); });
        auto c = quern::async(third, [] { return &quern::current_pool().get(); });
        ASSERT_EQ(a.get(), &rt.default_pool().get());
        ASSERT_EQ(b.get(), &second.default_pool().get());
        ASSERT_EQ(c.get(), &third.default_pool().get());
    }
}

// Holds: runtime: Tasks may wait for tasks of another runtime.
TEST_P(runtime_test, may_wait_for_tasks_of_another) {
    runtime other(runtime_options::with_workers(2));
    inside([&] {
        for (int i = 0; i < 100; ++i) {
            auto there = quern::async(other, [i] { return i; });
            ASSERT_EQ(there.get(), i);
            ASSERT_EQ(&quern::current_pool().get(), &rt.default_pool().get());
        }
    });
}

// Holds: runtime: Several runtimes may live...
TEST_P(runtime_test, may_be_made_and_ended_within_a_task_of_another) {
    inside([] {
        runtime inner(runtime_options::with_workers(2));
        EXPECT_EQ(quern::async(inner, [] { return 42; }).get(), 42);
    });
}

// Holds: runtime: 0 workers means as many as mask, cpuset and quota allow.
TEST(runtime_options_test, of_zero_workers_means_as_many_as_allowed) {
    const runtime rt(runtime_options::with_workers(0));
    EXPECT_GE(rt.workers(), 1U);
}

template <class Error>
std::string error_of(const runtime_options& options) {
    try {
        const runtime rt(options);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

// Holds: runtime: Options that are not accepted are std::invalid_argument with name, value, origin
//     and what is accepted.
// Holds: runtime: Two pools of one...
TEST(runtime_options_test, name_what_is_wrong_with_them) {
    EXPECT_NE(error_of<std::invalid_argument>(runtime_options::with_workers(4097)).find("4097"),
              std::string::npos);
    runtime_options none;
    none.pools.clear();
    EXPECT_NE(error_of<std::invalid_argument>(none), "");
    runtime_options binding = runtime_options::with_workers(1);
    binding.pools.front().binding = "compct";
    const std::string text = error_of<std::invalid_argument>(binding);
    EXPECT_NE(text.find("compct"), std::string::npos);
    EXPECT_NE(text.find("did you mean 'compact'"), std::string::npos);
}

// Holds: runtime: Binding: each word, or a list.
TEST(runtime_options_test, bind_workers) {
    for (const char* binding : {"none", "compact", "scatter", "balanced", "numa-balanced"}) {
        runtime_options options = runtime_options::with_workers(3);
        options.pools.front().binding = binding;
        const runtime rt(options);
        EXPECT_EQ(quern::async(rt, [] { return 1; }).get(), 1) << binding;
    }
}

// Holds: task_attributes: pool: null means the...
// Holds: runtime: default_instance(): one for the...
// Holds: runtime: current_pool(): the pool that...
TEST(default_runtime, is_there_for_tasks_from_outside) {
    EXPECT_EQ(&quern::runtime::default_instance(), &quern::runtime::default_instance());
    EXPECT_EQ(&quern::current_pool().get(), &runtime::default_instance().default_pool().get());
    auto where = quern::async([] { return &quern::current_pool().get(); });
    EXPECT_EQ(where.get(), &runtime::default_instance().default_pool().get());
}

/// Ends with 0 when making a runtime throws std::system_error, because no thread can be made.
[[noreturn]] void start_without_threads() {
    const rlimit few{4, 4};  // the first threads can be made
    ::setrlimit(RLIMIT_NPROC, &few);
    constexpr uid_t k_nobody = 65534;  // the superuser has no limit
    if (::getuid() == 0 && ::setresuid(k_nobody, k_nobody, k_nobody) != 0) {
        std::_Exit(0);
    }
    try {
        const runtime rt(runtime_options::with_workers(8));
    } catch (const std::system_error&) {
        std::_Exit(0);
    }
    std::_Exit(1);
}

// Holds: runtime: std::system_error when a thread cannot be made.
TEST(runtime_death_test, throws_when_no_thread_can_be_made) {
    if (k_sanitized) {
        GTEST_SKIP() << "sanitizers need threads of their own";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(start_without_threads(), testing::ExitedWithCode(0), "");
}

}  // namespace
