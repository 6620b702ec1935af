// SPDX-License-Identifier: BSL-1.0
// Operators of reductions that have one type and are not the same: pointers to functions, function
// objects with a state, std::function.
#include <quern/dependences/access_list.hpp>
#include <quern/dependences/reduction.hpp>
#include <quern/dependences/spawn.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::reduction;
using quern::weak;

int plus_of(int a, int b) { return a + b; }
int max_of(int a, int b) { return std::max(a, b); }

struct plus_modulo {
    int modulus;
    int operator()(int a, int b) const { return (a + b) % modulus; }
};

/// Not trivially copyable.
struct plus_modulo_apart {
    std::shared_ptr<int> modulus;
    int operator()(int a, int b) const { return (a + b) % *modulus; }
    bool operator==(const plus_modulo_apart& other) const { return *modulus == *other.modulus; }
};

class domain_operators : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(domain_operators);

/// The serial result is 1055 at first, then 1065; as one group it is 1100 or more.
template <class Op>
void reduce_by_two(const Op& plus, const Op& max) {
    domain work;
    int x = 1000;
    for (int i = 1; i <= 10; ++i) {
        work.spawn(reduction(x, plus, 0), [i](int& part) { part += i; });
    }
    work.spawn(reduction(x, max, 0), [](int& part) { part = std::max(part, 100); });
    work.taskwait(quern::on(in(x)));
    EXPECT_EQ(x, 1055);
    work.spawn(reduction(x, max, 0), [](int& part) { part = std::max(part, 100); });
    work.spawn(reduction(x, plus, 0), [](int& part) { part += 10; });
    work.taskwait();
    EXPECT_EQ(x, 1065);
}

// Holds: domain: reductions by two operators of one type are not one: pointers to functions.
TEST_P(domain_operators, pointers_to_functions_are_told_apart) {
    inside([] { reduce_by_two(&plus_of, &max_of); });
}

// Holds: domain: reductions by two operators of one type...
TEST_P(domain_operators, functions_of_any_kind_are_told_apart) {
    inside([] {
        using function = std::function<int(int, int)>;
        reduce_by_two(function(plus_of), function(max_of));
        const int nothing = 0;
        reduce_by_two(function([nothing](int a, int b) { return a + b + nothing; }),
                      function([nothing](int a, int b) { return std::max(a, b) + nothing; }));
    });
}

template <class MakeOp>
void reduce_modulo(MakeOp with) {
    domain work;
    int y = 0;
    for (int i = 0; i < 4; ++i) {
        work.spawn(reduction(y, with(10), 0), [](int& part) { part = (part + 7) % 10; });
    }
    for (int i = 0; i < 4; ++i) {
        work.spawn(reduction(y, with(1000), 0), [](int& part) { part = (part + 400) % 1000; });
    }
    work.taskwait();
    EXPECT_EQ(y, 608);
}

// Holds: domain: reductions by two operators of one type...
TEST_P(domain_operators, states_of_function_objects_are_told_apart) {
    inside([] {
        reduce_modulo([](int modulus) { return plus_modulo{modulus}; });
        reduce_modulo(
            [](int modulus) { return plus_modulo_apart{std::make_shared<int>(modulus)}; });
        reduce_modulo(
            [](int modulus) { return [modulus](int a, int b) { return (a + b) % modulus; }; });
    });
}

