// SPDX-License-Identifier: BSL-1.0
// scope: any number of children, all of which end before it does; errors; more children than the
// stack's array can hold.
#include <quern/task/scope.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::fork_context;
using quern::fork_scope;
using quern::scope;
using quern_test::scaled;
using quern_test::spin_gate;

class scope_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(scope_test);

// Holds: scope: Calls body(fork_scope&), also when it spawns nothing.
TEST_P(scope_test, without_children_is_a_call) {
    inside([] {
        int calls = 0;
        scope([&](fork_scope&) { ++calls; });
        EXPECT_EQ(calls, 1);
    });
}

// Holds: scope: Returns when the body and all children have ended; each child is run once.
// Holds: scope: What the children did happens before the return.
TEST_P(scope_test, runs_every_child_once_for_every_number) {
    inside([] {
        for (const std::size_t n : {1U, 2U, 3U, 7U, 8U, 9U, 100U, 1000U}) {
            std::vector<int> runs(n, 0);
            scope([&](fork_scope& s) {
                for (int& r : runs) {
                    s.spawn([&r] { ++r; });
                }
            });
            ASSERT_EQ(runs, std::vector<int>(n, 1)) << n;
        }
    });
}

// Holds: scope: When 64 children are ready...
TEST_P(scope_test, takes_more_children_than_the_array_holds) {
    inside([] {
        const std::size_t n = scaled(50'000U, 10'000U);
        std::vector<int> runs(n, 0);
        scope([&](fork_scope& s) {
            for (int& r : runs) {
                s.spawn([&r] { ++r; });
            }
        });
        EXPECT_EQ(runs, std::vector<int>(n, 1));
    });
}

// Holds: scope: When 64 children are ready and no thief has requested one, f runs at once; thieves
//     that request children still get some.
TEST_P(scope_test, runs_a_child_at_once_when_nobody_has_asked_for_many) {
    if (workers() != 1) {
        GTEST_SKIP() << "a thief may ask";
    }
    inside([] {
        std::vector<int> order;
        int before_the_body_ended = 0;
        scope([&](fork_scope& s) {
            for (int i = 0; i < 100; ++i) {
                s.spawn([&order, i] { order.push_back(i); });
            }
            before_the_body_ended = static_cast<int>(order.size());
        });
        ASSERT_EQ(order.size(), 100U);
        EXPECT_EQ(before_the_body_ended, 36);
        EXPECT_EQ(order.front(), 64);  // the first that found 64 ready ones
        EXPECT_EQ(order.back(), 0);    // the rest as usual: the youngest first
    });
}

// Holds: scope: When 64 children are ready...
TEST_P(scope_test, gives_everything_to_thieves_that_ask_though_the_body_runs_children) {
    if (workers() == 1 || !has_thieves()) {
        GTEST_SKIP() << "nobody to take a child";
    }
    inside([&] {
        std::atomic<int> elsewhere{0};
        const auto home = quern_test::os_thread();
        scope([&](fork_scope& s) {
            const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
            while (elsewhere.load() < 1000 && std::chrono::steady_clock::now() < deadline) {
                s.spawn([&] { elsewhere += quern_test::os_thread() != home ? 1 : 0; });
            }
        });
        EXPECT_GE(elsewhere.load(), 1000);
    });
}

// Holds: scope: What a child throws that runs at once does not leave spawn().
TEST_P(scope_test, keeps_the_exception_of_a_child_that_runs_at_once_until_its_end) {
    inside([] {
        int spawned = 0;
        const auto throw_in_the_last = [&] {
            scope([&](fork_scope& s) {
                for (int i = 0; i < 300; ++i) {
                    s.spawn([i] {
                        if (i == 299) {
                            throw std::runtime_error("the last");
                        }
                    });
                    ++spawned;
                }
            });
        };
        EXPECT_THROW(throw_in_the_last(), std::runtime_error);
        EXPECT_EQ(spawned, 300);  // spawn() threw nothing
        const auto throw_in_the_body_after_it = [] {
            scope([](fork_scope& s) {
                for (int i = 0; i < 300; ++i) {
                    s.spawn([] { throw std::runtime_error("a child"); });
                }
                throw std::logic_error("the body");
            });
        };
        EXPECT_THROW(throw_in_the_body_after_it(), std::logic_error);
    });
}

