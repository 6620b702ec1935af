// SPDX-License-Identifier: BSL-1.0
// Blocking regions: workers stay free while tasks block in foreign code, the code runs on a bounded
// number of spare threads, and the state of the task moves with it.
#include <quern/task/blocking_region.hpp>

#include <quern/task/fork_join.hpp>
#include <quern/task/task_group.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace {

using quern::blocking;
using quern::blocking_region;
using quern::current_worker_rank;
namespace this_task = quern::this_task;

/// Blocks as foreign code does: in a condition variable of the standard library.
class foreign_gate {
public:
    void pass() {
        std::unique_lock lock(m_mutex);
        ++m_waiting;
        m_changed.wait(lock, [this] { return m_open; });
        --m_waiting;
    }
    void open() {
        const std::scoped_lock lock(m_mutex);
        m_open = true;
        m_changed.notify_all();
    }
    unsigned waiting() {
        const std::scoped_lock lock(m_mutex);
        return m_waiting;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    unsigned m_waiting = 0;
    bool m_open = false;
};

class blocking_region_test : public quern_test::on_runtime {
protected:
    std::size_t spare_threads() { return rt.default_pool().get().spares().threads(); }
};
QUERN_ON_ALL_POLICIES(blocking_region_test);

// Holds: blocking_region: While it lives the worker runs other tasks: the pool keeps all its
//     workers.
TEST_P(blocking_region_test, leaves_all_workers_to_other_tasks) {
    foreign_gate gate;
    std::vector<quern::future<void>> blocked;
    for (unsigned i = 0; i < 2 * workers(); ++i) {
        blocked.push_back(quern::async(rt, [&gate] {
            const blocking_region here;
            gate.pass();
        }));
    }
    EXPECT_TRUE(quern_test::eventually([&] { return gate.waiting() == 2 * workers(); }));
    std::atomic<unsigned> at_once{0};  // every worker is free
    std::vector<quern::future<bool>> others;
    for (unsigned i = 0; i < workers(); ++i) {
        others.push_back(quern::async(rt, [&] {
            ++at_once;
            return quern_test::eventually([&] { return at_once == workers(); });
        }));
    }
    for (auto& f : others) {
        EXPECT_TRUE(f.get());
    }
    gate.open();
    for (auto& f : blocked) {
        f.get();
    }
}

// Holds: blocking_region: At its end the task resumes on a worker.
TEST_P(blocking_region_test, goes_on_on_a_worker) {
    inside([pool = &rt.default_pool().get()] {
        const pid_t before = quern_test::os_thread();
        EXPECT_TRUE(this_task::is_task());
        {
            const blocking_region here;
            EXPECT_NE(quern_test::os_thread(), before);
            EXPECT_FALSE(this_task::is_task());
            EXPECT_EQ(current_worker_rank(), -1);
            EXPECT_EQ(&quern::current_pool().get(), pool);
        }
        EXPECT_TRUE(this_task::is_task());
        EXPECT_GE(current_worker_rank(), 0);
        quern::async([] {}).get();
    });
}

// Holds: blocking_region: blocking(f) gives what f returns or throws.
TEST_P(blocking_region_test, gives_what_the_function_returns_or_throws) {
    inside([] {
        int x = 1;
        EXPECT_EQ(blocking([] { return std::string("text"); }), "text");
        EXPECT_EQ(&blocking([&x]() -> int& { return x; }), &x);
        blocking([] {});
        EXPECT_EQ(blocking([p = std::make_unique<int>(3)] { return *p; }), 3);
        try {
            blocking([] { throw std::runtime_error("from foreign code"); });
            ADD_FAILURE() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
            EXPECT_GE(current_worker_rank(), 0);
            EXPECT_STREQ(error.what(), "from foreign code");
            EXPECT_EQ(std::uncaught_exceptions(), 0);
        }
    });
}

// Holds: blocking_region: Exceptions may leave it, and be handled around it.
TEST_P(blocking_region_test, may_begin_and_end_while_exceptions_are_handled) {
    inside([] {
        for (int i = 0; i < 20; ++i) {
            try {
                throw std::runtime_error(std::to_string(i));
            } catch (const std::runtime_error&) {
                try {
                    const blocking_region here;
                    EXPECT_NE(std::current_exception(), nullptr);
                    throw;
                } catch (const std::exception& error) {
                    EXPECT_EQ(error.what(), std::to_string(i));
                    this_task::yield();
                }
                blocking([] {});
                try {
                    throw;
                } catch (const std::exception& error) {
                    EXPECT_EQ(error.what(), std::to_string(i));
                }
            }
            EXPECT_EQ(std::current_exception(), nullptr);
        }
    });
}

// Holds: blocking_region: Exceptions may leave it...
TEST_P(blocking_region_test, may_lie_in_a_destructor_that_an_exception_calls) {
    struct closer {
        ~closer() {
            EXPECT_EQ(std::uncaught_exceptions(), 1);
            blocking([] { EXPECT_EQ(std::uncaught_exceptions(), 1); });
            EXPECT_EQ(std::uncaught_exceptions(), 1);
        }
    };
    inside([] {
        try {
            const closer c;
            throw 7;
        } catch (int seven) {
            EXPECT_EQ(seven, 7);
        }
    });
}

/// errno of the calling thread.
QUERN_NOINLINE int read_errno() { return errno; }
QUERN_NOINLINE void write_errno(int value) { errno = value; }

// Holds: blocking_region: errno passes both changes.
TEST_P(blocking_region_test, keeps_errno) {
    inside([] {
        for (int i = 1; i < 50; ++i) {
            write_errno(i);
            {
                const blocking_region here;
                EXPECT_EQ(read_errno(), i);
                write_errno(-i);
            }
            EXPECT_EQ(read_errno(), -i);
        }
        write_errno(0);
    });
}

// Holds: this_task: is_task(): whether the caller...
// Holds: blocking_region: Inside the task is still itself: id, name, priority, stack, task_local,
//     pool.
TEST_P(blocking_region_test, is_still_the_same_task_inside) {
    const quern::task_attributes how{.name = "reader", .pool = &rt.default_pool().get()};
    quern::async(how, [] {
        const auto own = quern::this_task::id();
        const auto* pool = &quern::current_pool().get();
        quern::blocking([&] {
            EXPECT_EQ(quern::this_task::id(), own);
            EXPECT_EQ(quern::this_task::name(), std::string("reader"));
            EXPECT_EQ(&quern::current_pool().get(), pool);
            EXPECT_FALSE(quern::this_task::is_task());  // but cannot be suspended
        });
        EXPECT_TRUE(quern::this_task::is_task());
        EXPECT_EQ(quern::this_task::id(), own);
    }).get();
}

// Holds: blocking_region: Inside the task is...
TEST_P(blocking_region_test, keeps_priority_and_stack_of_the_task) {
    const quern::task_attributes how{.urgency = quern::priority::high,
                                     .pool = &rt.default_pool().get()};
    quern::async(how, [] {
        const std::size_t left = this_task::stack_left();
        const blocking_region here;
        EXPECT_EQ(this_task::get_priority(), quern::priority::high);
        EXPECT_NEAR(static_cast<double>(this_task::stack_left()), static_cast<double>(left), 4096);
    }).get();
}

// Holds: blocking_region: this_task::stop_token() inside a region sees a request to stop the task.
TEST_P(blocking_region_test, hears_who_asks_the_task_to_stop) {
    std::stop_source source;
    const quern::task_attributes how{.pool = &rt.default_pool().get(), .stop = source.get_token()};
    quern::async(how, [&source] {
        const blocking_region here;
        EXPECT_FALSE(this_task::stop_requested());
        EXPECT_EQ(this_task::stop_token(), source.get_token());
        source.request_stop();
        EXPECT_TRUE(this_task::stop_requested());
        quern::async(quern::launch::sync,
                     [] {  // without a request
                         EXPECT_FALSE(this_task::stop_requested());
                     })
            .get();
        EXPECT_TRUE(this_task::stop_requested());
    }).get();
    inside([] {
        quern::task_group group;
        group.run([&group] {
            const blocking_region here;
            group.request_stop();
            EXPECT_TRUE(this_task::stop_requested());
        });
        group.wait();
    });
}

// Holds: blocking_region: Inside another one, and on a thread that is no worker, it does nothing.
TEST_P(blocking_region_test, does_nothing_inside_another) {
    inside([] {
        const blocking_region outer;
        const pid_t thread = quern_test::os_thread();
        {
            const blocking_region inner;
            EXPECT_EQ(quern_test::os_thread(), thread);
        }
        EXPECT_EQ(blocking([] { return 1; }), 1);
        EXPECT_EQ(quern_test::os_thread(), thread);
    });
    EXPECT_EQ(spare_threads(), 1U);
}

// Holds: blocking_region: Inside another one, and...
TEST_P(blocking_region_test, does_nothing_on_a_thread_outside) {
    const pid_t thread = quern_test::os_thread();
    const blocking_region here;
    EXPECT_EQ(quern_test::os_thread(), thread);
    EXPECT_EQ(blocking([] { return 2; }), 2);
    EXPECT_EQ(spare_threads(), 0U);
}

// Holds: blocking_region: Inside, whatever waits blocks the spare thread.
TEST_P(blocking_region_test, may_wait_for_tasks_as_a_thread_does) {
    inside([this] {
        auto later = quern::async([] {
            this_task::sleep_for(std::chrono::milliseconds(1));
            return 4;
        });
        EXPECT_EQ(blocking([&] { return later.get(); }), 4);
        EXPECT_EQ(blocking([this] { return quern::async(rt, [] { return 5; }).get(); }), 5);
    });
}

// Holds: blocking_region: A pool makes no more spare threads than the setting says; without a free
//     one, a region waits without a worker.
TEST_P(blocking_region_test, takes_no_more_threads_than_are_allowed) {
    const auto limit = rt.default_pool().set_knob("spare-threads", 8);
    ASSERT_EQ(limit, 8U);
    const unsigned tasks = quern_test::scaled(1000U, 200U);
    foreign_gate gate;
    std::mutex mutex;
    std::set<std::thread::id> threads;
    std::atomic<unsigned> begun{0};
    std::vector<quern::future<void>> all;
    for (unsigned i = 0; i < tasks; ++i) {
        all.push_back(quern::async(rt, [&] {
            ++begun;
            const blocking_region here;
            gate.pass();
            const std::scoped_lock lock(mutex);
            threads.insert(std::this_thread::get_id());
        }));
    }
    EXPECT_TRUE(quern_test::eventually([&] { return begun == tasks && gate.waiting() == limit; }));
    EXPECT_EQ(inside([] { return 1; }), 1);  // regions without a thread wait without a worker
    EXPECT_EQ(spare_threads(), limit);
    gate.open();
    for (auto& f : all) {
        f.get();
    }
    EXPECT_LE(threads.size(), limit);
    EXPECT_EQ(spare_threads(), limit);
}

// Holds: blocking_region: Spare threads are used again.
TEST_P(blocking_region_test, uses_its_threads_again) {
    inside([] {
        for (int i = 0; i < 200; ++i) {
            blocking([] {});
        }
    });
    EXPECT_EQ(spare_threads(), 1U);
}

// Holds: blocking_region: The task is on a thread that is no worker, and is not bound.
TEST_P(blocking_region_test, is_on_a_thread_that_bears_a_name_and_is_not_bound) {
    cpu_set_t allowed;
    ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed), 0);
    quern::runtime_options options;
    options.pools.front().workers = 1;
    options.pools.front().binding = "compact";
    quern::runtime bound(options);
    quern::async(bound, [&allowed] {
        const blocking_region here;
        char name[16];
        EXPECT_EQ(pthread_getname_np(pthread_self(), name, sizeof name), 0);
        EXPECT_STREQ(name, "quern/spare");
        cpu_set_t own;
        EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof own, &own), 0);
        EXPECT_TRUE(CPU_EQUAL(&own, &allowed));
    }).get();
}

