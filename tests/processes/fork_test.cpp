// SPDX-License-Identifier: BSL-1.0
// fork() in a process that runs Quern: the parent continues; the child gets runtimes of its own,
// and an error message when it uses those of its parent.
#include "child.hpp"

#include <quern/quern.hpp>

#include <atomic>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using quern::runtime;
using quern::runtime_options;
using quern_test::alone;
using quern_test::fork_and_wait;

/// ThreadSanitizer refuses threads in the child of a fork.
constexpr bool k_children_have_threads = !quern::detail::k_tsan;

int sum_of_tasks(int count) {
    std::vector<quern::future<int>> parts;
    for (int i = 0; i < count; ++i) {
        parts.push_back(quern::async([] { return 1; }));
    }
    int sum = 0;
    for (auto& part : parts) {
        sum += part.get();
    }
    return sum;
}

class fork_test : public testing::TestWithParam<const char*> {
protected:
    /// Runs a case with a default runtime of `workers` workers.
    template <class Main>
    quern_test::ended play(Main&& main) {
        return quern_test::in_child({.variables = {{"QUERN_THREADS", GetParam()}}},
                                    [&](int&, char**) {
                                        ::alarm(quern_test::k_patience);
                                        return main();
                                    });
    }
};

INSTANTIATE_TEST_SUITE_P(on, fork_test, testing::Values("1", "2", "8"));

TEST_P(fork_test, the_child_gets_a_default_runtime_of_its_own_and_the_parent_keeps_its) {
    const auto end = play([] {
        const int before = sum_of_tasks(10);
        const auto child = [] {
            return k_children_have_threads ? sum_of_tasks(20) : 20;  // and then its end, by exit
        };
        const int in_child = fork_and_wait(child, std::exit);
        return before + in_child + sum_of_tasks(30);
    });
    EXPECT_EQ(end.status, 60) << end.output;
}

/// A thread that is in a call when its process forks is not in the child.
TEST_P(fork_test, the_child_can_stop_listening_while_the_parent_is_in_a_call) {
    const auto end = play([] {
        struct waiting final : quern::trace::listener {
            void on_custom(const quern::trace::task_event&, const quern::trace::custom_event&,
                           double) noexcept override {
                is_inside = true;
                while (!may_leave) {
                    std::this_thread::yield();
                }
            }
            std::atomic<bool> is_inside{false};
            std::atomic<bool> may_leave{false};
        } one;
        auto handle = quern::trace::listen(one, quern::trace::event_kind::custom);
        std::thread caller([] { quern::trace::custom_event("waits").fire(); });
        while (!one.is_inside) {
            std::this_thread::yield();
        }
        const int in_child = fork_and_wait([&] {
            handle.stop();
            return quern::trace::is_wanted(quern::trace::event_kind::custom) ? 1 : 7;
        });
        one.may_leave = true;
        caller.join();
        handle.stop();
        return in_child;
    });
    EXPECT_EQ(end.status, 7) << end.output;
}

TEST_P(fork_test, the_child_of_a_child_too) {
    if (!k_children_have_threads) {
        GTEST_SKIP() << "ThreadSanitizer refuses threads in the child of a fork";
    }
    const auto end = play([] {
        sum_of_tasks(1);
        const auto grandchild = [] { return sum_of_tasks(10); };
        const auto child = [&] { return sum_of_tasks(20) + fork_and_wait(grandchild, std::exit); };
        return fork_and_wait(child, std::exit) + sum_of_tasks(30);
    });
    EXPECT_EQ(end.status, 60) << end.output;
}