// Holds: scope: spawn() copies or moves closures of every kind, and destroys each once.
TEST_P(scope_test, takes_closures_of_every_kind) {
    inside([] {
        std::array<char, 500> large{};  // two do not fit into the scope's own memory
        large.fill(1);
        int sum = 0, other_sum = 0;
        int pointed = 0;
        int own = 0;
        struct alignas(64) aligned {
            int* out;
            void operator()() const {
                *out = static_cast<int>(reinterpret_cast<std::uintptr_t>(this) % 64);
            }
        };
        int misaligned = -1;
        const auto add = [&own] { own = 3; };
        scope([&](fork_scope& s) {
            for (int* out : {&sum, &other_sum}) {
                s.spawn([out, large] {
                    for (const char c : large) {
                        *out += c;
                    }
                });
            }
            s.spawn([&pointed, p = std::make_unique<int>(2)] { pointed = *p; });
            s.spawn(add);
            s.spawn(aligned{&misaligned});
        });
        EXPECT_EQ(sum + other_sum, 1000);
        EXPECT_EQ(pointed, 2);
        EXPECT_EQ(own, 3);
        EXPECT_EQ(misaligned, 0);
    });
}

// Holds: scope: spawn() copies or moves...
TEST_P(scope_test, destroys_every_closure_once) {
    auto witness = std::make_shared<int>(0);
    inside([&] {
        scope([&](fork_scope& s) {
            for (int i = 0; i < 100; ++i) {
                s.spawn([witness] {});
            }
        });
    });
    EXPECT_EQ(witness.use_count(), 1);
    inside([&] {
        EXPECT_THROW(scope([&](fork_scope& s) {
                         for (int i = 0; i < 100; ++i) {
                             s.spawn([witness] {});
                         }
                         throw 1;
                     }),
                     int);
    });
    EXPECT_EQ(witness.use_count(), 1);
}

// Holds: scope: spawn() takes f() or f(fork_context).
TEST_P(scope_test, gives_a_child_a_context_if_it_wants_one) {
    inside([] {
        int sum = 0;
        scope([&](fork_scope& s) {
            s.spawn([&sum](fork_context c) {
                const auto [f, g] = quern::fork_join(
                    c, [] { return 1; }, [] { return 2; });
                sum = f + g;
            });
        });
        EXPECT_EQ(sum, 3);
    });
}

void visit(std::vector<int>& marks, std::size_t first, std::size_t last) {
    constexpr std::size_t k_ways = 5;
    if (last - first == 1) {
        ++marks[first];
        return;
    }
    scope([&](fork_scope& s) {
        const std::size_t step = (last - first + k_ways - 1) / k_ways;
        for (std::size_t i = first; i < last; i += step) {
            const std::size_t end = std::min(i + step, last);
            s.spawn([&marks, i, end] { visit(marks, i, end); });
        }
    });
}

// Holds: scope: Body and children may...
TEST_P(scope_test, nests) {
    inside([] {
        std::vector<int> marks(scaled(20'000U, 3'000U), 0);
        visit(marks, 0, marks.size());
        EXPECT_EQ(marks, std::vector<int>(marks.size(), 1));
    });
}

void chain(int depth) {
    if (depth != 0) {
        scope([depth](fork_scope& s) { s.spawn([depth] { chain(depth - 1); }); });
    }
}

// Holds: scope: Body and children may...
TEST_P(scope_test, may_be_nested_deeply) {
    inside([] { chain(scaled(100'000, 2'000)); });
}