// Holds: blocking_region: Forked children of the task may be stolen meanwhile.
TEST_P(blocking_region_test, leaves_forked_children_to_thieves) {
    if (workers() == 1) {
        GTEST_SKIP() << "needs another worker";
    }
    inside([] {
        std::atomic<bool> ran{false};
        quern::fork_join([&ran] { ran = true; },
                         [&ran] {
                             const blocking_region here;
                             EXPECT_TRUE(quern_test::eventually([&ran] { return ran.load(); }));
                         });
    });
}

// Holds: blocking_region: It may lie in a child, and on a fresh stack.
TEST_P(blocking_region_test, may_lie_in_a_child_and_on_a_fresh_stack) {
    inside([] {
        const auto f = [] { return blocking([] { return 1; }); };
        auto [a, b] = quern::fork_join(f, f);
        EXPECT_EQ(a + b, 2);
        const auto body = [](void*) { blocking([] {}); };
        quern::detail::call_on_fresh_stack(body, nullptr);
        quern::task_group group;
        for (int i = 0; i < 20; ++i) {
            group.run([] { blocking([] { std::this_thread::yield(); }); });
        }
        group.wait();
    });
}

// Holds: blocking_region: A runtime ends only after the regions of its tasks.
TEST_P(blocking_region_test, keeps_its_runtime_from_ending) {
    for (int i = 0; i < 20; ++i) {
        std::atomic<bool> ended{false};
        {
            quern::runtime other(
                quern::runtime_options::with_workers(workers(), GetParam().policy));
            quern::post({.pool = &other.default_pool().get()}, [&ended] {
                blocking([] { std::this_thread::sleep_for(std::chrono::microseconds(500)); });
                this_task::yield();
                ended = true;
            });
        }
        EXPECT_TRUE(ended.load());
    }
}

}  // namespace