TEST_P(fork_test, the_parents_tasks_run_in_the_parent_alone) {
    const auto end = play([] {
        std::atomic<int> runs{0};
        quern_test::spin_gate gate;
        quern::task_group group;
        for (int i = 0; i < 20; ++i) {
            group.run([&] {
                gate.pass();
                runs.fetch_add(1);
            });
        }
        const int in_child = fork_and_wait([&] {
            gate.open();
            return (k_children_have_threads ? sum_of_tasks(10) : 10) + runs.load();
        });
        gate.open();
        group.wait();
        return in_child + runs.load();
    });
    EXPECT_EQ(end.status, 30) << end.output;
}

TEST_P(fork_test, a_task_may_fork_and_execute_a_program) {
    const auto end = play([] {
        const auto spawn = [] {
            const int status = quern::async([] {
                                   return fork_and_wait([] {
                                       ::execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
                                       return 98;
                                   });
                               }).get();
            return status;
        };
        return spawn() + spawn() + sum_of_tasks(10);
    });
    EXPECT_EQ(end.status, 24) << end.output;
}

TEST_P(fork_test, the_child_of_a_task_is_a_plain_thread_until_it_exits) {
    const auto end = play([] {
        const auto child = [] {
            if (quern::this_task::is_task() || quern::current_worker_rank() != -1) {
                return 1;
            }
            return k_children_have_threads ? sum_of_tasks(20) : 20;
        };
        const int in_child = quern::async([&] { return fork_and_wait(child, std::exit); }).get();
        return in_child + sum_of_tasks(10);
    });
    EXPECT_EQ(end.status, 30) << end.output;
}

TEST_P(fork_test, the_child_of_a_task_in_a_blocking_region_is_a_plain_thread_too) {
    const auto end = play([] {
        const auto child = [] {
            sigset_t blocked;
            ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
            if (quern::this_task::is_task() || ::sigismember(&blocked, SIGTERM) != 0) {
                return 1;
            }
            return k_children_have_threads ? sum_of_tasks(20) : 20;
        };
        const int in_child = quern::async([&] {
                                 const quern::blocking_region waits_for_it;
                                 return fork_and_wait(child, std::exit);
                             }).get();
        return in_child + sum_of_tasks(10);
    });
    EXPECT_EQ(end.status, 30) << end.output;
}

TEST_P(fork_test, threads_that_wait_in_the_parent_are_forgotten_in_the_child) {
    const auto end = play([] {
        quern::event go_on;
        std::vector<std::thread> waiting;
        for (int i = 0; i < 4; ++i) {
            waiting.emplace_back([&go_on] { go_on.wait(); });
        }
        const auto all_wait = [] {
            return quern::task_report().find("4 threads outside wait") != std::string::npos;
        };
        while (!all_wait()) {
            std::this_thread::yield();
        }
        const auto child = [] {  // its workers get the stacks of those threads
            if (quern::task_report().find("outside wait") != std::string::npos) {
                return 1;
            }
            return k_children_have_threads ? sum_of_tasks(2000) / 100 : 20;
        };
        const int in_child = fork_and_wait(child, std::_Exit);
        go_on.set();
        for (std::thread& each : waiting) {
            each.join();
        }
        return in_child + sum_of_tasks(10);
    });
    EXPECT_EQ(end.status, 30) << end.output;
}

TEST_P(fork_test, the_child_of_a_task_must_not_return_to_its_worker) {
    const auto end = play([] {
        const int status = quern::async([] {
                               const pid_t child = ::fork();
                               return child == 0 ? 0 : quern_test::wait_for_child(child);
                           }).get();
        return status - 128;
    });
    EXPECT_EQ(end.status, SIGABRT) << end.output;
    EXPECT_NE(end.output.find("quern: a task that called fork() returned in the child process"),
              std::string::npos)
        << end.output;
}

TEST(fork_in_a_task, gives_the_child_the_signals_of_the_host_back) {
    const auto end = alone([] {
        runtime rt(runtime_options::with_workers(1));
        const auto takes_term = [] {
            sigset_t blocked;
            ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
            return ::sigismember(&blocked, SIGTERM) == 0 ? 1 : 0;
        };
        return quern::async(rt, [&] { return 10 * takes_term() + fork_and_wait(takes_term); })
            .get();
    });
    EXPECT_EQ(end.status, 1) << end.output;  // blocked in the task, free in the child
}