// Holds: scope: Body and children may...
TEST_P(scope_test, mixes_with_fork_join_in_body_and_children) {
    inside([] {
        int a = 0, b = 0, c = 0;
        scope([&](fork_scope& s) {
            s.spawn([&] { quern::fork_join([&] { ++a; }, [] {}); });
            quern::fork_join([&] { ++b; }, [] {});
            s.spawn([&] { ++c; });
        });
        EXPECT_EQ(a + b + c, 3);
    });
}

// Holds: scope: Body and children may suspend, fork and open scopes, to any depth.
TEST_P(scope_test, lets_body_and_children_suspend) {
    inside([] {
        std::vector<int> runs(100, 0);
        scope([&](fork_scope& s) {
            for (int& r : runs) {
                s.spawn([&r] {
                    quern_test::let_others_run();
                    ++r;
                });
                quern_test::let_others_run();
            }
        });
        EXPECT_EQ(runs, std::vector<int>(100, 1));
    });
}

// Holds: scope: Children are given to workers that are free.
TEST_P(scope_test, gives_children_to_thieves) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs a thief";
    }
    inside([] {
        spin_gate begun;
        scope([&](fork_scope& s) {
            s.spawn([&] { begun.open(); });
            begun.pass();
        });
    });
}

// Holds: scope: Throws the exception of the body, after all children that have begun have ended.
// Holds: scope: Children that have not begun when the body throws are dropped.
TEST_P(scope_test, throws_what_the_body_throws_after_all_children_have_ended) {
    inside([this] {
        for (int i = 0; i < 50; ++i) {
            int value = 0;  // plain: written by a child that runs when the body throws
            spin_gate begun;
            EXPECT_THROW(scope([&](fork_scope& s) {
                             s.spawn([&] {
                                 begun.open();
                                 quern_test::spin_for(std::chrono::microseconds(100));
                                 value = 1;
                             });
                             if (has_thieves()) {
                                 begun.pass();
                             }
                             throw std::logic_error("body");
                         }),
                         std::logic_error);
            EXPECT_EQ(value, has_thieves() ? 1 : 0);  // not begun: dropped
        }
    });
}

// Holds: scope: Throws the first exception of a child when the body has thrown none.
TEST_P(scope_test, throws_what_a_child_throws) {
    inside([] {
        for (std::size_t failing = 0; failing < 20; ++failing) {
            std::vector<int> runs(20, 0);
            EXPECT_THROW(scope([&](fork_scope& s) {
                             for (std::size_t i = 0; i < 20; ++i) {
                                 s.spawn([&runs, i, failing] {
                                     ++runs[i];
                                     if (i == failing) {
                                         throw std::runtime_error("child");
                                     }
                                 });
                             }
                         }),
                         std::runtime_error);
            for (const int r : runs) {
                ASSERT_LE(r, 1);
            }
            ASSERT_EQ(runs[failing], 1);
        }
    });
}

// Holds: scope: The body's exception goes before those of children.
TEST_P(scope_test, throws_one_exception_when_all_throw) {
    inside([] {
        EXPECT_THROW(scope([&](fork_scope& s) {
                         for (int i = 0; i < 100; ++i) {
                             s.spawn([] { throw std::runtime_error("child"); });
                         }
                         throw std::logic_error("body");
                     }),
                     std::logic_error);
    });
}

// Holds: scope: Any thread may call it; outside a worker it runs on the default runtime.
TEST(scope_from_outside, runs_on_the_default_runtime) {
    std::vector<int> runs(100, 0);
    scope([&](fork_scope& s) {
        EXPECT_GE(quern::current_worker_rank(), 0);
        for (int& r : runs) {
            s.spawn([&r] { ++r; });
        }
    });
    EXPECT_EQ(runs, std::vector<int>(100, 1));
    EXPECT_THROW(scope([](fork_scope&) { throw 1; }), int);
}

}  // namespace
