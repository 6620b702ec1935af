// SPDX-License-Identifier: BSL-1.0
// Litmus tests of the memory models, from the literature: for each program the exact set of
// outcomes that it may have. Run by ctest. These rows define what options::stores covers; a change
// of the machine that moves an outcome changes that definition.
#include "explorer.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace {

using model::atomic;
using model::atomics;
using model::explore;
using model::memory;
using model::result;
using model::run;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto seq_cst = std::memory_order_seq_cst;

using outcome = std::pair<int, int>;
using outcome_set = std::set<outcome>;

struct litmus {
    atomic<int> x{0}, y{0};
    int a = -1, b = -1;
};

// Both threads get the state; the outcome is (a, b). Found twice: with and without reduction.
template <class First, class Second>
outcome_set outcomes_of(memory stores, First first, Second second) {
    outcome_set found[2];
    for (const bool reduction : {true, false}) {
        const result r = explore({.stores = stores, .reduction = reduction}, [&](run& p) {
            auto& s = p.make<litmus>();
            p.thread([&s, first] { first(s); });
            p.thread([&s, second] { second(s); });
            p.at_end([&s, &all = found[reduction]] { all.insert({s.a, s.b}); });
        });
        EXPECT_TRUE(r.ok() && r.exhaustive) << r.report();
    }
    EXPECT_EQ(found[0], found[1]);
    return found[1];
}

outcome_set store_buffering(memory stores, std::memory_order order, bool fence) {
    return outcomes_of(
        stores,
        [=](litmus& s) {
            s.x.store(1, order);
            if (fence) atomics::fence(seq_cst);
            s.a = s.y.load(acquire);
        },
        [=](litmus& s) {
            s.y.store(1, order);
            if (fence) atomics::fence(seq_cst);
            s.b = s.x.load(acquire);
        });
}

TEST(model_litmus, store_buffering_is_what_tso_adds) {
    const outcome_set strong{{0, 1}, {1, 0}, {1, 1}};
    const outcome_set weak{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    EXPECT_EQ(store_buffering(memory::sequential, relaxed, false), strong);
    for (const memory stores : {memory::tso, memory::pso}) {
        EXPECT_EQ(store_buffering(stores, relaxed, false), weak);
        EXPECT_EQ(store_buffering(stores, release, false), weak);
        EXPECT_EQ(store_buffering(stores, seq_cst, false), strong);
        EXPECT_EQ(store_buffering(stores, relaxed, true), strong);
    }
}

TEST(model_litmus, a_read_modify_write_drains_the_buffer) {
    for (const memory stores : {memory::tso, memory::pso}) {
        const outcome_set found = outcomes_of(
            stores,
            [](litmus& s) {
                s.x.exchange(1, relaxed);
                s.a = s.y.load(acquire);
            },
            [](litmus& s) {
                s.y.exchange(1, relaxed);
                s.b = s.x.load(acquire);
            });
        EXPECT_EQ(found, (outcome_set{{0, 1}, {1, 0}, {1, 1}}));
    }
}

outcome_set message_passing(memory stores, std::memory_order second_store, bool fence) {
    return outcomes_of(
        stores,
        [=](litmus& s) {
            s.x.store(1, relaxed);
            if (fence) atomics::fence(release);
            s.y.store(1, second_store);
        },
        [](litmus& s) {
            s.a = s.y.load(acquire);
            s.b = s.x.load(relaxed);
        });
}

TEST(model_litmus, stores_overtake_each_other_under_pso_only_and_never_past_a_release) {
    const outcome_set in_order{{0, 0}, {0, 1}, {1, 1}};
    const outcome_set overtaking{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    EXPECT_EQ(message_passing(memory::tso, relaxed, false), in_order);
    EXPECT_EQ(message_passing(memory::pso, relaxed, false), overtaking);
    EXPECT_EQ(message_passing(memory::pso, release, false), in_order);
    EXPECT_EQ(message_passing(memory::pso, relaxed, true), in_order);
    EXPECT_EQ(message_passing(memory::pso, seq_cst, false), in_order);
}

TEST(model_litmus, a_store_after_a_release_may_overtake_it_under_pso) {
    const auto find = [](memory stores) {
        return outcomes_of(
            stores,
            [](litmus& s) {
                s.x.store(1, release);
                s.y.store(1, relaxed);
            },
            [](litmus& s) {
                s.a = s.y.load(acquire);
                s.b = s.x.load(relaxed);
            });
    };
    EXPECT_EQ(find(memory::tso).count({1, 0}), 0u);
    EXPECT_EQ(find(memory::pso).count({1, 0}), 1u);
}

TEST(model_litmus, stores_to_one_object_stay_in_order) {
    for (const memory stores : {memory::sequential, memory::tso, memory::pso}) {
        const outcome_set found = outcomes_of(
            stores,
            [](litmus& s) {
                s.x.store(1, relaxed);
                s.x.store(2, relaxed);
            },
            [](litmus& s) {
                s.a = s.x.load(relaxed);
                s.b = s.x.load(relaxed);
            });
        EXPECT_EQ(found, (outcome_set{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
    }
}

TEST(model_litmus, a_thread_sees_its_own_buffered_store) {
    for (const memory stores : {memory::tso, memory::pso}) {
        const outcome_set found = outcomes_of(
            stores,
            [](litmus& s) {
                s.x.store(1, relaxed);
                s.a = 10 * s.x.load(relaxed) + s.y.load(relaxed);
            },
            [](litmus& s) {
                s.y.store(1, relaxed);
                s.b = 10 * s.y.load(relaxed) + s.x.load(relaxed);
            });
        EXPECT_EQ(found, (outcome_set{{10, 10}, {10, 11}, {11, 10}, {11, 11}}));
    }
}

// Possible on ARM and POWER, but in no model here, because loads are never reordered.
TEST(model_litmus, load_buffering_is_not_covered) {
    for (const memory stores : {memory::sequential, memory::tso, memory::pso}) {
        const outcome_set found = outcomes_of(
            stores,
            [](litmus& s) {
                s.a = s.x.load(relaxed);
                s.y.store(1, relaxed);
            },
            [](litmus& s) {
                s.b = s.y.load(relaxed);
                s.x.store(1, relaxed);
            });
        EXPECT_EQ(found, (outcome_set{{0, 0}, {0, 1}, {1, 0}}));
    }
}

// Nor is this: two readers that see two writers' stores in opposite orders.
TEST(model_litmus, all_readers_see_one_order_of_stores) {
    std::set<std::pair<outcome, outcome>> found;
    const result r = explore({.stores = memory::pso}, [&](run& p) {
        struct state : litmus {
            outcome first, second;
        };
        auto& s = p.make<state>();
        p.thread([&s] { s.x.store(1, relaxed); });
        p.thread([&s] { s.y.store(1, relaxed); });
        p.thread([&s] {
            const int a = s.x.load(relaxed);
            s.first = {a, s.y.load(relaxed)};
        });
        p.thread([&s] {
            const int b = s.y.load(relaxed);
            s.second = {b, s.x.load(relaxed)};
        });
        p.at_end([&] { found.insert({s.first, s.second}); });
    });
    EXPECT_TRUE(r.ok() && r.exhaustive) << r.report();
    EXPECT_EQ(found.size(), 15u);
    EXPECT_EQ(found.count({{1, 0}, {1, 0}}), 0u);
}

}  // namespace
