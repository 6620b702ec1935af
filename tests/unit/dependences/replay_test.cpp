// SPDX-License-Identifier: BSL-1.0
// replay: the result is that of the plain loop: the same steps, steps that change, children, holds,
// errors. Random programs are in tests/stress/replay_test.cpp.
#include <quern/dependences/replay.hpp>

#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/dependences/task_loop.hpp>
#include <quern/task/exceptions.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::on;
using quern::out;
using quern::replay;
using quern_test::scaled;

class replay_test : public quern_test::on_runtime {
protected:
    template <class F>
    void by_task_and_thread(F&& f) {
        inside([&] {
            domain work;
            f(work);
        });
        domain work(rt.default_pool());
        f(work);
    }
};
QUERN_ON_1_2_8_WORKERS(replay_test);

/// Whether the running task was made in an earlier step.
int is_replayed() { return quern::detail::dependent_task::current()->is_replayed() ? 1 : 0; }

// Holds: replay: body(step) is called for each step in its order, by the caller.
TEST_P(replay_test, calls_the_body_for_each_step) {
    by_task_and_thread([](domain& work) {
        std::vector<std::int64_t> steps;
        replay(work, 5, [&steps](std::int64_t step) { steps.push_back(step); });
        EXPECT_EQ(steps, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
        replay(work, 0, [](std::int64_t) { FAIL(); });
    });
}

// Holds: replay: returns when its tasks are complete. A chain through all steps keeps its order.
//     From the second step on no task is made.
TEST_P(replay_test, a_chain_through_all_steps) {
    by_task_and_thread([](domain& work) {
        std::uint64_t value = 1;
        std::uint64_t expected = 1;
        int replayed = 0;
        constexpr std::int64_t k_steps = 1000;
        replay(work, k_steps, [&](std::int64_t step) {
            const auto s = static_cast<std::uint64_t>(step);
            work.spawn(inout(value), [&replayed](std::uint64_t& v) {
                v = 3 * v + 1;
                replayed += is_replayed();
            });
            work.spawn(inout(value), [s](std::uint64_t& v) { v = 5 * v + s; });
        });
        EXPECT_EQ(replayed, k_steps - 1);
        for (std::uint64_t s = 0; s < k_steps; ++s) {
            expected = 5 * (3 * expected + 1) + s;
        }
        EXPECT_EQ(value, expected);
    });
}

/// The cells of a row, each of their neighbours in the row before: two rows in turn.
std::vector<std::uint64_t> stencil(std::size_t width, std::int64_t steps, domain* work) {
    std::vector<std::uint64_t> rows(2 * width);
    std::iota(rows.begin(), rows.end(), 0);
    const auto body = [&](std::int64_t) {
        for (int half = 0; half < 2; ++half) {
            std::uint64_t* const from = rows.data() + (half == 0 ? 0 : width);
            std::uint64_t* const to = rows.data() + (half == 0 ? width : 0);
            for (std::size_t i = 0; i < width; ++i) {
                const std::size_t first = i == 0 ? 0 : i - 1;
                const std::size_t last = i + 1 == width ? i : i + 1;
                const auto n = static_cast<std::ptrdiff_t>(last - first + 1);
                const auto sum = [](std::span<const std::uint64_t> cells, std::uint64_t& result) {
                    result = std::accumulate(cells.begin(), cells.end(), std::uint64_t{1});
                };
                if (work != nullptr) {
                    work->spawn(in(from + first, n), out(to[i]), sum);
                } else {
                    sum({from + first, last - first + 1}, to[i]);
                }
            }
        }
    };
    if (work != nullptr) {
        replay(*work, steps, body);
    } else {
        for (std::int64_t step = 0; step < steps; ++step) {
            body(step);
        }
    }
    return rows;
}

// Holds: replay: A stencil, whose accesses overlap, gives the result of the loop, for widths with
//     many and with few steps in flight.
TEST_P(replay_test, a_stencil_is_as_the_serial_one) {
    by_task_and_thread([](domain& work) {
        for (const std::size_t width : {1U, 2U, 7U, 100U, 600U}) {
            const std::int64_t steps = scaled(60, 20);
            ASSERT_EQ(stencil(width, steps, &work), stencil(width, steps, nullptr)) << width;
        }
    });
}

// Holds: replay: Gauss-Seidel by blocks: a wave goes through each step, and steps overlap.
TEST_P(replay_test, a_wave_is_as_the_serial_one) {
    by_task_and_thread([](domain& work) {
        constexpr int k_side = 8;
        using grid = std::vector<std::uint64_t>;
        const auto update = [](std::uint64_t up, std::uint64_t left, std::uint64_t& own,
                               std::uint64_t right, std::uint64_t down) {
            own = 3 * up + 5 * left + own + 7 * right + 11 * down;
        };
        const auto at = [](int i, int j) { return static_cast<std::size_t>(i * (k_side + 2) + j); };
        grid cells((k_side + 2) * (k_side + 2), 1);
        grid expected = cells;
        constexpr std::int64_t k_steps = 50;
        replay(work, k_steps, [&](std::int64_t) {
            for (int i = 1; i <= k_side; ++i) {
                for (int j = 1; j <= k_side; ++j) {
                    work.spawn(in(cells[at(i - 1, j)]), in(cells[at(i, j - 1)]),
                               inout(cells[at(i, j)]), in(cells[at(i, j + 1)]),
                               in(cells[at(i + 1, j)]), update);
                }
            }
        });
        for (std::int64_t step = 0; step < k_steps; ++step) {
            for (int i = 1; i <= k_side; ++i) {
                for (int j = 1; j <= k_side; ++j) {
                    update(expected[at(i - 1, j)], expected[at(i, j - 1)], expected[at(i, j)],
                           expected[at(i, j + 1)], expected[at(i + 1, j)]);
                }
            }
        }
        EXPECT_EQ(cells, expected);
    });
}

// Holds: replay: A body may wait for results, and end the loop: conjugate gradients.
TEST_P(replay_test, a_body_waits_for_a_result_and_ends_the_loop) {
    by_task_and_thread([](domain& work) {
        static constexpr std::ptrdiff_t k_n = 200;
        constexpr std::ptrdiff_t k_block = 25;
        std::vector<double> x(k_n, 0.0), r(k_n, 1.0), p = r, q(k_n);
        double rr = k_n, pq = 0, next = 0;
        std::int64_t steps = 0;
        const auto part = [](std::vector<double>& v, auto from, auto to) {
            return std::span<double>(&v[static_cast<std::size_t>(from)],
                                     static_cast<std::size_t>(to - from));
        };
        replay(work, 1000, [&](std::int64_t step) {
            steps = step + 1;
            work.spawn(out(pq), out(next), [](double& a, double& b) { a = b = 0; });
            quern::task_loop(
                work, 0, k_n, k_block,
                [&](auto from, auto to) {
                    return quern::accesses(in(p), out(part(q, from, to)), inout(pq));
                },
                [](auto from, auto to, auto all, auto own, double& sum) {
                    for (auto i = from; i < to; ++i) {
                        const auto at = static_cast<std::size_t>(i);
                        own[static_cast<std::size_t>(i - from)] = 4 * all[at] -
                                                                  (i > 0 ? all[at - 1] : 0) -
                                                                  (i + 1 < k_n ? all[at + 1] : 0);
                        sum += all[at] * own[static_cast<std::size_t>(i - from)];
                    }
                });
            quern::task_loop(
                work, 0, k_n, k_block,
                [&](auto from, auto to) {
                    return quern::accesses(inout(part(x, from, to)), inout(part(r, from, to)),
                                           in(part(p, from, to)), in(part(q, from, to)), in(rr),
                                           in(pq), inout(next));
                },
                [](auto, auto, auto xs, auto rs, auto ps, auto qs, double old, double by,
                   double& sum) {
                    for (std::size_t i = 0; i < xs.size(); ++i) {
                        xs[i] += old / by * ps[i];
                        rs[i] -= old / by * qs[i];
                        sum += rs[i] * rs[i];
                    }
                });
            quern::task_loop(
                work, 0, k_n, k_block,
                [&](auto from, auto to) {
                    return quern::accesses(inout(part(p, from, to)), in(part(r, from, to)), in(rr),
                                           in(next));
                },
                [](auto, auto, auto ps, auto rs, double old, double now) {
                    for (std::size_t i = 0; i < ps.size(); ++i) {
                        ps[i] = rs[i] + now / old * ps[i];
                    }
                });
            work.spawn(in(next), out(rr), [](double from, double& to) { to = from; });
            work.taskwait(on(in(rr)));
            return rr > 1e-20;
        });
        EXPECT_LT(steps, 60);
        for (std::size_t i = 0; i < k_n; ++i) {
            const double found = 4 * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < k_n ? x[i + 1] : 0);
            ASSERT_NEAR(found, 1.0, 1e-9);
        }
    });
}

