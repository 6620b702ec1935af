// SPDX-License-Identifier: BSL-1.0
// quern::thread: one case per sentence of the standard's [thread.thread.class], as far as it holds
// for tasks, and Quern's additions.
#include <quern/task/jthread.hpp>
#include <quern/task/thread.hpp>

#include <quern/task/task_local.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace {

using quern::thread;

static_assert(!std::is_copy_constructible_v<thread> && !std::is_copy_assignable_v<thread>);
static_assert(std::is_nothrow_move_constructible_v<thread>);
static_assert(std::is_trivially_copyable_v<thread::id>);

/// The code of the std::system_error that a function throws.
template <class F>
std::error_code error_of(F&& f) {
    try {
        f();
    } catch (const std::system_error& error) {
        return error.code();
    }
    return {};
}

class thread_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(thread_test);

// Holds: thread: The function is called with copies of its arguments, as rvalues; references must
//     be wrapped.
TEST_P(thread_test, runs_a_function_with_copies_of_its_arguments) {
    inside([] {
        std::string result;
        const std::string text = "b";
        thread t([](std::string& out, const std::string& a,
                    std::unique_ptr<std::string> b) { out = a + *b; },
                 std::ref(result), "a", std::make_unique<std::string>(text));
        t.join();
        EXPECT_EQ(result, "ab");
    });
}

// Holds: thread: It calls whatever std::invoke can call.
TEST_P(thread_test, runs_a_member_function) {
    struct counter {
        void add(int n) { value += n; }
        int value = 0;
    } c;
    inside([&c] { thread(&counter::add, &c, 3).join(); });
    EXPECT_EQ(c.value, 3);
}

// Holds: thread: It can be moved...
// Holds: thread: A move leaves the other one without a thread.
// Holds: thread: joinable(): whether it names a thread.
// Holds: thread: join() waits for the...
TEST_P(thread_test, is_joinable_until_it_is_joined_detached_or_moved_from) {
    inside([] {
        EXPECT_FALSE(thread().joinable());
        thread t([] {});
        EXPECT_TRUE(t.joinable());
        thread moved(std::move(t));
        EXPECT_FALSE(t.joinable());  // NOLINT(bugprone-use-after-move): specified
        EXPECT_TRUE(moved.joinable());
        t = std::move(moved);
        EXPECT_FALSE(moved.joinable());  // NOLINT(bugprone-use-after-move): specified
        t.join();
        EXPECT_FALSE(t.joinable());
        thread other([] {});
        other.detach();
        EXPECT_FALSE(other.joinable());
    });
}

// Holds: thread: join() and detach() of none throw std::system_error(invalid_argument).
TEST_P(thread_test, refuses_to_join_or_detach_nothing) {
    inside([] {
        thread none;
        EXPECT_EQ(error_of([&] { none.join(); }), std::errc::invalid_argument);
        EXPECT_EQ(error_of([&] { none.detach(); }), std::errc::invalid_argument);
    });
}

// Holds: thread: join() in the thread itself throws
//     std::system_error(resource_deadlock_would_occur).
TEST_P(thread_test, refuses_to_join_itself) {
    inside([] {
        std::error_code seen;
        quern_test::spin_gate made;
        thread self;
        self = thread([&] {
            made.pass();
            seen = error_of([&] { self.join(); });
        });
        made.open();
        self.join();
        EXPECT_EQ(seen, std::errc::resource_deadlock_would_occur);
    });
}

// Holds: thread: join() waits for the end, in a task or outside, and leaves it without a thread.
TEST_P(thread_test, joins_from_a_thread_outside) {
    bool ran = false;
    thread t({.pool = &rt.default_pool().get()}, [&ran] {
        quern::this_task::sleep_for(std::chrono::milliseconds(1));
        ran = true;
    });
    t.join();
    EXPECT_TRUE(ran);
}

