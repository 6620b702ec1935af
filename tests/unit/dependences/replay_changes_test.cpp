// SPDX-License-Identifier: BSL-1.0
// replay, where something does not go as in the step before: steps that differ, exceptions,
// cancellation, wrong use.
#include <quern/dependences/replay.hpp>

#include <quern/dependences/spawn.hpp>
#include <quern/task/exceptions.hpp>

#include "unit/dependences/replay_fixture.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::replay;
using quern_test::is_replayed;

class replay_changes : public quern_test::by_task_or_thread {};
QUERN_ON_1_2_8_WORKERS(replay_changes);

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
TEST_P(replay_changes, a_changed_structure_is_recorded_anew) {
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
TEST_P(replay_changes, replays_again_after_a_change) {
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

// Holds: replay: The first exception of a task is thrown, no later task of its chain runs, no later
//     step begins, and the domain can be used again.
TEST_P(replay_changes, throws_the_exception_of_a_task) {
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
TEST_P(replay_changes, can_be_cancelled) {
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
TEST_P(replay_changes, hands_on_what_the_body_throws) {
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
TEST_P(replay_changes, a_copy_that_throws_adds_no_task) {
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
TEST_P(replay_changes, refuses_wrong_use) {
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

}  // namespace
