// SPDX-License-Identifier: BSL-1.0
// Branches of the task that owns a domain: whether they may spawn does not depend on thieves. And
// forks of such a task are right in all else.
#include <quern/dependences/domain.hpp>
#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/task/async.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/task_group.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::domain;
using quern::fork_join;
using quern::inout;
using quern_test::scaled;

class domain_branches : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(domain_branches);

/// Whether the call is refused.
template <class F>
bool is_refused(F&& call) {
    try {
        call();
        return false;
    } catch (const std::logic_error&) {
        return true;
    }
}

/// Time for a thief.
void linger(int round) {
    for (int i = 0; i < round % 4; ++i) {
        quern_test::spin_for(std::chrono::microseconds(5));
    }
}

// Holds: domain: A branch that may be stolen, a forked child, may not spawn in the domain of its
//     task, stolen or not; the branch that runs at once on the stack of the task may.
TEST_P(domain_branches, of_the_owner_may_not_spawn) {
    inside([] {
        for (int round = 0; round < scaled(100, 20); ++round) {
            domain work;
            int a = 0;
            int b = 0;
            const auto spawn = [&work](int& v) {
                return is_refused([&] { work.spawn(inout(v), [](int& w) { ++w; }); });
            };
            const auto [forked, at_once] = fork_join([&] { return spawn(a); },
                                                     [&] {
                                                         linger(round);
                                                         return spawn(b);
                                                     });
            EXPECT_TRUE(forked);
            EXPECT_FALSE(at_once);
            EXPECT_FALSE(spawn(a));
            work.taskwait();
            EXPECT_EQ(a, 1);
            EXPECT_EQ(b, 1);
        }
    });
}

// Holds: domain: A branch that may be stolen..., of any depth, by scope() too.
TEST_P(domain_branches, of_any_depth_may_not_spawn) {
    inside([] {
        for (int round = 0; round < scaled(60, 20); ++round) {
            domain work;
            int v = 0;
            std::atomic<int> refused{0};
            const auto try_it = [&] {
                refused += is_refused([&] { work.spawn(inout(v), [](int& w) { ++w; }); }) ? 1 : 0;
            };
            fork_join([&] { fork_join([&] { try_it(); }, [&] { try_it(); }); },
                      [&] {
                          fork_join([&] { try_it(); }, [&] { linger(round); });
                          quern::scope([&](quern::fork_scope& s) {
                              for (int i = 0; i < 100; ++i) {
                                  s.spawn(try_it);
                              }
                              try_it();  // the body of the scope: accepted
                          });
                      });
            EXPECT_EQ(refused, 103);
            work.taskwait();
            EXPECT_EQ(v, 1);
        }
    });
}

// Holds: domain: A branch that may be stolen..., nor wait, nor add children to a dependent task,
//     nor release or hold its accesses.
TEST_P(domain_branches, of_a_dependent_task_are_not_that_task) {
    inside([] {
        for (int round = 0; round < scaled(80, 20); ++round) {
            domain work;
            int x = 0;
            int y = 0;
            work.spawn(inout(x), inout(y), [&](int& a, int& b) {
                const auto add = [](int& v) { quern::spawn(inout(v), [](int& w) { ++w; }); };
                fork_join(
                    [&] {
                        EXPECT_TRUE(is_refused([&] { add(a); }));
                        EXPECT_TRUE(is_refused([] { quern::taskwait(); }));
                        EXPECT_TRUE(is_refused([&] { quern::this_task::release(inout(a)); }));
                        EXPECT_TRUE(is_refused([] { (void)quern::this_task::hold_accesses(); }));
                        EXPECT_TRUE(is_refused([&] { work.taskwait(); }));
                        domain own;
                        own.spawn(inout(a), [](int& w) { w += 10; });
                    },
                    [&] {
                        linger(round);
                        add(b);
                    });
                add(a);
            });
            work.taskwait();
            EXPECT_EQ(x, 11);
            EXPECT_EQ(y, 1);
        }
    });
}

long fib(quern::fork_context c, int n) {
    if (n < 2) {
        return n;
    }
    const auto [a, b] = fork_join(
        c, [n](quern::fork_context d) { return fib(d, n - 1); },
        [n](quern::fork_context d) { return fib(d, n - 2); });
    return a + b;
}
long fib(int n) {
    const auto [a, nothing] = fork_join([n](quern::fork_context c) { return fib(c, n); },
                                        [](quern::fork_context) { return 0; });
    return a + nothing;
}

// Holds: domain: Forks of tasks that own a domain compute what others do.
TEST_P(domain_branches, compute_what_they_should) {
    inside([] {
        domain work;
        EXPECT_EQ(fib(20), 6765);
        std::vector<long> results(8);
        for (long& each : results) {
            work.spawn(inout(each), [](long& r) { r = fib(18); });
        }
        EXPECT_EQ(fib(18), 2584);
        work.taskwait();
        EXPECT_EQ(results, std::vector<long>(8, 2584));
        std::vector<int> done(5000);
        work.spawn(inout(done), [](auto marks) {
            quern::scope([&](quern::fork_scope& s) {
                for (int& each : marks) {
                    s.spawn([&each] { ++each; });
                }
            });
        });
        work.taskwait();
        EXPECT_EQ(done, std::vector<int>(5000, 1));
    });
}