TEST(fork_and_inherited_runtimes, are_refused_with_a_message) {
    const auto end = alone([] {
        runtime rt(runtime_options::with_workers(2));
        const quern::pool_ref pool = rt.default_pool();
        quern::detail::pool* const address = &pool.get();
        return fork_and_wait([&] {
            int refused = 0;
            const auto expect_refusal = [&](auto&& use) {
                try {
                    use();
                } catch (const std::logic_error& error) {
                    ++refused;
                    std::puts(error.what());
                }
            };
            expect_refusal([&] { quern::async(rt, [] {}).get(); });
            expect_refusal([&] { quern::async(pool, [] {}).get(); });
            expect_refusal([&] { quern::post({.pool = address}, [] {}); });
            expect_refusal([&] { static_cast<void>(rt.pool("default")); });
            return refused;
        });
    });
    EXPECT_EQ(end.status, 4) << end.output;
    EXPECT_NE(end.output.find("quern: pool 'default' was started before fork()"), std::string::npos)
        << end.output;
}

TEST(fork_and_inherited_runtimes, abort_with_a_message_where_nothing_can_be_thrown) {
    const auto end = alone([] {
        runtime rt(runtime_options::with_workers(2));
        quern::task_group group(rt.default_pool());
        return fork_and_wait([&] {
                   group.run([] {});
                   return 0;
               }) -
               128;
    });
    EXPECT_EQ(end.status, SIGABRT) << end.output;
    EXPECT_NE(end.output.find("quern: pool 'default' was started before fork()"), std::string::npos)
        << end.output;
}

TEST(fork_and_inherited_runtimes, are_destroyed_without_waiting) {
    const auto end = alone([] {
        std::optional<runtime> rt(std::in_place, runtime_options::with_workers(2));
        static runtime of_the_program(runtime_options::with_workers(2));
        sum_of_tasks(1);
        quern_test::spin_gate gate;
        quern::post({.pool = &rt->default_pool().get()}, [&] { gate.pass(); });
        const int in_child = fork_and_wait(
            [&] {
                rt.reset();  // would wait for the task
                return 5;
            },
            std::exit);
        gate.open();
        return in_child;
    });
    EXPECT_EQ(end.status, 5) << end.output;
}

/// Threads that hold every lock of the process while others fork.
TEST(fork_at_any_moment, finds_the_locks_of_the_process_free_in_the_child) {
    if (!k_children_have_threads) {
        GTEST_SKIP() << "ThreadSanitizer refuses threads in the child of a fork";
    }
    const auto end = alone([] {
        std::atomic<bool> stop{false};
        std::vector<std::thread> busy;
        const auto add = [&](auto action) {
            busy.emplace_back([&stop, action] {
                while (!stop.load()) {
                    action();
                }
            });
        };
        for (int i = 0; i < 2; ++i) {
            add([] { runtime rt(runtime_options::with_workers(2)); });
        }
        add([] { quern::set_setting("spin-us", "10"); });
        add([] { static_cast<void>(quern::current_settings()); });
        add([] {
            using quern::detail::allocate_stack;
            quern::detail::release_stack(allocate_stack(quern::stack_class::small));
        });
        int good = 0;
        constexpr int k_forks = quern_test::scaled(100, 20);
        for (int i = 0; i < k_forks; ++i) {
            good += fork_and_wait([] {
                runtime rt(runtime_options::with_workers(2));
                const int own = quern::async(rt, [] { return 1; }).get();
                return own + sum_of_tasks(2) == 3 ? 1 : 0;
            });
        }
        stop.store(true);
        for (std::thread& thread : busy) {
            thread.join();
        }
        return good == k_forks ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

}  // namespace