// Holds: replay: Tasks that no data order run at the same time, also those of different steps.
TEST_P(replay_test, steps_overlap) {
    if (rt.workers() < 2) {
        return;
    }
    by_task_and_thread([](domain& work) {
        std::uint64_t a = 0, b = 0;
        std::atomic<std::int64_t> of_b{0};
        bool was_ahead = true;
        replay(work, 20, [&](std::int64_t step) {
            work.spawn(inout(a), [&, step](std::uint64_t&) {
                if (step == 10) {  // until the other chain is one step ahead
                    was_ahead = quern_test::eventually([&of_b] { return of_b >= 12; });
                }
            });
            work.spawn(inout(b), [&of_b](std::uint64_t&) { ++of_b; });
        });
        EXPECT_TRUE(was_ahead);
    });
}

/// What a step spawns: `kind` chooses the structure.
void spawn_kind(domain& work, std::uint32_t kind, std::vector<std::uint64_t>& v, std::uint64_t s) {
    const auto mix = [s](std::uint64_t from, std::uint64_t& to) { to = 7 * to + from + s; };
    const std::size_t n = v.size();
    for (std::size_t i = 0; i < n; ++i) {
        switch (kind) {
            case 0:
                work.spawn(in(v[(i + 1) % n]), inout(v[i]), mix);
                break;
            case 1:  // other regions
                work.spawn(in(v[(i + 2) % n]), inout(v[i]), mix);
                break;
            case 2:  // another kind: two writes
                work.spawn(inout(v[(i + 1) % n]), inout(v[i]), mix);
                break;
            case 3:  // fewer
                if (i % 2 == 0) {
                    work.spawn(in(v[(i + 1) % n]), inout(v[i]), mix);
                }
                break;
            case 4:  // more
                work.spawn(in(v[(i + 1) % n]), inout(v[i]), mix);
                if (i + 1 == n) {
                    work.spawn(inout(v), [](auto all) { ++all[0]; });
                }
                break;
            case 5:  // another function
                work.spawn(in(v[(i + 1) % n]), inout(v[i]),
                           [s](std::uint64_t from, std::uint64_t& to) { to = 9 * to + from + s; });
                break;
            case 6:  // what cannot be replayed
                if (i == 3) {
                    static_cast<void>(
                        work.async(inout(v[i]), [](std::uint64_t& to) { return ++to; }));
                }
                work.spawn(in(v[(i + 1) % n]), inout(v[i]), mix);
                break;
            case 7:
                work.spawn(quern::commutative(v[0]), [s](std::uint64_t& to) { to += s; });
                work.spawn({.deferred = false}, in(v[(i + 1) % n]), inout(v[i]), mix);
                break;
            case 8:
                work.spawn(quern::weak(inout(v)),
                           [&v, i, mix] { quern::spawn(in(v[0]), inout(v[i / 2 + 1]), mix); });
                break;
            default:  // nothing
                break;
        }
    }
}

