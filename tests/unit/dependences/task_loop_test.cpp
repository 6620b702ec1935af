// SPDX-License-Identifier: BSL-1.0
// task_loop: which chunks there are, what orders them, what their function gets, bad arguments.
#include <quern/dependences/task_loop.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <cstddef>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using quern::accesses;
using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern::task_loop;

using chunk = std::pair<std::ptrdiff_t, std::ptrdiff_t>;

class task_loop_test : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(task_loop_test);

/// In the order of creation: all write one object.
std::vector<chunk> chunks_of(std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t grain) {
    domain work;
    std::vector<chunk> found;
    task_loop(
        work, first, last, grain, [&](auto, auto) { return out(quern::sentinel(found)); },
        [&found](auto from, auto to) { found.emplace_back(from, to); });
    work.taskwait();
    return found;
}

// Holds: task_loop: chunks of `grain` iterations in their order, the last one with the rest.
TEST_P(task_loop_test, divides_into_chunks_of_the_grain) {
    inside([] {
        EXPECT_EQ(chunks_of(0, 10, 4), (std::vector<chunk>{{0, 4}, {4, 8}, {8, 10}}));
        EXPECT_EQ(chunks_of(-3, 3, 3), (std::vector<chunk>{{-3, 0}, {0, 3}}));
        EXPECT_EQ(chunks_of(5, 6, 100), (std::vector<chunk>{{5, 6}}));
        EXPECT_EQ(chunks_of(7, 7, 1), std::vector<chunk>());
        constexpr std::ptrdiff_t k_most = std::numeric_limits<std::ptrdiff_t>::max();
        EXPECT_EQ(chunks_of(k_most - 3, k_most, 2),
                  (std::vector<chunk>{{k_most - 3, k_most - 1}, {k_most - 1, k_most}}));
    });
}

// Holds: task_loop: grain 0 makes several chunks for each worker, none empty.
TEST_P(task_loop_test, chooses_a_grain) {
    inside([this] {
        for (const std::ptrdiff_t n : {1, 5, 1000, 12345}) {
            const auto found = chunks_of(0, n, 0);
            std::ptrdiff_t at = 0;
            for (const auto& [from, to] : found) {
                EXPECT_EQ(from, at);
                EXPECT_LT(from, to);
                at = to;
            }
            EXPECT_EQ(at, n);
            EXPECT_LE(found.size(), 12 * rt.workers());
            EXPECT_GE(found.size(), n >= 1000 ? 4 * rt.workers() : 1);
        }
    });
}

// Holds: task_loop: a chunk follows the chunks of earlier loops that it conflicts with; its function
//     gets a view for each access.
TEST_P(task_loop_test, loops_follow_each_other_chunk_by_chunk) {
    inside([] {
        std::vector<long> a(1000);
        std::vector<long> b(1000);
        std::iota(a.begin(), a.end(), 0);
        domain work;
        for (int round = 0; round < 10; ++round) {
            task_loop(
                work, 0, 1000, 128,
                [&](auto from, auto to) {
                    return accesses(in(&a[from], to - from), out(&b[from], to - from));
                },
                [](auto from, auto to, auto source, auto target) {
                    for (std::ptrdiff_t i = 0; i < to - from; ++i) {
                        target[i] = 2 * source[i] + 1;
                    }
                });
            task_loop(
                work, 0, 1000, 100,  // other chunks
                [&](auto from, auto to) {
                    return std::make_tuple(inout(&a[from], to - from), in(&b[from], to - from));
                },
                [](std::ptrdiff_t from, std::ptrdiff_t to, auto target, auto source) {
                    for (std::ptrdiff_t i = 0; i < to - from; ++i) {
                        target[i] = source[i] - target[i];
                    }
                });
        }
        work.taskwait();
        for (long i = 0; i < 1000; ++i) {
            long expected = i;
            for (int round = 0; round < 10; ++round) {
                expected = 2 * expected + 1 - expected;
            }
            ASSERT_EQ(a[static_cast<std::size_t>(i)], expected);
        }
    });
}

