// SPDX-License-Identifier: BSL-1.0
// Random programs: trees of calls, derived from one seed, whose nodes call further ones at random
// localities with values of random types and sizes, post, wait in several ways, and throw. The
// value of a tree does not depend on where its nodes run, so each rank compares it with that of a
// serial walk through the same tree. TEST_STRESS_SEED sets the first seed, TEST_STRESS_PROGRAMS the
// number.
#include "on_job.hpp"
#include "random_seeds.hpp"

#include <quern/scheduler/held_locks.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/task/blocking_region.hpp>
#include <quern/task/task_group.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::count;
using quern::localities::post_to;
using quern::localities::remote_error;
using quern::localities::run_at;

constexpr int k_depth = 4;
constexpr std::uint32_t k_roots = 4;  ///< trees that each rank calls at once

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    return (a ^ (b + 0x9E3779B97F4A7C15ULL + (a << 6U) + (a >> 2U))) * 0xBF58476D1CE4E5B9ULL;
}

// What travels with a call, made of dice: equal dice make equal values.

void make(dice& from, std::uint64_t& value) { value = from.below(1'000'000); }
void make(dice& from, std::string& text) {
    text.resize(from.below(std::uint32_t{1} << from.below(18)));
    for (std::size_t i = 0; i < text.size(); i += 1 + text.size() / 50) {
        text[i] = static_cast<char>('a' + from.below(26));
    }
}
void make(dice& from, std::vector<double>& values) {
    values.resize(from.below(20'000) >> from.below(12));
    for (std::size_t i = 0; i < values.size(); i += 1 + values.size() / 50) {
        values[i] = from.below(1000) / 8.0;
    }
}
void make(dice& from, std::map<std::uint32_t, std::string>& table) {
    for (std::uint32_t left = from.below(100); left != 0; --left) {
        table[from.below(1000)] = std::to_string(from.below(1000));
    }
}
void make(dice& from, std::vector<std::string>& texts) {
    texts.resize(from.below(5));
    for (std::string& each : texts) {
        make(from, each);
    }
}

std::uint64_t hash(std::uint64_t value) { return value; }
std::uint64_t hash(const std::string& text) {
    std::uint64_t all = text.size();
    for (std::size_t i = 0; i < text.size(); i += 1 + text.size() / 500) {
        all = mix(all, static_cast<unsigned char>(text[i]));
    }
    return all;
}
std::uint64_t hash(const std::vector<double>& values) {
    std::uint64_t all = values.size();
    for (const double each : values) {
        all = 31 * all + static_cast<std::uint64_t>(8 * each);
    }
    return all;
}
std::uint64_t hash(const std::map<std::uint32_t, std::string>& table) {
    std::uint64_t all = table.size();
    for (const auto& [key, text] : table) {
        all = mix(mix(all, key), hash(text));
    }
    return all;
}
std::uint64_t hash(const std::vector<std::string>& texts) {
    std::uint64_t all = texts.size();
    for (const std::string& each : texts) {
        all = mix(all, hash(each));
    }
    return all;
}

/// A tree as a job of localities runs it.
struct called {
    template <class Value>
    static std::pair<std::uint64_t, Value> at_node(std::uint64_t seed, int depth, Value value);

    /// The future's value is that of the child, also if the child throws.
    template <class Value>
    static quern::future<std::uint64_t> child(int where, std::uint64_t seed, int depth,
                                              Value value) {
        auto answer = run_at(where, &called::at_node<Value>, seed, depth, std::move(value));
        return answer.then([where](quern::future<std::pair<std::uint64_t, Value>> of) {
            try {
                const auto [node, returned] = of.get();
                return mix(node, hash(returned));
            } catch (const remote_error& error) {
                const bool is_right =
                    error.report().locality == where && error.report().type == "std::range_error";
                return is_right ? hash(error.report().message) : 0;
            }
        });
    }
    static std::uint64_t result(quern::future<std::uint64_t>& of) { return of.get(); }
    static void post(int where, std::uint64_t number);
    static void pause(dice& how);
};

/// The same tree, walked through by the caller alone.
struct walked {
    template <class Value>
    static std::uint64_t child(int where, std::uint64_t seed, int depth, Value value);
    static std::uint64_t result(std::uint64_t of) { return of; }
    static void post(int where, std::uint64_t number);
    static void pause(dice& how) { how.below(5); }
};

/// Sums of what has been posted, by trees that were called, and by those that were walked through.
std::atomic<std::uint64_t> g_posted{0};
std::atomic<std::uint64_t> g_expected{0};

void called::post(int where, std::uint64_t number) {
    post_to(
        where, [](std::uint64_t one) { g_posted += one; }, number);
}
void walked::post(int /*where*/, std::uint64_t number) { g_expected += number; }

quern::mutex g_turns;

void called::pause(dice& how) {
    switch (how.below(5)) {
        case 0:
            quern::this_task::yield();
            break;
        case 1:
            quern::this_task::sleep_for(std::chrono::microseconds(100));
            break;
        case 2: {
            const std::scoped_lock lock(g_turns);
            const quern::ignore_held_locks meant;
            quern::this_task::yield();
            break;
        }
        case 3:
            quern::async([] { quern::this_task::yield(); }).get();
            break;
        default:
            quern::blocking([] { std::this_thread::sleep_for(std::chrono::microseconds(50)); });
    }
}

template <class Way>
auto start_child(dice& plan, std::uint64_t seed, int depth) {
    const auto with = [&]<class Value>(Value value) {
        make(plan, value);
        const int where = static_cast<int>(plan.below(static_cast<std::uint32_t>(count())));
        return Way::child(where, seed, depth, std::move(value));
    };
    switch (plan.below(5)) {
        case 0:
            return with(std::uint64_t{});
        case 1:
            return with(std::string());
        case 2:
            return with(std::vector<double>());
        case 3:
            return with(std::map<std::uint32_t, std::string>());
        default:
            return with(std::vector<std::string>());
    }
}

std::string words_of(std::uint64_t seed) { return "node " + std::to_string(seed); }

/// The value of a node with its children. Throws std::range_error(words_of(seed)) from some.
template <class Way>
std::uint64_t value_of_node(std::uint64_t seed, int depth) {
    dice plan(seed);
    std::uint64_t value = plan.below(1000);
    std::vector<decltype(start_child<Way>(plan, seed, depth))> children;
    const std::uint32_t steps = 1 + plan.below(6);
    for (std::uint32_t step = 0; step < steps; ++step) {
        switch (plan.below(6)) {
            case 0:
                value = mix(value, plan.below(1000));
                break;
            case 1:
                Way::pause(plan);
                break;
            case 2:
                Way::post(static_cast<int>(plan.below(static_cast<std::uint32_t>(count()))),
                          plan.below(1000));
                break;
            default:
                if (depth < k_depth) {
                    children.push_back(start_child<Way>(plan, mix(seed, step + 1), depth + 1));
                }
        }
    }
    for (auto& each : children) {
        value = mix(value, Way::result(each));
    }
    if (plan.below(8) == 0) {
        throw std::range_error(words_of(seed));
    }
    return value;
}

template <class Value>
std::pair<std::uint64_t, Value> called::at_node(std::uint64_t seed, int depth, Value value) {
    const std::uint64_t node = mix(value_of_node<called>(seed, depth), hash(value));
    return {node, std::move(value)};
}

template <class Value>
std::uint64_t walked::child(int /*where*/, std::uint64_t seed, int depth, Value value) {
    try {
        return mix(mix(value_of_node<walked>(seed, depth), hash(value)), hash(value));
    } catch (const std::range_error&) {
        return hash(words_of(seed));
    }
}

/// Number of trees with a wrong value. Also called by the trees of others at the same time.
int run_program(std::uint64_t seed) {
    std::atomic<int> wrong{0};
    quern::task_group trees;
    const dice own(seed + 1000 * static_cast<std::uint64_t>(this_world().rank));
    for (std::uint32_t root = 0; root < k_roots; ++root) {
        trees.run([own = dice(own).child(root), root, seed, &wrong]() mutable {
            dice again = own;
            const std::uint64_t tree = mix(seed, root);
            auto called_value = start_child<called>(own, tree, 0);
            const std::uint64_t expected = start_child<walked>(again, tree, 0);
            wrong += called_value.get() != expected;
        });
    }
    trees.wait();
    return wrong;
}

TEST(localities_random, trees_of_calls_have_the_values_of_a_serial_walk) {
    for (const std::uint64_t one : seeds_of_job(scaled(150, 20))) {
        g_posted = 0;
        g_expected = 0;
        own_job job(1 + dice(one + 1000 * number_of_ranks()).below(3));
        const int wrong = run_program(one);
        job.end();
        const std::uint64_t posted = sum_of_ranks(g_posted);
        const std::uint64_t expected = sum_of_ranks(g_expected);
        ASSERT_EQ(wrong, 0) << "TEST_STRESS_SEED=" << one << " TEST_STRESS_PROGRAMS=1";
        ASSERT_EQ(posted, expected) << "TEST_STRESS_SEED=" << one << " TEST_STRESS_PROGRAMS=1";
    }
}

}  // namespace
