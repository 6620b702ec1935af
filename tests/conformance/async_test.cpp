// SPDX-License-Identifier: BSL-1.0
// [futures.async]: one case per sentence, and the one deliberate difference: the destructor of the
// future does not wait.
#include <quern/task/async.hpp>

#include "conformance/expect_error.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using quern::async;
using quern::future;
using quern::launch;

// Holds: async: It returns a future of what std::invoke of the decayed copies returns.
TEST(async, returns_the_type_that_invoke_returns) {
    int place = 0;
    auto one = async([] { return 1; });
    auto converted = async([](int n) { return n; }, 1L);
    auto reference = async([&place]() -> int& { return place; });
    auto nothing = async([] {});
    EXPECT_TRUE((std::is_same_v<decltype(one), future<int>>));
    EXPECT_TRUE((std::is_same_v<decltype(converted), future<int>>));
    EXPECT_TRUE((std::is_same_v<decltype(reference), future<int&>>));
    EXPECT_TRUE((std::is_same_v<decltype(nothing), future<void>>));
    EXPECT_EQ(one.get() + converted.get(), 2);
    EXPECT_EQ(&reference.get(), &place);
    nothing.get();
}

const std::string const_text() { return "text"; }

// Holds: async: The function may return a const object; the future is of that type.
TEST(async, of_a_function_that_returns_a_const_object_gives_it) {
    auto f = async(const_text);
    EXPECT_TRUE((std::is_same_v<decltype(f), future<const std::string>>));
    EXPECT_EQ(f.get(), "text");
    EXPECT_EQ(async(launch::sync, const_text).share().get(), "text");
    EXPECT_EQ(async(launch::deferred, const_text).then([](auto g) { return g.get(); }).get(),
              "text");
}

/// Counts its copies; cannot be moved.
struct only_copied {
    only_copied() = default;
    only_copied(const only_copied&) { ++copies; }
    int operator()() const { return 1; }
    static int take(const only_copied&) { return 1; }
    static inline int copies = 0;
};

// Holds: async: Lvalues are copied once, rvalues moved.
TEST(async, copies_function_and_arguments_once) {
    const only_copied f;
    EXPECT_EQ(async(f).get(), 1);
    EXPECT_EQ(only_copied::copies, 1);
    EXPECT_EQ(async(&only_copied::take, f).get(), 1);
    EXPECT_EQ(only_copied::copies, 2);
}

// Holds: async: The copy of the function is called as an rvalue.
TEST(async, calls_its_copy_as_one_that_may_be_moved_from) {
    struct once {
        int operator()() && { return 1; }
        int operator()() & { return 2; }
    };
    EXPECT_EQ(async(once()).get(), 1);
    EXPECT_EQ(async(launch::sync, once()).get(), 1);
}

// Holds: async: The future is valid and gets the result or the exception.
TEST(async, returns_a_future_that_refers_to_the_state) {
    auto f = async([] { return 1; });
    EXPECT_TRUE(f.valid());
    EXPECT_EQ(f.get(), 1);
}

// Holds: async: The future is valid...
TEST(async, stores_the_result_or_the_exception) {
    EXPECT_EQ(async([] { return std::string("r"); }).get(), "r");
    EXPECT_THROW(async([] { throw std::runtime_error("e"); }).get(), std::runtime_error);
}

// Holds: async: Function and arguments are copied or moved in the calling thread.
TEST(async, copies_function_and_arguments_in_the_calling_thread) {
    struct notes_thread {
        notes_thread() = default;
        notes_thread(const notes_thread&) : copied_by(std::this_thread::get_id()) {}
        notes_thread(notes_thread&&) = default;
        std::thread::id copied_by;
    };
    const notes_thread argument;
    const auto by = async([](const notes_thread& n) { return n.copied_by; }, argument).get();
    EXPECT_EQ(by, std::this_thread::get_id());
}

// Holds: async: The function gets the copies as rvalues.
TEST(async, passes_the_copies_as_rvalues) {
    EXPECT_EQ(async([](std::unique_ptr<int>&& p) { return *p; }, std::make_unique<int>(1)).get(),
              1);
    EXPECT_EQ(async([](std::string&& s) { return s.size(); }, "text").get(), 4U);
}

// Holds: async: It gets references only when they are wrapped.
TEST(async, passes_references_only_when_wrapped) {
    int n = 0;
    async([](int& r) { r = 1; }, std::ref(n)).get();
    EXPECT_EQ(n, 1);
}

// Holds: async: What a copy throws is thrown in the caller.
TEST(async, throws_in_the_caller_what_a_copy_throws) {
    struct copy_throws {
        copy_throws() = default;
        copy_throws(const copy_throws&) { throw std::logic_error("copy"); }
        void operator()() const {}
    };
    const copy_throws function;
    EXPECT_THROW((void)async(function), std::logic_error);
}

// Holds: async: The call happens before the function begins, and its end before the return of
//     get().
TEST(async, synchronizes_the_call_with_the_start_and_the_end_with_get) {
    for (int i = 0; i < 200; ++i) {
        int data = i;  // plain: ordered only by async and get
        auto f = async([&data] { ++data; });
        f.get();
        ASSERT_EQ(data, i + 1);
    }
}

// Holds: async: The function runs as if in a thread of its own: two that need each other both make
//     progress when there are workers for both.
// Holds: launch: async: queued; a worker takes it, or the first one that waits for it.
TEST(async, runs_as_if_in_a_thread_of_its_own) {
    // Two tasks that need each other, and a caller that waits for both.
    std::atomic<bool> a{false}, b{false};
    auto f = async([&] {
        a.store(true);
        while (!b.load()) {
            std::this_thread::yield();
        }
    });
    std::thread other([&] {
        while (!a.load()) {
            std::this_thread::yield();
        }
        b.store(true);
    });
    f.get();
    other.join();
}

// Holds: launch: deferred: not run before...
TEST(async, deferred_does_not_run_before_a_waiting_function_is_called) {
    int ran = 0;
    auto f = async(launch::deferred, [&ran] { return ++ran; });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(f.get(), 1);
}

// Holds: launch: deferred: run by the...
TEST(async, deferred_runs_in_the_thread_that_waits) {
    const auto f = async(launch::deferred, [] { return std::this_thread::get_id(); }).get();
    EXPECT_EQ(f, std::this_thread::get_id());
}

// Holds: future: The destructor does not...
// Holds: async: **Differs**: the destructor of the future does not wait.
TEST(async, differs_in_that_the_destructor_of_the_future_does_not_wait) {
    std::atomic<bool> go{false}, done{false};
    {
        auto f = async([&] {
            while (!go.load()) {
                std::this_thread::yield();
            }
            done.store(true);
        });
    }
    EXPECT_FALSE(done.load());
    go.store(true);
    while (!done.load()) {
        std::this_thread::yield();
    }
}

}  // namespace
