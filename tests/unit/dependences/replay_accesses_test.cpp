// SPDX-License-Identifier: BSL-1.0
// replay: which accesses can be replayed, with views of all kinds and functions of all sizes, and
// those that end a replay.
#include <quern/dependences/replay.hpp>

#include <quern/dependences/access_list.hpp>
#include <quern/dependences/block.hpp>
#include <quern/dependences/reduction.hpp>
#include <quern/dependences/renamed.hpp>
#include <quern/dependences/tiles_view.hpp>

#include "unit/dependences/replay_fixture.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern::replay;
using quern_test::is_replayed;

class replay_accesses : public quern_test::by_task_or_thread {};
QUERN_ON_1_2_8_WORKERS(replay_accesses);

constexpr std::int64_t k_steps = 50;

// Holds: replay: Blocks are replayed, and each task gets the view that its own spawn() has named.
TEST_P(replay_accesses, blocks) {
    by_task_and_thread([](domain& work) {
        constexpr std::ptrdiff_t k_n = 6;
        std::vector<std::uint64_t> m(k_n * k_n, 1);
        std::vector<std::uint64_t> expected = m;
        std::atomic<int> replayed = 0;
        const auto at = [](std::vector<std::uint64_t>& of, std::ptrdiff_t i) {
            return quern::block(&of[static_cast<std::size_t>(i * k_n + i)], k_n, 3, 2);
        };
        const auto mix = [](std::uint64_t step, auto from, auto to) {
            for (std::ptrdiff_t r = 0; r < 3; ++r) {
                to(r, 0) = 3 * to(r, 1) + from(r, 1) + step;
            }
        };
        replay(work, k_steps, [&](std::int64_t step) {
            const auto s = static_cast<std::uint64_t>(step);
            for (std::ptrdiff_t i = 0; i < 3; ++i) {
                // The blocks overlap with their neighbours.
                work.spawn(in(at(m, (i + 1) % 3)), inout(at(m, i)), [&, s](auto from, auto to) {
                    mix(s, from, to);
                    replayed += is_replayed();
                });
                mix(s, at(expected, (i + 1) % 3), at(expected, i));
            }
        });
        EXPECT_EQ(m, expected);
        EXPECT_EQ(replayed, 3 * (k_steps - 1));
    });
}

// Holds: replay: So are the tiles of a matrix by columns.
TEST_P(replay_accesses, tiles_of_a_view) {
    by_task_and_thread([](domain& work) {
        std::vector<int> m(16, 0);
        const quern::tiles_view<int> all(m.data(), 4, 4, 4, 2, 2);
        std::atomic<int> replayed = 0;
        replay(work, k_steps, [&](std::int64_t) {
            work.spawn(inout(all.tile(1, 0)), [&replayed](auto t) {
                ++t(1, 1);
                replayed += is_replayed();
            });
        });
        EXPECT_EQ(m[4 + 3], k_steps);
        EXPECT_EQ(replayed, k_steps - 1);
    });
}

// Holds: replay: The members of an access_list order replayed tasks as other accesses do.
TEST_P(replay_accesses, access_lists) {
    by_task_and_thread([](domain& work) {
        std::vector<std::uint64_t> v(8, 1);
        std::vector<std::uint64_t> expected = v;
        std::uint64_t sum = 0;
        std::uint64_t expected_sum = 0;
        std::atomic<int> replayed = 0;
        const auto add = [](const std::vector<std::uint64_t>& all, std::uint64_t& to) {
            for (std::size_t i = 0; i < all.size(); i += 2) {
                to = 3 * to + all[i];
            }
        };
        replay(work, k_steps, [&](std::int64_t) {
            for (std::size_t i = 0; i < v.size(); ++i) {
                work.spawn(inout(v[i]), [i](std::uint64_t& to) { to = 5 * to + i; });
                expected[i] = 5 * expected[i] + i;
            }
            quern::access_list every_second;
            for (std::size_t i = 0; i < v.size(); i += 2) {
                every_second.add(in(v[i]));
            }
            work.spawn(every_second, inout(sum), [&](std::uint64_t& to) {
                add(v, to);
                replayed += is_replayed();
            });
            add(expected, expected_sum);
        });
        EXPECT_EQ(v, expected);
        EXPECT_EQ(sum, expected_sum);
        EXPECT_EQ(replayed, k_steps - 1);
    });
}

