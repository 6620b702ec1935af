// SPDX-License-Identifier: BSL-1.0
// replay: the result is that of the plain loop, where each step is as the one before; children,
// holds. Steps that differ and errors are in replay_changes_test.cpp, random programs in
// tests/stress/replay_test.cpp.
#include <quern/dependences/replay.hpp>

#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/dependences/task_loop.hpp>

#include "unit/dependences/replay_fixture.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
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
using quern_test::is_replayed;
using quern_test::scaled;

class replay_test : public quern_test::by_task_or_thread {};
QUERN_ON_1_2_8_WORKERS(replay_test);

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