// Holds: replay: A step that differs from the one before is noticed, wherever it differs.
TEST_P(replay_test, a_changed_structure_is_recorded_anew) {
    by_task_and_thread([](domain& work) {
        for (std::uint32_t from = 0; from <= 9; ++from) {
            for (std::uint32_t to = 0; to <= 9; ++to) {
                std::vector<std::uint64_t> v(8, 1);
                const auto kind_of = [&](std::int64_t step) {
                    return step == 5 || step == 12 || step == 13 || step > 20 ? to : from;
                };
                replay(work, 30, [&](std::int64_t step) {
                    spawn_kind(work, kind_of(step), v, static_cast<std::uint64_t>(step));
                });
                std::vector<std::uint64_t> expected(8, 1);
                domain one_by_one;
                for (std::int64_t step = 0; step < 30; ++step) {
                    spawn_kind(one_by_one, kind_of(step), expected,
                               static_cast<std::uint64_t>(step));
                    one_by_one.taskwait();
                }
                ASSERT_EQ(v, expected) << from << " to " << to;
            }
        }
    });
}

// Holds: replay: Steps that are the same again are replayed again: after one like the one before,
//     then after two, and so on.
TEST_P(replay_test, replays_again_after_a_change) {
    by_task_and_thread([](domain& work) {
        std::vector<int> v(2, 0);
        std::vector<std::int64_t> replayed;
        replay(work, 20, [&](std::int64_t step) {
            work.spawn(inout(v[step == 5 || step == 12 ? 1 : 0]), [&replayed, step](int&) {
                if (is_replayed() != 0) {
                    replayed.push_back(step);
                }
            });
            work.taskwait();
        });
        // 5 differs, 6 differs from 5, 7 is as 6.
        EXPECT_EQ(replayed, (std::vector<std::int64_t>{1, 2, 3, 4, 8, 9, 10, 11, 16, 17, 18, 19}));
    });
}