// Holds: domain: Forks of tasks that own a domain deliver exceptions as others do: that of the
//     branch that runs at once drops the other one if it has not begun.
TEST_P(domain_branches, throw_what_they_should) {
    inside([this] {
        domain work;
        for (int round = 0; round < scaled(60, 20); ++round) {
            std::atomic<bool> has_begun{false};
            EXPECT_THROW(
                fork_join([] { throw std::runtime_error("forked"); }, [round] { linger(round); }),
                std::runtime_error);
            EXPECT_THROW(fork_join([&has_begun] { has_begun = true; },
                                   [] { throw std::invalid_argument("at once"); }),
                         std::invalid_argument);
            EXPECT_TRUE(!has_begun || has_thieves());
            std::atomic<int> ran{0};
            EXPECT_THROW(quern::scope([&ran](quern::fork_scope& s) {
                             for (int i = 0; i < 20; ++i) {
                                 s.spawn([&ran] { ++ran; });
                             }
                             throw std::invalid_argument("body");
                         }),
                         std::invalid_argument);
            EXPECT_TRUE(ran == 0 || has_thieves());
            EXPECT_THROW(quern::scope([](quern::fork_scope& s) {
                             s.spawn([] { throw std::runtime_error("child"); });
                         }),
                         std::runtime_error);
        }
    });
}

int depth_of(int n) {
    if (n == 0) {
        return 0;
    }
    const auto [a, b] = fork_join([n] { return n % 2 == 0 ? depth_of(n - 1) : 0; },
                                  [n] { return n % 2 == 0 ? 0 : depth_of(n - 1); });
    return a + b + 1;
}

// Holds: domain: Forks of tasks that own a domain may be as deep as those of others.
TEST_P(domain_branches, may_be_deep) {
    inside([] {
        domain work;
        constexpr int k_deep = scaled(20'000, 1000);
        EXPECT_EQ(depth_of(k_deep), k_deep);
        int depth = 0;
        work.spawn(inout(depth), [](int& d) { d = depth_of(k_deep); });
        work.taskwait();
        EXPECT_EQ(depth, k_deep);
    });
}

// Holds: domain: A branch may suspend.
TEST_P(domain_branches, may_suspend) {
    inside([] {
        for (int round = 0; round < scaled(50, 10); ++round) {
            domain work;
            std::atomic<int> arrived{0};
            int x = 0;
            for (int i = 0; i < 4; ++i) {
                work.spawn([&] {
                    fork_join(
                        [&] {
                            ++arrived;
                            while (arrived < 4) {  // of each task one
                                quern::this_task::yield();
                            }
                        },
                        [&] { quern::spawn(inout(x), [] {}); });
                });
            }
            work.taskwait();
            EXPECT_EQ(arrived, 4);
        }
    });
}

/// Calls `ask` in tasks that may run on the stack of the caller, which waits for them. Returns how
/// often it has said true, of 5.
template <class Ask>
int ask_in_place_of_the_waiter(Ask ask) {
    std::atomic<int> said{0};
    const auto count = [&] { said += ask() ? 1 : 0; };
    quern::async(count).get();
    quern::async(quern::launch::deferred, count).get();
    quern::task_group group;
    for (int i = 0; i < 3; ++i) {
        group.run(count);
    }
    group.wait();
    return said;
}

// Holds: domain: A task that runs in the place of the owner, which waits for it, is not the owner:
//     its taskwait() throws, and does not wait for what the owner must do first.
TEST_P(domain_branches, a_task_in_the_place_of_its_waiter_is_not_the_owner) {
    inside([] {
        domain work;
        int value = 0;
        int other = 0;
        std::atomic<int> refused{0};
        const auto ask = [&] { return is_refused([&] { work.taskwait(); }); };
        const auto ask_for_data = [&] {
            return is_refused([&] { work.taskwait(quern::on(value)); });
        };
        quern::promise<int> gate;
        work.spawn(inout(value),
                   [opened = gate.get_future()](int& v) mutable { v += opened.get(); });
        EXPECT_EQ(ask_in_place_of_the_waiter(ask), 5);
        EXPECT_EQ(ask_in_place_of_the_waiter(ask_for_data), 5);
        // Tasks of the domain, while the owner waits for them.
        work.spawn(inout(other), [&](int& v) {
            v += ask() ? 1 : 0;
            v += ask_in_place_of_the_waiter(ask);
            quern::spawn(inout(v), [&ask](int& of_child) { of_child += ask() ? 1 : 0; });
        });
        gate.set_value(1);
        work.taskwait();
        EXPECT_EQ(other, 7);
        EXPECT_EQ(value, 1);
    });
}

// Holds: domain: Nor is it the dependent task that waits for it.
TEST_P(domain_branches, a_task_in_the_place_of_its_waiter_is_no_dependent_task) {
    inside([] {
        domain work;
        int value = 0;
        const auto ask = [] { return is_refused([] { quern::taskwait(); }); };
        work.spawn(inout(value), [&ask](int& v) {
            quern::spawn(inout(v), [&ask](int& of_child) {
                quern::taskwait();  // for its own children, of which there are none
                of_child += ask_in_place_of_the_waiter(ask);
            });
            const int of_parent = ask_in_place_of_the_waiter(ask);
            quern::taskwait();
            v += of_parent;
        });
        work.taskwait();
        EXPECT_EQ(value, 10);
    });
}

}  // namespace
