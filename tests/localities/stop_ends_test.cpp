// SPDX-License-Identifier: BSL-1.0
// Stop tokens of calls that end: nothing is left of them, and requests may come at any moment.
// TEST_STRESS_SEED sets the seed of the random calls.
#include "stop_calls.hpp"
#include "stress/process.hpp"
#include "stress/seed.hpp"

#include <quern/counters/counter.hpp>
#include <quern/localities/object.hpp>
#include <quern/task/async.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace quern_test;
using namespace std::chrono_literals;
using quern::localities::count;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::object;
using quern::localities::post_to;
using quern::localities::run_at;

class localities_stop_ends : public on_job_with_stops {};

// Holds: session: Its end waits for calls whose stop tokens are linked, and requests reach them
// meanwhile.
TEST_P(localities_stop_ends, requests_reach_calls_while_the_session_ends) {
    std::stop_source source;
    for (int i = 0; i < 10; ++i) {
        post_to(
            next_locality(), [](const std::stop_token& stop) { wait_by_event(stop); },
            source.get_token());
        static_cast<void>(run_at(next_locality(), &wait_by_event, source.get_token()));
    }
    std::thread later([&] {
        std::this_thread::sleep_for(50ms);
        source.request_stop();
    });
    end_job();
    later.join();
    EXPECT_EQ(g_stop_ended, 20);
}

// Holds: session: Stop sources may outlive it.
TEST_P(localities_stop_ends, a_source_may_be_stopped_after_the_session) {
    std::stop_source source;
    EXPECT_FALSE(run_at(next_locality(), &is_stopped, source.get_token()).get());
    post_to(
        next_locality(), [](const std::stop_token& stop) { is_stopped(stop); }, source.get_token());
    end_job();
    source.request_stop();
}

std::size_t stop_calls_waiting() {
    quern::counters::counter_set set(quern::runtime::default_instance(),
                                     quern::counters::baseline::start);
    set.add("/parcels/count/waiting");
    return static_cast<std::size_t>(set.evaluate().values.front().value);
}

/// Half with an answer.
void call_with_tokens(int calls, const std::stop_token& stop) {
    constexpr int k_at_once = 100;
    std::vector<quern::future<bool>> waiting;
    for (int i = 0; i < calls; ++i) {
        if (i % 2 == 0) {
            waiting.push_back(run_at(next_locality(), &is_stopped, stop));
        } else {
            post_to(
                next_locality(), [](const std::stop_token& of) { is_stopped(of); }, stop);
        }
        if (waiting.size() == k_at_once) {
            for (auto& each : waiting) {
                EXPECT_FALSE(each.get());
            }
            waiting.clear();
        }
    }
    for (auto& each : waiting) {
        EXPECT_FALSE(each.get());
    }
}

// Holds: run_at: Calls with stop tokens leave nothing behind.
TEST_P(localities_stop_ends, many_calls_with_one_token_need_no_memory) {
    constexpr int k_first = scaled(10'000, 500);
    constexpr int k_calls = scaled(200'000, 2'000);  ///< of all localities
    const std::stop_source source;
    call_with_tokens(k_first, source.get_token());
    const std::size_t before = resident_bytes();
    call_with_tokens(k_calls / count(), source.get_token());
    if (!k_sanitized) {  // which keep freed memory
        constexpr std::size_t k_slack = std::size_t{4} << 20U;
        EXPECT_LE(resident_bytes(), before + k_slack);
    }
    EXPECT_TRUE(eventually([] { return stop_calls_waiting() == 0; }));
}

/// What a random call does: it ends after so many yields, or when it is stopped.
int yield_until(int yields, const std::stop_token& stop) {
    for (int i = 0; i < yields; ++i) {
        if (stop.stop_requested()) {
            return i;
        }
        quern::this_task::yield();
    }
    return yields;
}

int wait_or_yield(bool waits, int yields, const std::stop_token& stop) {
    if (waits) {
        return wait_by_event(stop) ? 0 : -1;
    }
    return yield_until(yields, stop);
}

/// Of one locality, in turn: a call, or a post, and a request that comes before, during or after
/// it, from this thread or from another task, or never.
class random_stops {
public:
    explicit random_stops(std::uint64_t seed)
        : m_random(seed + static_cast<std::uint64_t>(here())),
          m_target(make_at<stop_target>(next_locality())) {}

    void run_one() {
        const bool waits = chance(3);
        const int yields = below(6);
        const bool stops = waits || chance(2);
        const int to = below(count());
        auto source = std::make_optional<std::stop_source>();
        if (stops && chance(8)) {
            source->request_stop();
        }
        auto ended = call(to, waits, yields, source->get_token());
        if (!stops) {
            if (chance(2)) {
                source.reset();
            }
        } else if (chance(2)) {
            quern::post([kept = *source, pause = below(6)]() mutable {
                yield_until(pause, {});
                kept.request_stop();
            });
        } else {
            yield_until(below(6), {});
            source->request_stop();
        }
        if (ended.valid()) {
            const int at = ended.get();
            EXPECT_TRUE(waits ? at == 0 : (stops ? at <= yields : at == yields))
                << at << " of " << yields << (waits ? ", waits" : "") << (stops ? ", stops" : "");
        }
    }

private:
    int below(int bound) { return static_cast<int>(m_random() % static_cast<unsigned>(bound)); }
    bool chance(int one_in) { return below(one_in) == 0; }

    quern::future<int> call(int to, bool waits, int yields, const std::stop_token& stop) {
        switch (below(4)) {
            case 0:
                post_to(
                    to,
                    [](bool w, int y, const std::stop_token& s) {
                        static_cast<void>(wait_or_yield(w, y, s));
                    },
                    waits, yields, stop);
                return {};
            case 1: {
                const auto on_object = [](const stop_target&, bool w, int y,
                                          const std::stop_token& s) {
                    return wait_or_yield(w, y, s);
                };
                return m_target.call(on_object, waits, yields, stop);
            }
            default:
                return run_at(to, &wait_or_yield, waits, yields, stop);
        }
    }

    std::mt19937_64 m_random;
    object<stop_target> m_target;
};

// Holds: run_at: While the function runs, a request...
// Holds: run_at: If a request comes when the call ends, the call ends as if it had come before or
// after.
TEST_P(localities_stop_ends, random_requests_meet_the_ends_of_calls) {
    constexpr int k_calls = scaled(5'000, 500);
    constexpr int k_tasks = 4;
    const std::uint64_t seed = stress_seed();
    std::vector<quern::future<void>> tasks;
    for (int task = 0; task < k_tasks; ++task) {
        tasks.push_back(quern::async([seed, task] {
            random_stops program(seed + 1000U * static_cast<unsigned>(task));
            for (int i = 0; i < k_calls / k_tasks; ++i) {
                program.run_one();
            }
        }));
    }
    for (auto& each : tasks) {
        each.get();
    }
    end_job();
}

QUERN_ON_1_2_WORKERS(localities_stop_ends);

}  // namespace