// Holds: task_loop: attributes are those of each chunk.
TEST_P(task_loop_test, gives_its_attributes_to_each_chunk) {
    inside([] {
        domain work;
        std::atomic<int> named{0};
        task_loop(
            work, {.name = "rows"}, 0, 10, 1, [](auto, auto) { return accesses(); },
            [&named](auto, auto) { named += std::string(quern::this_task::name()) == "rows"; });
        work.taskwait();
        EXPECT_EQ(named, 10);
    });
}

// Holds: task_loop: in a dependent task the chunks are its children.
TEST_P(task_loop_test, in_a_dependent_task_makes_children) {
    inside([] {
        std::vector<int> v(100, 1);
        int sum = 0;
        domain work;
        work.spawn(inout(v), [&](auto) {
            task_loop(
                0, 100, 9, [&v](auto from, auto to) { return inout(&v[from], to - from); },
                [](auto, auto, auto part) {
                    for (int& each : part) {
                        ++each;
                    }
                });
            task_loop(
                {.name = "again"}, 0, 100, 10,
                [&v](auto from, auto to) { return inout(&v[from], to - from); },
                [](auto, auto, auto part) {
                    for (int& each : part) {
                        each *= 3;
                    }
                });
        });
        work.spawn(in(v), out(sum),
                   [](auto all, int& s) { s = std::accumulate(all.begin(), all.end(), 0); });
        work.taskwait();
        EXPECT_EQ(sum, 600);
    });
}

// Holds: task_loop: errors for first > last, a negative grain, more iterations than can be counted,
//     a stranger; no chunk begins.
TEST_P(task_loop_test, refuses_wrong_arguments) {
    inside([] {
        const auto message = [](auto first, auto last, auto grain) -> std::string {
            domain work;
            bool has_run = false;
            try {
                task_loop(
                    work, first, last, grain, [](auto, auto) { return accesses(); },
                    [&has_run](auto, auto) { has_run = true; });
            } catch (const std::invalid_argument& error) {
                work.taskwait();
                EXPECT_FALSE(has_run);
                return error.what();
            }
            return "none";
        };
        EXPECT_EQ(message(3, 2, 1),
                  "quern: task_loop from 3 to 2: `first` must not be above `last`");
        EXPECT_EQ(message(0, 2, -1),
                  "quern: task_loop with a grain of -1: it must be at least 1, or 0 for one of its "
                  "own choice");
        constexpr std::ptrdiff_t k_most = std::numeric_limits<std::ptrdiff_t>::max();
        EXPECT_NE(message(-2, k_most, 1).find("more iterations than can be counted"),
                  std::string::npos);
        const auto outside = [] {
            task_loop(
                0, 1, 1, [](auto, auto) { return accesses(); }, [](auto, auto) {});
        };
        EXPECT_THROW(outside(), std::logic_error);
    });
    domain work(rt.default_pool());
    inside([&work] {
        const auto by_stranger = [&work] {
            task_loop(
                work, 0, 1, 1, [](auto, auto) { return accesses(); }, [](auto, auto) {});
        };
        EXPECT_THROW(by_stranger(), std::logic_error);
    });
}

// Holds: task_loop: what accesses_of_chunk throws is thrown; the chunks before it are tasks.
TEST_P(task_loop_test, hands_on_what_the_accesses_throw) {
    inside([] {
        domain work;
        std::atomic<int> ran{0};
        const auto third_throws = [&] {
            task_loop(
                work, 0, 10, 1,
                [](auto from, auto) {
                    return from == 3 ? throw std::runtime_error("no access") : accesses();
                },
                [&ran](auto, auto) { ++ran; });
        };
        EXPECT_THROW(third_throws(), std::runtime_error);
        work.taskwait();
        EXPECT_EQ(ran, 3);
    });
}

}  // namespace
