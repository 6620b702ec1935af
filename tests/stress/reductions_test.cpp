// SPDX-License-Identifier: BSL-1.0
// Random programs of reductions, other accesses and children, against the serial program.
#include <quern/dependences/reduction.hpp>
#include <quern/dependences/spawn.hpp>

#include "stress/seed.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace {

using quern::reduction;
using quern_test::dice;

constexpr std::uint32_t k_objects = 3;
constexpr std::size_t k_length = 4;
using number = std::uint64_t;
using numbers = std::array<std::array<number, k_length>, k_objects>;

enum class act : std::uint8_t { change, read, add, multiply, append, commute, k_all };

/// One task: what it does to one object. Its children do the same, in the task's part if it has
/// one; `is_weak`: they alone do it.
struct action {
    act how;
    std::uint32_t object;
    number value;
    std::uint32_t children;
    bool is_weak;
    bool suspends;
};

struct in_order {
    number operator()(number a, number b) const { return a * 31 + b; }
};

std::vector<action> random_actions(dice& d) {
    std::vector<action> all(5 + d.below(40));
    for (action& each : all) {
        each.how = static_cast<act>(d.below(static_cast<std::uint32_t>(act::k_all)));
        each.object = d.below(k_objects);
        each.value = 1 + d.below(1000);
        each.children = d.below(4) == 0 ? 1 + d.below(3) : 0;
        each.is_weak = d.below(2) == 0;
        each.suspends = d.below(3) == 0;
    }
    return all;
}

void apply(act how, number value, std::span<number> to) {
    for (number& each : to) {
        switch (how) {
            case act::change:
                each = each * 3 + value;
                break;
            case act::multiply:
                each *= value;
                break;
            case act::append:
                each = in_order()(each, value);
                break;
            case act::add:
            case act::commute:
                each += value;
                break;
            case act::read:
            case act::k_all:
                break;
        }
    }
}

number sum_of(std::span<const number> all) {
    number sum = 0;
    for (const number each : all) {
        sum += each;
    }
    return sum;
}

/// What the program computes when each task runs in the place of its creation.
std::vector<number> run_serially(const std::vector<action>& actions, numbers& all) {
    std::vector<number> seen;
    for (const action& each : actions) {
        auto& object = all[each.object];
        if (each.how == act::read) {
            seen.push_back(sum_of(object));
            continue;
        }
        const bool has_weak = each.is_weak && each.children != 0 && each.how != act::append;
        for (std::uint32_t n = has_weak ? 0 : 1; n > 0; --n) {
            apply(each.how, each.value, object);
        }
        for (std::uint32_t n = each.how == act::append ? 0 : each.children; n > 0; --n) {
            apply(each.how, each.value, object);
        }
    }
    return seen;
}

/// spawn(parts...) for an action on `to`, an object or the part of a parent.
template <class Spawn, class Body>
void spawn_action(Spawn spawn, const action& a, std::span<number> to, Body body) {
    switch (a.how) {
        case act::change:
            spawn(quern::inout(to), body);
            break;
        case act::add:
            spawn(reduction(to, std::plus<>()), body);
            break;
        case act::multiply:
            spawn(reduction(to, std::multiplies<>()), body);
            break;
        case act::commute:
            spawn(quern::commutative(to), body);
            break;
        case act::append:
            spawn(reduction(to, in_order(), 0).in_creation_order(), body);
            break;
        case act::read:
        case act::k_all:
            break;
    }
}

template <class Spawn>
void spawn_weak(Spawn spawn, const action& a, std::span<number> to) {
    const auto body = [a, to] {
        for (std::uint32_t n = 0; n < a.children; ++n) {
            spawn_action([](auto... parts) { quern::spawn(parts...); }, a, to,
                         [a](std::span<number> part) { apply(a.how, a.value, part); });
        }
    };
    switch (a.how) {
        case act::change:
            spawn(quern::weak(quern::inout(to)), body);
            break;
        case act::add:
            spawn(quern::weak(reduction(to, std::plus<>())), body);
            break;
        case act::multiply:
            spawn(quern::weak(reduction(to, std::multiplies<>())), body);
            break;
        default:
            spawn(quern::weak(quern::commutative(to)), body);
            break;
    }
}

void run_action(const action& a, std::span<number> part) {
    if (a.suspends) {
        quern::this_task::yield();
    }
    // The identity of the operator of `append` is no identity on the left: one step to a part.
    apply(a.how, a.value, part);
    for (std::uint32_t n = a.how == act::append ? 0 : a.children; n > 0; --n) {
        spawn_action([](auto... parts) { quern::spawn(parts...); }, a, part,
                     [a](std::span<number> inner) { apply(a.how, a.value, inner); });
    }
}

std::vector<number> run_as_tasks(quern::domain& work, const std::vector<action>& actions,
                                 numbers& all) {
    std::vector<number> seen;
    seen.reserve(actions.size());
    for (const action& each : actions) {
        const auto spawn = [&work](auto... parts) { work.spawn(parts...); };
        const std::span<number> object = all[each.object];
        if (each.how == act::read) {
            number& into = seen.emplace_back();
            spawn(quern::in(object), quern::out(into),
                  [](std::span<const number> v, number& s) { s = sum_of(v); });
        } else if (each.is_weak && each.children != 0 && each.how != act::append) {
            spawn_weak(spawn, each, object);
        } else {
            spawn_action(spawn, each, object,
                         [each](std::span<number> part) { run_action(each, part); });
        }
    }
    work.taskwait();
    return seen;
}

class reductions_stress : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(reductions_stress);

TEST_P(reductions_stress, equal_the_serial_program) {
    int programs = 0;
    const auto end = quern_test::stress_end();
    for (std::uint64_t seed = quern_test::stress_seed();
         std::chrono::steady_clock::now() < end || programs < 20; ++seed, ++programs) {
        dice d(seed);
        const std::vector<action> actions = random_actions(d);
        numbers expected{};
        for (auto& each : expected) {
            each.fill(seed % 7);
        }
        numbers values = expected;
        const std::vector<number> expected_seen = run_serially(actions, expected);
        std::vector<number> seen;
        quern::async(rt, [&] {
            quern::domain work;
            seen = run_as_tasks(work, actions, values);
        }).get();
        ASSERT_EQ(values, expected) << "seed " << seed;
        ASSERT_EQ(seen, expected_seen) << "seed " << seed;
    }
    std::printf("[ stress   ] %d programs\n", programs);
}

}  // namespace