// Holds: thread: get_id() is one of...
// Holds: thread: Ids can be compared...
// Holds: thread: In the thread the number of its id is this_task::id().
TEST_P(thread_test, has_an_id_that_is_its_number_inside) {
    inside([] {
        EXPECT_EQ(thread().get_id(), thread::id());
        std::uint64_t inside_it = 0;
        thread t([&inside_it] { inside_it = quern::this_task::id(); });
        const thread::id id = t.get_id();
        EXPECT_NE(id, thread::id());
        t.join();
        EXPECT_EQ(t.get_id(), thread::id());
        EXPECT_EQ(id.number(), inside_it);
        EXPECT_NE(inside_it, quern::this_task::id());
        std::ostringstream out;
        out << id;
        EXPECT_EQ(out.str(), std::to_string(inside_it));
    });
}

// Holds: thread: get_id() is one of its own, and the default one when it names none.
// Holds: thread: Ids can be compared, hashed and written.
TEST_P(thread_test, has_an_id_of_its_own) {
    inside([] {
        std::vector<thread> all;
        std::set<thread::id> ordered;
        std::unordered_set<thread::id> hashed;
        for (int i = 0; i < 50; ++i) {
            all.emplace_back([] {});
            ordered.insert(all.back().get_id());
            hashed.insert(all.back().get_id());
        }
        EXPECT_EQ(ordered.size(), all.size());
        EXPECT_EQ(hashed.size(), all.size());
        for (thread& t : all) {
            t.join();
        }
    });
}

// Holds: thread: swap exchanges two.
TEST_P(thread_test, swaps) {
    inside([] {
        thread a([] {});
        thread b;
        const thread::id id = a.get_id();
        swap(a, b);
        EXPECT_EQ(b.get_id(), id);
        EXPECT_FALSE(a.joinable());
        b.swap(a);
        EXPECT_EQ(a.get_id(), id);
        a.join();
    });
}

// Holds: thread: **Differs**: it begins when a worker is free or a task or thread joins it, and
//     waits without a worker.
TEST_P(thread_test, waits_without_a_worker) {
    quern_test::waiting_room room;
    inside([&room] {
        std::vector<thread> all;
        std::atomic<int> count{0};
        for (int i = 0; i < 100; ++i) {
            all.emplace_back([&] {
                room.wait();
                ++count;
            });
        }
        while (room.size() < all.size()) {
            quern::this_task::yield();
        }
        bool ran = false;
        thread([&ran] { ran = true; }).join();
        EXPECT_TRUE(ran);
        room.resume_all();
        for (thread& t : all) {
            t.join();
        }
        EXPECT_EQ(count.load(), 100);
    });
}

// Holds: thread: detach() lets it run by itself.
TEST_P(thread_test, goes_on_after_it_has_been_detached) {
    quern_test::spin_gate ended;
    inside([&ended] {
        thread([&ended] {
            quern::this_task::yield();
            ended.open();
        }).detach();
    });
    ended.pass();
}

// Holds: thread: Function and task_local values are destroyed before join() returns.
TEST_P(thread_test, has_destroyed_its_function_and_its_locals_when_it_is_joined) {
    inside([] {
        static quern::task_local<std::shared_ptr<int>> local;
        for (int i = 0; i < 100; ++i) {
            const auto counted = std::make_shared<int>(0);
            thread t([counted] { *local = counted; });
            t.join();
            EXPECT_EQ(counted.use_count(), 1);
        }
    });
}

/// Counts its copies, and throws at a given copy.
struct copied {
    explicit copied(int allowed = 1) : left(allowed) {}
    copied(const copied& other) : left(other.left - 1) {
        ++copies;
        if (left < 0) {
            throw std::runtime_error("a copy");
        }
    }
    void operator()() const {}
    void operator()(std::stop_token) const {}
    static void take(const copied&) {}

    int left;
    static inline int copies = 0;
};

// Holds: thread: Function and arguments are copied or moved once, by the caller, which gets the
//     exceptions of that; jthread likewise.
TEST_P(thread_test, copies_its_function_and_each_argument_once) {
    inside([] {
        copied::copies = 0;
        const copied f;
        thread(f).join();
        EXPECT_EQ(copied::copies, 1);
        thread(&copied::take, f).join();
        EXPECT_EQ(copied::copies, 2);
        quern::jthread with_token(f);
        with_token.join();
        EXPECT_EQ(copied::copies, 3);
        quern::jthread without_token(&copied::take, f);
        without_token.join();
        EXPECT_EQ(copied::copies, 4);
    });
}