// Holds: domain: reductions by two operators of one type...
TEST_P(domain_operators, weak_reductions_are_told_apart) {
    inside([] {
        const auto parent_of = [](int& x, int (*op)(int, int), int part_of_child) {
            return [&x, op, part_of_child] {
                for (int i = 0; i < 3; ++i) {
                    quern::spawn(reduction(x, op, 0), [part_of_child](int& part) {
                        quern::this_task::yield();
                        part = part_of_child;
                    });
                }
            };
        };
        for (int round = 0; round < quern_test::scaled(50, 10); ++round) {
            domain work;
            int x = 0;
            work.spawn(weak(reduction(x, &plus_of, 0)), parent_of(x, &plus_of, 5));
            work.spawn(weak(reduction(x, &max_of, 0)), parent_of(x, &max_of, 1000));
            work.spawn(weak(reduction(x, &plus_of, 0)), parent_of(x, &plus_of, 7));
            int seen = 0;
            work.spawn(in(x), [&seen](const int& all) { seen = all; });
            quern::access_list list;
            list.add(weak(reduction(x, &max_of, 0)));
            work.spawn(list, parent_of(x, &max_of, 3000));
            work.spawn(weak(reduction(x, &plus_of, 0)), parent_of(x, &plus_of, 1));
            work.taskwait();
            EXPECT_GE(seen, 1007);
            EXPECT_LE(seen, 1021);
            EXPECT_GE(x, 3001);
            EXPECT_LE(x, 3003);
        }
    });
}

/// All of them are in the middle at the same time.
template <class MakeOp>
void meet(MakeOp op) {
    domain work;
    int x = 0;
    constexpr int k_tasks = 8;
    std::atomic<int> begun{0};
    for (int i = 0; i < k_tasks; ++i) {
        work.spawn(reduction(x, op(), 0), [&](int& part) {
            ++begun;
            while (begun < k_tasks) {
                quern::this_task::yield();
            }
            ++part;
        });
    }
    work.taskwait();
    EXPECT_EQ(x, k_tasks);
}

// Holds: domain: Operators are the same if they have one type, and one value where the type has a
//     state: such tasks run at the same time.
TEST_P(domain_operators, equal_ones_run_at_the_same_time) {
    inside([] {
        meet([] { return &plus_of; });
        meet([] { return plus_modulo{1000}; });
        meet([] { return plus_modulo_apart{std::make_shared<int>(1000)}; });
        meet([] { return std::function<int(int, int)>(plus_of); });
        meet([offset = 0] { return [offset](int a, int b) { return a + b + offset; }; });
    });
}

// Holds: domain: an operator counts by its value in each task, however many others there are.
TEST_P(domain_operators, may_be_more_than_a_domain_remembers) {
    inside([] {
        domain work;
        std::vector<int> sums(4);
        std::vector<int> expected(4);
        for (int i = 0; i < 400; ++i) {
            const auto at = static_cast<std::size_t>(i % 4);
            const int modulus = 1 + i * i % 37 * 5;
            work.spawn(reduction(sums[at], plus_modulo{modulus}, 0), [i](int& part) { part += i; });
            expected[at] = (expected[at] + i) % modulus;
        }
        work.taskwait();
        EXPECT_EQ(sums, expected);
    });
}

// Holds: domain: thousands of reductions to other objects may be open; each is combined where it
//     is used, whether the use is a part of it, contains it or is beside it.
TEST_P(domain_operators, many_open_reductions_are_found_by_their_place) {
    inside([] {
        domain work;
        constexpr int k_objects = 3000;
        std::vector<int> v(k_objects);
        for (int& each : v) {
            work.spawn(reduction(each, std::plus<>()), [](int& part) { ++part; });
        }
        std::vector<int> pairs(10);
        for (std::size_t i = 0; i < pairs.size(); i += 2) {
            work.spawn(reduction(&pairs[i], 2, std::plus<>()), [](auto part) { part[1] = 3; });
        }
        work.spawn(in(pairs[3]), [](const int& p) { EXPECT_EQ(p, 3); });
        work.spawn(in(&pairs[5], 3), [](auto p) { EXPECT_EQ(p[0] + p[1] + p[2], 6); });
        std::atomic<int> seen{0};
        work.spawn(in(v.data() + 100, 50), [&seen](auto part) {
            seen = static_cast<int>(std::count(part.begin(), part.end(), 1));
        });
        quern::access_list all;
        for (const int& each : v) {
            all.add(in(each));
        }
        long sum = 0;
        work.spawn(all, reduction(sum, std::plus<>()),
                   [&v](long& part) { part += std::count(v.begin(), v.end(), 1); });
        work.taskwait();
        EXPECT_EQ(seen, 50);
        EXPECT_EQ(sum, k_objects);
    });
}

}  // namespace
