// SPDX-License-Identifier: BSL-1.0
// What adapts lives as long as its program. After a million entries each such object holds as much
// memory as after a hundred thousand, and the last entries allocate as much as the early ones: what
// grows with the entries is copied, sorted or searched at each. A program of its own, since it
// replaces operator new.
#include "throttling/throttle_rules.hpp"
#include "tuning/history.hpp"
#include "unit/adaptation/on_workers.hpp"
#include "unit/adaptation/regions.hpp"

#include <quern/adaptation/decisions.hpp>
#include <quern/adaptation/global_value.hpp>
#include <quern/adaptation/policy.hpp>
#include <quern/adaptation/region.hpp>
#include <quern/adaptation/tuner.hpp>
#include <quern/scheduler/sites.hpp>
#include <quern/task/async.hpp>

#include <gtest/gtest.h>

#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#include <vector>

namespace {

std::atomic<std::int64_t> g_held{0};  // bytes
thread_local std::uint64_t t_allocated = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
    void* const memory = std::malloc(size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    g_held.fetch_add(static_cast<std::int64_t>(::malloc_usable_size(memory)),
                     std::memory_order_relaxed);
    t_allocated += size;
    return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    g_held.fetch_sub(static_cast<std::int64_t>(::malloc_usable_size(memory)),
                     std::memory_order_relaxed);
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    operator delete(memory);
}

namespace {

using namespace quern::adaptation;  // NOLINT(google-build-using-namespace): the subject

constexpr std::size_t k_entries = 1'000'000;
constexpr std::size_t k_sample = 10'000;     // of which allocations are compared
constexpr std::int64_t k_slack = 256 << 10;  // bytes, once for all entries

/// What the first tenth of the entries holds, and a sample of its last ones allocates, against the
/// whole.
template <class Entry>
void expect_level(Entry entry, std::size_t entries = k_entries) {
    std::array<std::uint64_t, 2> allocated{};
    std::array<std::int64_t, 2> held{};
    std::size_t done = 0;
    for (const bool late : {false, true}) {
        const std::size_t end = late ? entries : entries / 10;
        for (; done < end - k_sample; ++done) {
            entry(done);
        }
        const std::uint64_t before = t_allocated;
        for (; done < end; ++done) {
            entry(done);
        }
        allocated[late ? 1 : 0] = t_allocated - before;
        held[late ? 1 : 0] = g_held.load(std::memory_order_relaxed);
    }
    EXPECT_LE(held[1], held[0] + k_slack);
    EXPECT_LE(allocated[1], 2 * allocated[0] + k_sample);
}

double noise(std::size_t seed) {
    const std::uint64_t mixed = (seed + 1) * 0x9e3779b97f4a7c15U;
    return static_cast<double>(mixed >> 40) / (1 << 24);
}

// Holds: tuner: Neither memory nor the work of an entry grows with the number of entries.
TEST(long_life_test, a_tuner_whose_search_is_over) {
    tuner search(space({integer("x", 1, 64)}), strategy::hill_climbing);
    expect_level([&](std::size_t i) {
        const trial next = search.ask();
        const double apart = next.where["x"] - 20;
        search.tell(next, (1 + apart * apart / 100) * (1 + 0.01 * noise(i)));
    });
    EXPECT_EQ(search.restarts(), 0U);
    EXPECT_NEAR(search.best()["x"], 20, 2);
}

TEST(long_life_test, a_tuner_that_searches_again_and_again) {
    tuner search(space({real("x", 0, 1), real("y", 0, 1)}), strategy::random);
    expect_level([&](std::size_t i) {
        const trial next = search.ask();
        search.tell(next, (1 + next.where["x"]) * ((i / 200) % 2 == 0 ? 1 : 3));
    });
    EXPECT_GT(search.restarts(), 1000U);
}

TEST(long_life_test, a_tuner_with_parts) {
    tuner search(space({integer("grain", 1, 4096).by_ratio()}), strategy::model);
    expect_level([&](std::size_t i) {
        const trial next = search.ask();
        const double grain = next.where["grain"];
        const double load = (i / 500) % 2 == 0 ? 1 : 2;
        search.tell(next, measured{.cost = load * (1 + 20 / grain + grain / 3000),
                                   .running = load * (1 + grain / 3000),
                                   .overhead = load * 20 / grain});
    });
}

// Holds: region: Neither memory nor the work of an entry grows with the number of entries.
TEST(long_life_test, a_region) {
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    // The log of decisions is full from the beginning. Else it grows here for as long as the region
    // decides seldom, which it does beside other programs.
    for (int i = 0; i < 5000; ++i) {
        log({.policy = "long-life", .subject = "x", .why = std::string(300, '-')});
    }
    region where("long-life", space({integer("x", 0, 7)}), quern_test::by(strategy::hill_climbing));
    expect_level([&](std::size_t i) {
        region::entry now = where.enter();
        now.work((i / 1000) % 2 == 0 ? 1 : 1e3);
    });
}

// Holds: decisions: The log keeps the latest ones.
TEST(long_life_test, the_log_of_decisions) {
    expect_level([](std::size_t i) {
        log({.policy = "long-life", .subject = "x", .before = 1, .after = noise(i), .why = "test"});
    });
}

// Holds: throttling: A throttle's rule keeps a few periods.
TEST(long_life_test, the_rules_of_throttles) {
    const detail::cap_range range{1, 48};
    detail::hill_climb_rule climbs({.range = range}, 48);
    detail::fewest_rule halves({.range = range}, 48);
    detail::power_rule cools({range, 40, 60}, 48);
    expect_level([&](std::size_t i) {
        const double load = (i / 3000) % 2 == 0 ? 1 : 2;
        climbs.next({load * (100 + climbs.cap() + noise(i)), 0});
        halves.next({load * (halves.cap() < 12 ? halves.cap() : 12) + 0.01 * noise(i), 0});
        cools.next(load * cools.cap() + noise(i));
    });
}

// Holds: policy: A policy keeps its latest readings and a bounded queue.
TEST(long_life_test, a_policy) {
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    static const quern::trace::custom_event happened("long-life");
    std::atomic<std::size_t> calls{0};
    policy_handle kept = on(
        happened, "long-life",
        [&](policy_context& now) {
            now.try_counter("/threadqueue/length");
            now.set("spin-us", static_cast<unsigned>(calls++ % 2), "test");
        },
        quern_test::k_patient);
    const global_value shared("long-life");
    expect_level([&](std::size_t i) {
        happened.fire(static_cast<double>(i));
        shared.publish(static_cast<double>(i));
    });
    EXPECT_TRUE(quern_test::eventually([&] { return calls.load() > 1000; }));
    EXPECT_TRUE(kept.is_active());
    kept.stop();
}

// What is known of the sites of tasks does not grow with the tasks.
TEST(long_life_test, the_sites_of_tasks) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    std::vector<std::string> names;
    for (int i = 0; i < 6000; ++i) {  // more than the table of sites has places
        names.push_back("long-life-" + std::to_string(i));
    }
    quern::async(rt, [&] {
        expect_level([&](std::size_t i) {
            quern::async({.name = names[i % names.size()].c_str()}, [] {}).get();
        });
    }).get();
    EXPECT_LE(quern::all_sites().size(), 4096U);
}

// Holds: history: The file does not grow with the number of searches; the latest result of each is
//     kept.
TEST(long_life_test, the_history) {
    const std::string path = testing::TempDir() + "long_history_" + std::to_string(::getpid());
    ::unlink(path.c_str());
    detail::remember_in(path);
    const space where({integer("x", 0, 1'000'000'000)});
    const std::array<detail::history_key, 3> keys{detail::key_of("first", where, 1),
                                                  detail::key_of("second", where, 1),
                                                  detail::key_of("once", where, 1)};
    detail::remember(keys[2], {{7}, 1}, 1);
    constexpr std::size_t k_searches = k_entries / 5;  // each is a write of a file
    expect_level(
        [&](std::size_t i) {
            detail::remember(keys[i % 2], {{static_cast<double>(i)}, 1 + noise(i)}, 8);
        },
        k_searches);
    struct stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_LE(about.st_size, (1 << 20) + 1000);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        const auto latest = detail::recall(keys[i]);
        ASSERT_TRUE(latest);
        EXPECT_EQ(latest->values.front(), static_cast<double>(k_searches - 2 + i));
    }
    const auto once = detail::recall(keys[2]);
    ASSERT_TRUE(once);
    EXPECT_EQ(once->values.front(), 7);
    // Of a key for each search the latest that fit are kept.
    for (int i = 0; i < 20'000; ++i) {
        detail::remember(detail::key_of("name " + std::to_string(i), where, 1), {{1}, 1}, 8);
    }
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_LE(about.st_size, (1 << 20) + 1000);
    EXPECT_TRUE(detail::recall(detail::key_of("name 19999", where, 1)));
    EXPECT_TRUE(detail::recall(detail::key_of("name 17000", where, 1)));
    EXPECT_FALSE(detail::recall(detail::key_of("name 0", where, 1)));
    detail::remember_in("");
    ::unlink(path.c_str());
}

}  // namespace