// Holds: replay: The function is moved into a task that is there, and destroyed when it has run.
TEST_P(replay_test, functions_are_moved_and_destroyed) {
    by_task_and_thread([](domain& work) {
        const auto kept = std::make_shared<int>(0);
        int value = 0;
        replay(work, 100, [&](std::int64_t) {
            work.spawn(inout(value), [own = std::make_unique<int>(2), kept](int& v) { v += *own; });
            work.taskwait();
            EXPECT_EQ(kept.use_count(), 1);
        });
        EXPECT_EQ(value, 200);
    });
}

// Holds: replay: Attributes of a replayed task are those of its own spawn().
TEST_P(replay_test, attributes_are_those_of_the_step) {
    by_task_and_thread([](domain& work) {
        int value = 0;
        int right = 0;
        static const char* const names[] = {"even", "odd"};
        replay(work, 50, [&](std::int64_t step) {
            work.spawn({.name = names[step % 2], .rank = static_cast<std::int16_t>(step % 3)},
                       inout(value), [&right, step](int&) {
                           right += std::string(quern::this_task::name()) == names[step % 2];
                       });
        });
        EXPECT_EQ(right, 50);
    });
}

// Holds: replay: A replayed task is complete when its children are and its holds are dropped.
TEST_P(replay_test, waits_for_children_and_holds) {
    by_task_and_thread([](domain& work) {
        std::vector<int> v(10, 0);
        int copy = 0;
        int later = 0;
        std::vector<std::jthread> threads;
        replay(work, 20, [&](std::int64_t step) {
            work.spawn(inout(v), [&v](auto) {
                for (int& each : v) {
                    quern::spawn(inout(each), [](int& e) {
                        quern::this_task::yield();
                        ++e;
                    });
                }
                quern::this_task::release(inout(v));  // nothing here: released when complete
            });
            work.spawn(in(v), out(copy), [step](auto all, int& c) {
                for (const int each : all) {
                    EXPECT_EQ(each, step + 1);
                }
                c = all[0];
            });
            work.spawn(in(copy), inout(later), [&threads](int c, int& l) {
                threads.emplace_back([c, &l, hold = quern::this_task::hold_accesses()]() mutable {
                    std::this_thread::yield();
                    l += c;
                    hold.drop();
                });
            });
            work.spawn({.final = true}, in(later), inout(v[0]),
                       [](int, int& e) { quern::spawn(inout(e), [](int& own) { own += 0; }); });
        });
        EXPECT_EQ(later, 20 * 21 / 2);
    });
}

// Holds: replay: Tasks before it and after it in the domain are ordered as usual.
TEST_P(replay_test, has_its_place_in_the_domain) {
    by_task_and_thread([](domain& work) {
        int value = 0;
        work.spawn(inout(value), [](int& v) {
            quern::this_task::yield();
            v = 1;
        });
        replay(work, 10, [&](std::int64_t) { work.spawn(inout(value), [](int& v) { v *= 2; }); });
        EXPECT_EQ(value, 1024);
        work.spawn(inout(value), [](int& v) { ++v; });
        work.taskwait();
        EXPECT_EQ(value, 1025);
    });
}

// Holds: replay: The first exception of a task is thrown, no later task of its chain runs, no later
//     step begins, and the domain can be used again.
TEST_P(replay_test, throws_the_exception_of_a_task) {
    by_task_and_thread([](domain& work) {
        for (const std::int64_t bad : {0, 1, 2, 7}) {
            for (const bool in_child : {false, true}) {
                int value = 0;
                std::int64_t begun = 0;
                try {
                    replay(work, 1'000'000'000, [&](std::int64_t step) {
                        begun = step;
                        work.spawn(inout(value), [=](int& v) {
                            EXPECT_LE(step, bad);
                            if (step == bad && in_child) {
                                quern::spawn(inout(v), [](int&) { throw std::runtime_error("x"); });
                            } else if (step == bad) {
                                throw std::runtime_error("x");
                            }
                            ++v;
                        });
                    });
                    FAIL();
                } catch (const std::runtime_error& error) {
                    EXPECT_STREQ(error.what(), "x");
                }
                EXPECT_EQ(value, bad + (in_child ? 1 : 0));
                EXPECT_LT(begun, 1'000'000'000 - 1);
                replay(work, 10,
                       [&](std::int64_t) { work.spawn(inout(value), [](int& v) { ++v; }); });
                EXPECT_EQ(value, bad + (in_child ? 11 : 10));
            }
        }
    });
}