// Holds: replay: A list that has grown, or has another member, is noticed.
TEST_P(replay_accesses, a_changed_list_is_recorded_anew) {
    by_task_and_thread([](domain& work) {
        std::vector<std::uint64_t> v(8, 1);
        std::vector<std::uint64_t> expected = v;
        const auto chosen = [](std::int64_t step) {
            std::vector<std::size_t> made{0, 1};
            if (step % 20 > 12) {
                made.push_back(static_cast<std::size_t>(2 + step % 3));
            }
            return made;
        };
        const auto mix = [](std::vector<std::uint64_t>& all, const std::vector<std::size_t>& at) {
            for (const std::size_t i : at) {
                all[i] = 3 * all[i] + all[at[0]];
            }
        };
        replay(work, 100, [&](std::int64_t step) {
            quern::access_list list;
            for (const std::size_t i : chosen(step)) {
                list.add(inout(v[i]));
            }
            work.spawn(list, [&, at = chosen(step)] { mix(v, at); });
            mix(expected, chosen(step));
            for (std::size_t i = 0; i < v.size(); ++i) {
                work.spawn(inout(v[i]), [](std::uint64_t& to) { ++to; });
                ++expected[i];
            }
        });
        EXPECT_EQ(v, expected);
    });
}

// Holds: replay: Steps with renamed objects or reductions run as in a plain loop, also between
// others.
TEST_P(replay_accesses, renamed_objects_and_reductions_run_as_in_a_loop) {
    by_task_and_thread([](domain& work) {
        std::int64_t value = 0;
        std::int64_t sum = 0;
        std::int64_t total = 0;
        {
            quern::renamed<std::int64_t> renamed(value);
            replay(work, k_steps, [&](std::int64_t step) {
                if (step % 10 > 6) {
                    work.spawn(out(renamed), [step](std::int64_t& v) { v = step; });
                    work.spawn(in(renamed), inout(sum),
                               [](const std::int64_t& v, std::int64_t& to) { to += v; });
                }
                if (step % 10 == 8) {
                    work.spawn(quern::reduction(total, std::plus<>()),
                               [](std::int64_t& to) { ++to; });
                }
                work.spawn(inout(sum), [](std::int64_t& to) { ++to; });
            });
        }
        std::int64_t expected = k_steps;
        for (std::int64_t step = 0; step < k_steps; ++step) {
            expected += step % 10 > 6 ? step : 0;
        }
        EXPECT_EQ(sum, expected);
        EXPECT_EQ(value, k_steps - 1);
        EXPECT_EQ(total, k_steps / 10);
    });
}

template <std::size_t Alignment, std::size_t Bytes>
struct alignas(Alignment) large_function {
    explicit large_function(int by) : owned(std::make_unique<int>(by)) {}
    void operator()(int& v) {
        const bool is_aligned = reinterpret_cast<std::uintptr_t>(this) % Alignment == 0;
        v += is_aligned ? *owned : 0;
        count += is_replayed();
    }
    static inline std::atomic<int> count{0};
    std::unique_ptr<int> owned;
    std::array<std::byte, Bytes> more{};
};

template <class F>
void replay_function(domain& work) {
    int value = 0;
    F::count = 0;
    replay(work, k_steps,
           [&](std::int64_t step) { work.spawn(inout(value), F(static_cast<int>(step))); });
    EXPECT_EQ(value, k_steps * (k_steps - 1) / 2);
    EXPECT_EQ(F::count, k_steps - 1);
}

// Holds: replay: Functions of any size and alignment are replayed.
TEST_P(replay_accesses, functions_of_any_size) {
    by_task_and_thread([](domain& work) {
        replay_function<large_function<8, 1>>(work);
        replay_function<large_function<8, 5000>>(work);
        replay_function<large_function<128, 1>>(work);
        replay_function<large_function<4096, 1>>(work);
    });
}

}  // namespace