// Holds: thread: Function and arguments are...
TEST_P(thread_test, throws_what_the_copy_of_its_function_throws) {
    inside([] {
        const copied f(0);
        EXPECT_THROW(thread{f}, std::runtime_error);
        EXPECT_THROW((thread{&copied::take, f}), std::runtime_error);
        EXPECT_THROW(quern::jthread{f}, std::runtime_error);
    });
}

// Holds: thread: Attributes may come first; the launch policy does not apply.
TEST_P(thread_test, takes_attributes) {
    thread t(
        {.name = "reader", .stack = quern::stack_class::large, .pool = &rt.default_pool().get()},
        [] {
            EXPECT_STREQ(quern::this_task::name(), "reader");
            EXPECT_GT(quern::this_task::stack_left(), std::size_t{1} << 20);
        });
    t.join();
}

// Holds: thread: hardware_concurrency(): **differs**: the workers that a thread made here could run
//     on.
TEST_P(thread_test, knows_how_many_may_run_at_once) {
    EXPECT_EQ(inside([] { return thread::hardware_concurrency(); }), workers());
}

// Holds: thread: It can be moved, without exceptions, and not copied; by default it names no
//     thread.
TEST(thread_test_of_types, can_be_moved_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<thread>);
    EXPECT_FALSE(std::is_copy_assignable_v<thread>);
    EXPECT_TRUE(std::is_nothrow_default_constructible_v<thread>);
    EXPECT_TRUE(std::is_nothrow_move_constructible_v<thread>);
    EXPECT_TRUE(std::is_nothrow_move_assignable_v<thread>);
}

// Holds: thread: The constructor's end happens before the beginning of the function.
// Holds: thread: What the function did happens before the return of join().
TEST_P(thread_test, shows_the_function_what_was_done_before_and_join_what_it_did) {
    inside([] {
        for (int i = 0; i < quern_test::scaled(500, 100); ++i) {
            int data = i;  // plain: ordered only by the thread
            thread t([&data] { ++data; });
            t.join();
            ASSERT_EQ(data, i + 1);
        }
    });
}

// Holds: thread: Attributes may come first...
TEST_P(thread_test, does_not_look_at_launch_policies) {
    for (const auto how : {quern::launch::deferred, quern::launch::sync, quern::launch::fork}) {
        std::atomic<int> rank{-1};
        const quern::task_attributes wanted{.how = how, .pool = &rt.default_pool().get()};
        thread t(wanted, [&rank] { rank.store(quern::current_worker_rank()); });
        ASSERT_TRUE(quern_test::eventually([&] { return rank.load() >= 0; }));  // not joined yet
        t.join();
    }
}

// Holds: thread: A runtime ends when its threads have ended, also the detached ones.
TEST_P(thread_test, keeps_its_runtime_from_ending_also_when_detached) {
    std::atomic<int> ended{0};
    {
        quern::runtime other(quern::runtime_options::with_workers(workers()));
        for (int i = 0; i < 10; ++i) {
            thread({.pool = &other.default_pool().get()}, [&ended] {
                quern::this_task::sleep_for(std::chrono::milliseconds(2));
                ended.fetch_add(1);
            }).detach();
        }
    }
    EXPECT_EQ(ended.load(), 10);
}

using thread_death_test = testing::Test;

// Holds: thread: The destructor of a joinable one, and an assignment to it, ends the program.
TEST(thread_death_test, ends_the_program_when_one_that_is_joinable_is_destroyed) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH({ const thread t([] {}); }, "terminate");
    EXPECT_DEATH(
        {
            thread t([] {});
            t = thread();
        },
        "terminate");
}

// Holds: thread: An exception that leaves the function ends the program.
TEST(thread_death_test, ends_the_program_when_an_exception_leaves_the_function) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(thread([] { throw std::runtime_error("nobody catches this"); }).join(),
                 "nobody catches this");
}

}  // namespace
