// SPDX-License-Identifier: BSL-1.0
// Reductions.
#include <quern/dependences/reduction.hpp>
#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::reduction;
using quern::weak;

class domain_reductions : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(domain_reductions);

// Holds: domain: Tasks that reduce to the same region by the same operator run at the same time.
TEST_P(domain_reductions, run_at_the_same_time_and_survive_suspension) {
    inside([] {
        domain work;
        long sum = 1000;
        std::atomic<int> begun{0};
        constexpr int k_tasks = 40;
        for (int i = 0; i < k_tasks; ++i) {
            work.spawn(reduction(sum, std::plus<>()), [&, i](long& part) {
                part += i;
                ++begun;
                while (begun < k_tasks) {  // all are in the middle at the same time
                    quern::this_task::yield();
                }
                part += i;
            });
        }
        long seen = 0;
        work.spawn(in(sum), quern::out(seen), [](const long& s, long& t) { t = s; });
        work.taskwait();
        EXPECT_EQ(seen, 1000 + k_tasks * (k_tasks - 1));
    });
}

// Holds: domain: Before any other access to the region, and at taskwait(), the parts are
//     combined with it.
TEST_P(domain_reductions, are_combined_before_another_access) {
    inside([] {
        domain work;
        int value = 0;
        for (int round = 0; round < 10; ++round) {
            for (int i = 0; i < 5; ++i) {
                work.spawn(reduction(value, std::plus<>()), [](int& part) { part += 1; });
            }
            for (int i = 0; i < 2; ++i) {
                work.spawn(reduction(value, std::multiplies<>()), [](int& part) { part *= 2; });
            }
            work.spawn(inout(value), [](int& v) { v %= 1000; });
        }
        for (int i = 0; i < 5; ++i) {
            work.spawn(reduction(value, std::plus<>()), [](int& part) { part += 1; });
        }
        work.taskwait(quern::on(in(value)));
        int expected = 0;
        for (int round = 0; round < 10; ++round) {
            expected = (expected + 5) * 4 % 1000;
        }
        EXPECT_EQ(value, expected + 5);
        work.spawn(reduction(value, std::plus<>()), [](int& part) { part += 1; });
        work.taskwait();
        EXPECT_EQ(value, expected + 6);
    });
}

// Holds: domain: for a container or span a span of as many elements.
TEST_P(domain_reductions, of_ranges_are_element_by_element) {
    inside([] {
        domain work;
        std::vector<int> histogram(8, 1);
        for (int i = 0; i < 80; ++i) {
            work.spawn(reduction(histogram, std::plus<>()),
                       [i](std::span<int> part) { part[static_cast<std::size_t>(i % 8)] += i; });
        }
        work.spawn(reduction(histogram.data(), 4, std::ranges::max), [](std::span<int> part) {
            part[0] = 1'000'000;  // the part overlaps with the whole: after it
        });
        work.taskwait();
        EXPECT_EQ(histogram[0], 1'000'000);
        EXPECT_EQ(histogram[7], 1 + 10 * 7 + 8 * 45);
    });
}

struct text {
    std::string of;
};

// Holds: domain: Combine the parts in the order in which the tasks were
//     created.
TEST_P(domain_reductions, may_be_combined_in_the_order_of_creation) {
    inside([] {
        domain work;
        text all{"="};
        const auto append = [](text& a, const text& b) { a.of += b.of; };
        for (char c = 'a'; c <= 'z'; ++c) {
            work.spawn(reduction(all, append, text()).in_creation_order(), [c](text& part) {
                quern::this_task::yield();
                part.of += c;
            });
        }
        work.taskwait();
        EXPECT_EQ(all.of, "=abcdefghijklmnopqrstuvwxyz");
    });
}

// Holds: domain: std::invalid_argument by spawn() if the task has another access to the region.
TEST_P(domain_reductions, refuse_a_second_access_to_the_region) {
    inside([] {
        domain work;
        int value = 0;
        EXPECT_THROW(work.spawn(reduction(value, std::plus<>()),
                                reduction(value, std::multiplies<>()), [] {}),
                     std::invalid_argument);
        EXPECT_THROW(work.spawn(in(value), reduction(value, std::plus<>()), [] {}),
                     std::invalid_argument);
        work.spawn(reduction(value, std::plus<>()), [](int& part) { part = 3; });
        work.taskwait();
        EXPECT_EQ(value, 3);
    });
}

// Holds: domain: What the operator throws counts as thrown by a task.
TEST_P(domain_reductions, deliver_what_the_operator_throws) {
    inside([] {
        domain work;
        int value = 0;
        const auto fails = [](int&, int&) { throw std::runtime_error("operator"); };
        work.spawn(reduction(value, fails, 0), [](int& part) { part = 3; });
        EXPECT_THROW(work.taskwait(), std::runtime_error);
        work.spawn(reduction(value, fails, 0), [](int& part) { part = 3; });
        work.spawn(in(value), [] { ADD_FAILURE() << "dropped"; });
        EXPECT_THROW(work.taskwait(), std::runtime_error);
        work.spawn(reduction(value, std::plus<>()), [](int&) { throw std::logic_error("task"); });
        EXPECT_THROW(work.taskwait(), std::logic_error);
        EXPECT_EQ(value, 0);
    });
}

// Holds: domain: a part belongs to its task: its children use it.
TEST_P(domain_reductions, nest) {
    inside([] {
        domain work;
        int value = 0;
        for (int i = 0; i < 10; ++i) {
            work.spawn(reduction(value, std::plus<>()), [](int& part) {
                for (int k = 0; k < 10; ++k) {
                    quern::spawn(reduction(part, std::plus<>()), [](int& inner) { inner += 1; });
                }
            });
            work.spawn(weak(reduction(value, std::plus<>())), [&value] {
                for (int k = 0; k < 10; ++k) {
                    quern::spawn(reduction(value, std::plus<>()), [](int& inner) { inner += 1; });
                }
            });
            work.spawn({.final = true}, inout(value), [](int& v) {
                quern::spawn(reduction(v, std::plus<>()), [](int& part) { part += 1; });
            });
        }
        work.taskwait();
        EXPECT_EQ(value, 210);
    });
}

// Holds: domain: a reduction may be released early.
TEST_P(domain_reductions, may_be_released_early) {
    inside([] {
        domain work;
        int value = 0;
        std::atomic<bool> is_open{false};
        work.spawn(reduction(value, std::plus<>()), [&](int& part) {
            part = 5;
            quern::this_task::release(reduction(value, std::plus<>()));
            while (!is_open) {
                quern::this_task::yield();
            }
        });
        work.spawn(in(value), [&](const int& v) {
            EXPECT_EQ(v, 5);
            is_open = true;
        });
        work.taskwait();
    });
}

}  // namespace
