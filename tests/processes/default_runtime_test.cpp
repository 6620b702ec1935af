// SPDX-License-Identifier: BSL-1.0
// Which runtime is the default one: one that the program has made, or else one started on demand;
// its end, also while other threads use it; and the message about an idle one.
#include "child.hpp"

#include <quern/base/detail/config.hpp>
#include <quern/quern.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace {

using quern::runtime;
using quern::runtime_options;
using quern_test::alone;

const quern::detail::pool* pool_of(const runtime& rt) { return &rt.default_pool().get(); }
const quern::detail::pool* pool_outside() { return &quern::current_pool().get(); }
const quern::detail::pool* pool_of_a_task() {
    return quern::async([] { return pool_outside(); }).get();
}

#define QUERN_REQUIRE(condition)               \
    if (!(condition)) {                        \
        std::printf("not so: %s", #condition); \
        return 1;                              \
    }

#define QUERN_EXPECT_SILENT_SUCCESS(end) \
    EXPECT_EQ((end).status, 0);          \
    EXPECT_EQ((end).output, "")

// Holds: runtime: A runtime made while there is no default runtime is the default one, for all
//     threads, until its destructor begins.
TEST(the_default_runtime, is_the_one_that_was_made_while_there_was_none) {
    const auto end = alone([] {
        const runtime rt(runtime_options::with_workers(1));
        QUERN_REQUIRE(pool_outside() == pool_of(rt));
        QUERN_REQUIRE(pool_of_a_task() == pool_of(rt));
        QUERN_REQUIRE(&runtime::default_instance() == &rt);
        std::atomic<int> elsewhere{0};
        quern::parallel_for(0, 1000, [&](int) { elsewhere += pool_outside() != pool_of(rt); });
        QUERN_REQUIRE(elsewhere == 0);
        const runtime second(runtime_options::with_workers(1));
        QUERN_REQUIRE(pool_of_a_task() == pool_of(rt));
        return 0;
    });
    QUERN_EXPECT_SILENT_SUCCESS(end);
}

// Holds: runtime: A runtime made while...
TEST(the_default_runtime, is_that_of_other_threads_too) {
    const auto end = alone([] {
        const runtime rt(runtime_options::with_workers(1));
        bool is_same = false;
        std::thread([&] { is_same = pool_of_a_task() == pool_of(rt); }).join();
        QUERN_REQUIRE(is_same);
        return 0;
    });
    QUERN_EXPECT_SILENT_SUCCESS(end);
}

// Holds: runtime: A runtime made while...
TEST(the_default_runtime, that_ends_leaves_none) {
    const auto end = alone([] {
        {
            const runtime first(runtime_options::with_workers(1));
            quern::async([] {}).get();
        }
        {
            const runtime second(runtime_options::with_workers(1));
            QUERN_REQUIRE(pool_of_a_task() == pool_of(second));
        }
        QUERN_REQUIRE(quern::async([] { return 1; }).get() == 1);  // this starts one
        const runtime third(runtime_options::with_workers(1));
        QUERN_REQUIRE(pool_of_a_task() != pool_of(third));
        return 0;
    });
    QUERN_EXPECT_SILENT_SUCCESS(end);
}

// Holds: runtime: default_instance(): one for the process; if the program has made none it is
//     started at the first call, as the settings say, and a message says so when a runtime of the
//     program's own is idle.
TEST(the_default_runtime, that_is_started_beside_an_idle_one_is_told_of) {
    const auto end = alone([] {
        std::optional<runtime> first(std::in_place, runtime_options::with_workers(1));
        const runtime second(runtime_options::with_workers(1));
        first.reset();
        QUERN_REQUIRE(pool_of_a_task() != pool_of(second));
        return 0;
    });
    EXPECT_EQ(end.status, 0);
    EXPECT_NE(end.output.find("the default runtime is started"), std::string::npos) << end.output;
    EXPECT_NE(end.output.find("idle runtime"), std::string::npos) << end.output;
}

/// Three threads use the default runtime while the main thread ends it.
int end_it_in_use() {
    std::atomic<bool> over{false};
    std::atomic<int> sum{0};
    std::atomic<int> wanted{0};
    std::vector<std::thread> others;
    for (int i = 0; i < 3; ++i) {
        others.emplace_back([&] {
            while (!over) {
                ++wanted;
                quern::task_group group;  // it keeps the pool
                auto one = quern::async([] { return 1; });
                std::this_thread::yield();
                group.run([&, f = std::make_shared<quern::future<int>>(std::move(one))] {
                    sum += f->get();
                });
                group.wait();
            }
        });
    }
    for (int i = 0; i < 3; ++i) {
        const runtime rt(runtime_options::with_workers(2));
        QUERN_REQUIRE(quern::async(rt, [] { return 1; }).get() == 1);
    }
    over = true;
    for (std::thread& each : others) {
        each.join();
    }
    QUERN_REQUIRE(sum == wanted);
    return 0;
}

// Holds: runtime: The default runtime may end while other threads use it; then its workers live on,
//     idle, until the program ends.
TEST(the_default_runtime, may_end_while_other_threads_use_it) {
    for (int i = 0; i < quern_test::scaled(20, 5); ++i) {  // only the first end matters
        const auto end = alone(end_it_in_use);
        EXPECT_EQ(end.status, 0) << end.output;
    }
}

// Holds: runtime: The default runtime may...
TEST(the_default_runtime, goes_on_after_its_end_for_those_who_keep_something_of_it) {
    const auto end = alone([] {
        std::optional<runtime> rt(std::in_place, runtime_options::with_workers(1));
        quern::promise<int> late;
        quern::future<int> later;
        std::thread other([&] {
            later =
                late.get_future().then([](auto f) { return f.get() + 1; });  // bound to its pool
        });
        other.join();
        rt.reset();
        late.set_value(1);
        QUERN_REQUIRE(later.get() == 2);
        QUERN_REQUIRE(quern::async([] { return 3; }).get() == 3);
        return 0;
    });
    QUERN_EXPECT_SILENT_SUCCESS(end);
}

TEST(the_default_runtime, of_the_program_is_not_that_of_the_child_of_a_fork) {
    if (quern::detail::k_asan || quern::detail::k_tsan) {
        GTEST_SKIP() << "sanitizers do not allow threads in the child of a process with threads";
    }
    const auto end = alone([] {
        const runtime rt(runtime_options::with_workers(1));
        quern::async([] {}).get();
        return quern_test::fork_and_wait([&] {
            QUERN_REQUIRE(quern::async([] { return 1; }).get() == 1);
            return 0;
        });
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

TEST(the_default_runtime, that_is_a_static_object_serves_to_its_end) {
    const auto end = alone([]() -> int {
        static const runtime rt(runtime_options::with_workers(1));
        quern::async([] {}).get();
        static const struct late_user {
            ~late_user() { std::printf("%d", pool_of_a_task() == pool_of(rt) ? 1 : 0); }
        } uses_it;
        std::exit(0);
    });
    EXPECT_EQ(end.output, "1");
    EXPECT_EQ(end.status, 0);
}

TEST(the_default_runtime, that_is_a_static_object_serves_when_its_own_task_calls_exit) {
    const auto end = alone([]() -> int {
        static const struct late_user {
            ~late_user() {
                std::printf("%d", quern::async([] { return 1; }).get());
            }
        } uses_it;
        static const runtime rt(runtime_options::with_workers(2));
        quern::async([] { std::exit(0); }).get();
        return 1;
    });
    EXPECT_EQ(end.output, "1");
    EXPECT_EQ(end.status, 0);
}

}  // namespace
