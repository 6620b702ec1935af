// SPDX-License-Identifier: BSL-1.0
// A session that lasts: after very many moves of one object, names that come and go, and parcels,
// each locality holds as much memory as after the first tenth of them, and none has been lost.
// TEST_STRESS_ROUNDS sets the number of moves and of names; there are ten times as many parcels.
#include "on_job.hpp"
#include "stress/process.hpp"

#include <quern/localities/names.hpp>
#include <quern/task/task_group.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::all;
using quern::localities::count;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::migrate;
using quern::localities::object;
using quern::localities::post_to;
using quern::localities::root;
using quern::localities::run_at;

std::uint64_t rounds_of_job() {
    const char* const given = std::getenv("TEST_STRESS_ROUNDS");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : scaled(10'000U, 500U);
}

std::atomic<int> g_living_walkers{0};          // of this process
std::atomic<std::uint64_t> g_parcels_come{0};  // here
std::atomic<std::uint64_t> g_sum_of_parcels{0};

class walker {
public:
    walker() { ++g_living_walkers; }
    walker(const walker&) = delete;
    walker& operator=(const walker&) = delete;
    ~walker() { --g_living_walkers; }

    std::uint64_t add(std::uint64_t n) { return m_sum += n; }
    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_sum);
    }

private:
    std::uint64_t m_sum = 0;
};

std::vector<std::size_t> resident_of_all() {
    std::vector<std::size_t> bytes;
    for (const int each : all()) {
        bytes.push_back(run_at(each, &resident_bytes).get());
    }
    return bytes;
}

class localities_long_life : public on_job {
protected:
    /// At the root, in a task: rounds(first, end), of the first tenth and then of all others.
    /// Meanwhile no locality's memory grows.
    template <class Rounds>
    static void last(const char* what, std::uint64_t number, Rounds rounds) {
        quern::async([&] { rounds(std::uint64_t{0}, number / 10); }).get();
        const std::vector<std::size_t> before = resident_of_all();
        const auto begun = std::chrono::steady_clock::now();
        quern::async([&] { rounds(number / 10, number); }).get();
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
        const std::vector<std::size_t> after = resident_of_all();
        std::printf("[ stress   ] %llu %s, the last nine tenths in %.1f s; KiB resident:",
                    static_cast<unsigned long long>(number), what, spent.count());
        for (std::size_t i = 0; i < after.size(); ++i) {
            std::printf(" %zu -> %zu", before[i] >> 10U, after[i] >> 10U);
            if (!k_sanitized) {  // which keep freed memory
                constexpr std::size_t k_slack = std::size_t{8} << 20U;
                EXPECT_LE(after[i], before[i] + k_slack) << "locality " << i;
            }
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    void TearDown() override {
        end_job();
        EXPECT_EQ(g_living_walkers, 0);
    }

    const std::uint64_t m_rounds = rounds_of_job();
};
QUERN_ON_1_2_WORKERS(localities_long_life);

// Holds: migrate: However often an object moves, no memory is kept and no call is lost.
TEST_P(localities_long_life, an_object_moves_very_often) {
    if (here() != root) {
        return;
    }
    const auto one = make_at<walker>(here());
    last("moves", m_rounds, [&one](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t i = first; i < end; ++i) {
            one.post(&walker::add, i);
            migrate(one, static_cast<int>(i + 1) % count()).get();
        }
    });
    EXPECT_EQ(one.call(&walker::add, 0U).get(), m_rounds * (m_rounds - 1) / 2);
}

std::string name_number(std::uint64_t i) {
    return "a name that is long enough " + std::to_string(i);
}

/// So many at a time as there are tasks. Each name has the only reference to its object.
void publish_and_unpublish(std::uint64_t first, std::uint64_t end) {
    constexpr std::uint64_t k_tasks = 8;
    quern::task_group group;
    for (std::uint64_t task = 0; task < k_tasks; ++task) {
        group.run([=] {
            for (std::uint64_t i = first + task; i < end; i += k_tasks) {
                const std::string name = name_number(i);
                quern::localities::publish(name,
                                           make_at<walker>(static_cast<int>(i / k_tasks) % count()))
                    .get();
                if (i % 64 == task) {
                    const auto found = quern::localities::find<walker>(name).get();
                    ASSERT_EQ(found.call(&walker::add, i).get(), i);
                }
                ASSERT_TRUE(quern::localities::unpublish(name).get());
            }
        });
    }
    group.wait();
}

// Holds: publish: However many names come and go, no memory is kept and no object is left.
TEST_P(localities_long_life, very_many_names_come_and_go) {
    if (here() != root) {
        return;
    }
    last("names", m_rounds, &publish_and_unpublish);
    for (const int each : all()) {
        EXPECT_TRUE(eventually(
            [each] { return run_at(each, [] { return g_living_walkers.load(); }).get() == 0; }));
    }
}

void parcel_comes(std::uint64_t number) {
    ++g_parcels_come;
    g_sum_of_parcels += number;
}

// Holds: post_to: However many calls are made, no memory is kept and none is lost.
TEST_P(localities_long_life, very_many_parcels_come) {
    if (here() != root || count() == 1) {  // then no call travels
        return;
    }
    const int to = next_locality();
    const auto come = [to] { return run_at(to, [] { return g_parcels_come.load(); }).get(); };
    const auto sum = [to] { return run_at(to, [] { return g_sum_of_parcels.load(); }).get(); };
    const std::uint64_t come_before = come();
    const std::uint64_t sum_before = sum();
    const std::uint64_t number = 10 * m_rounds;
    last("parcels", number, [&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t i = first; i < end; ++i) {
            post_to(to, &parcel_comes, i);
            if (i % 100'000 == 0) {
                EXPECT_TRUE(eventually([&] { return come() - come_before == i + 1; }));
            }
        }
        EXPECT_TRUE(eventually([&] { return come() - come_before == end; }));
    });
    EXPECT_EQ(sum() - sum_before, number * (number - 1) / 2);
}

}  // namespace