// Holds: replay: cancel() ends it with task_cancelled.
TEST_P(replay_test, can_be_cancelled) {
    by_task_and_thread([](domain& work) {
        for (const std::int64_t last : {0, 1, 20}) {
            int value = 0;
            const auto cancelled = [&] {
                replay(work, 1'000'000'000, [&](std::int64_t step) {
                    work.spawn(inout(value), [&work, step, last](int& v) {
                        ++v;
                        if (step == last) {
                            work.cancel();
                        }
                    });
                });
            };
            EXPECT_THROW(cancelled(), quern::task_cancelled);
            EXPECT_EQ(value, last + 1);
            EXPECT_FALSE(work.is_cancelled());
        }
    });
}

// Holds: replay: What the body throws is thrown when its tasks have ended; then the domain is as
//     before.
TEST_P(replay_test, hands_on_what_the_body_throws) {
    by_task_and_thread([](domain& work) {
        for (const std::int64_t bad : {0, 1, 5}) {
            int value = 0;
            const auto throws = [&] {
                replay(work, 10, [&](std::int64_t step) {
                    work.spawn(inout(value), [](int& v) {
                        quern::this_task::yield();
                        ++v;
                    });
                    if (step == bad) {
                        throw std::runtime_error("body");
                    }
                });
            };
            EXPECT_THROW(throws(), std::runtime_error);
            EXPECT_EQ(value, bad + 1);
            work.spawn(inout(value), [](int& v) { v = 0; });
            work.taskwait();
            EXPECT_EQ(value, 0);
        }
    });
}

/// Its copies may throw.
struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(const throws_when_copied& other) : does(other.does) {
        if (does) {
            throw std::runtime_error("copy");
        }
    }
    void operator()(int& v) const { ++v; }
    bool does = false;
};

// Holds: replay: A function whose copy throws is no task; the loop may continue without it.
TEST_P(replay_test, a_copy_that_throws_adds_no_task) {
    by_task_and_thread([](domain& work) {
        int value = 0;
        int caught = 0;
        throws_when_copied function;
        replay(work, 20, [&](std::int64_t step) {
            function.does = step % 7 == 6;
            try {
                work.spawn(inout(value), function);
            } catch (const std::runtime_error&) {
                ++caught;
            }
            work.spawn(inout(value), [](int& v) { v += 100; });
        });
        EXPECT_EQ(caught, 2);
        EXPECT_EQ(value, 18 + 2000);
    });
}

// Holds: replay: errors for a negative number of steps, for a stranger, and within itself.
TEST_P(replay_test, refuses_wrong_use) {
    inside([] {
        domain work;
        try {
            replay(work, -1, [](std::int64_t) { FAIL(); });
            FAIL();
        } catch (const std::invalid_argument& error) {
            EXPECT_STREQ(error.what(), "quern: replay of -1 steps: the number is negative");
        }
        const auto nested = [&] {
            replay(work, 2, [&](std::int64_t) { replay(work, 2, [](std::int64_t) {}); });
        };
        EXPECT_THROW(nested(), std::logic_error);
        replay(work, 2, [](std::int64_t) {});
    });
    domain work(rt.default_pool());
    inside([&work] { EXPECT_THROW(replay(work, 1, [](std::int64_t) {}), std::logic_error); });
}

// Holds: replay: A replay in a task of a replay, each with a domain of its own.
TEST_P(replay_test, replays_within_replays) {
    by_task_and_thread([](domain& work) {
        std::vector<int> v(4, 0);
        replay(work, 10, [&](std::int64_t) {
            for (int& each : v) {
                work.spawn(inout(each), [](int& e) {
                    domain inner;
                    replay(inner, 10,
                           [&](std::int64_t) { inner.spawn(inout(e), [](int& own) { ++own; }); });
                });
            }
        });
        EXPECT_EQ(v, std::vector<int>(4, 100));
    });
}

}  // namespace
