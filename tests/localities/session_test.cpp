// SPDX-License-Identifier: BSL-1.0
// The beginning and the end of a session: what is refused without one, what its end waits for, and
// that sessions leave nothing behind.
#include "on_job.hpp"
#include "stress/process.hpp"

#include <quern/counters/counter.hpp>
#include <quern/task/async.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>

namespace {

using namespace quern_test;
using namespace std::chrono_literals;
using quern::localities::all;
using quern::localities::here;
using quern::localities::post_to;
using quern::localities::run_at;

std::atomic<std::uint64_t> g_calls{0};
void count_call() { ++g_calls; }

class localities_session : public on_workers {
protected:
    localities_session() { g_calls = 0; }
};

template <class F>
void expect_refused(const char* name, F f) {
    try {
        f();
        ADD_FAILURE() << name << " without a session";
    } catch (const std::logic_error& error) {
        EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
}

// Holds: session: Without one, here(), count(), all(), run_at() and post_to() throw
// std::logic_error.
TEST_P(localities_session, nothing_is_called_without_a_session) {
    const auto expect_all_refused = [] {
        expect_refused("here", [] { here(); });
        expect_refused("count", [] { quern::localities::count(); });
        expect_refused("all", [] { all(); });
        expect_refused("run_at", [] { static_cast<void>(run_at(0, &count_call)); });
        expect_refused("post_to", [] { post_to(0, &count_call); });
    };
    expect_all_refused();
    {
        own_job job(GetParam());
        EXPECT_EQ(here(), this_world().rank);
    }
    expect_all_refused();
    EXPECT_EQ(g_calls, 0U);
}

// Holds: session: A second one at a time is refused with std::logic_error, and the first one stays.
TEST_P(localities_session, a_second_session_is_refused) {
    own_job job(GetParam());
    int argc = 0;
    char** argv = nullptr;
    EXPECT_THROW(quern::localities::session(argc, argv), std::logic_error);
    EXPECT_EQ(run_at(next_locality(), &here).get(), next_locality());
}

// Holds: session: It runs on the default runtime, which it starts if there is none.
TEST_P(localities_session, the_default_runtime_is_started) {
    int argc = 0;
    char** argv = nullptr;
    const quern::runtime own(quern::runtime_options::with_workers(GetParam()));
    const quern::localities::session job(argc, argv);
    const auto workers = [] {
        return quern::runtime::default_instance().default_pool().get().size();
    };
    EXPECT_EQ(run_at(next_locality(), workers).get(), std::size_t{GetParam()});
}

// Holds: session: Its end waits until no call is under way or runs anywhere.
TEST_P(localities_session, calls_that_were_just_posted_run_before_the_end) {
    constexpr std::uint64_t k_calls = scaled(1000, 200);
    own_job job(GetParam());
    for (std::uint64_t i = 0; i < k_calls; ++i) {
        for (const int each : all()) {
            post_to(each, &count_call);
        }
    }
    job.end();
    EXPECT_EQ(g_calls, k_calls * number_of_ranks());
}

std::uint64_t count_of(const quern::runtime& rt, const char* name) {
    quern::counters::counter_set set(rt, quern::counters::baseline::start);
    set.add(name);
    return static_cast<std::uint64_t>(set.evaluate().values.front().value);
}

// Holds: session: The counters /parcels count parcels, calls and answers, over all sessions of the
// process; calls at the caller's own locality are none.
TEST_P(localities_session, counters_count_the_parcels_of_all_sessions) {
    constexpr std::uint64_t k_calls = 50;
    constexpr std::size_t k_numbers = 100'000;
    const quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
    const auto sent = count_of(rt, "/parcels/count/sent");
    const auto received = count_of(rt, "/parcels/count/received");
    const auto chunks = count_of(rt, "/parcels/count/rendezvous");
    const auto bytes = count_of(rt, "/parcels/data/sent");
    {
        int argc = 0;
        char** argv = nullptr;
        const quern::localities::session job(argc, argv);
        for (std::uint64_t i = 1; i < k_calls; ++i) {
            run_at(next_locality(), &count_call).get();
        }
        const auto size = [](const std::vector<double>& of) { return of.size(); };
        EXPECT_EQ(run_at(next_locality(), size, std::vector<double>(k_numbers)).get(), k_numbers);
    }
    const bool travels = number_of_ranks() > 1;
    EXPECT_EQ(count_of(rt, "/parcels/count/sent") - sent, travels ? 2 * k_calls : 0);
    EXPECT_EQ(count_of(rt, "/parcels/count/received") - received, travels ? 2 * k_calls : 0);
    EXPECT_EQ(count_of(rt, "/parcels/count/rendezvous") - chunks, travels ? 1U : 0U);
    EXPECT_GE(count_of(rt, "/parcels/data/sent") - bytes, travels ? 8 * k_numbers : 0);
    EXPECT_EQ(count_of(rt, "/parcels/count/waiting"), 0U);
}

// Holds: session: Its end waits until no call...
TEST_P(localities_session, functions_that_still_wait_end_before_the_session) {
    own_job job(GetParam());
    for (const int each : all()) {
        post_to(each, [] {
            quern::this_task::sleep_for(100ms);
            ++g_calls;
        });
        static_cast<void>(run_at(each, [] {
            quern::this_task::sleep_for(50ms);
            ++g_calls;
        }));
    }
    job.end();
    EXPECT_EQ(g_calls, 2 * number_of_ranks());
}

void hop(int left) {
    ++g_calls;
    if (left != 0) {
        post_to(next_locality(), &hop, left - 1);
    }
}

// Holds: session: Its end waits also for calls that called functions post, when all main functions
// are at the end already.
TEST_P(localities_session, chains_of_calls_go_on_while_all_ranks_wait_at_the_end) {
    constexpr int k_hops = 2000;
    own_job job(GetParam());
    post_to(next_locality(), &hop, k_hops);
    job.end();
    EXPECT_EQ(sum_of_ranks(g_calls), (k_hops + 1) * number_of_ranks());
}

void hop_and_sleep(int left) {
    quern::this_task::sleep_for(200us);
    ++g_calls;
    if (left != 0) {
        run_at(next_locality(), &hop_and_sleep, left - 1).get();
    }
}

// Holds: session: Its end waits also...
TEST_P(localities_session, chains_of_waiting_calls_end_before_the_session) {
    constexpr int k_hops = 60;
    own_job job(GetParam());
    static_cast<void>(run_at(next_locality(), &hop_and_sleep, k_hops));
    job.end();
    EXPECT_EQ(sum_of_ranks(g_calls), (k_hops + 1) * number_of_ranks());
}

// Holds: session: Its end waits until all localities have come there, and calls run meanwhile.
TEST_P(localities_session, a_rank_that_comes_late_is_waited_for) {
    own_job job(GetParam());
    const bool is_late = here() == quern::localities::root;
    for (int i = 0; i < 10; ++i) {
        for (const int each : all()) {
            post_to(each, &count_call);
        }
    }
    if (is_late) {
        std::this_thread::sleep_for(300ms);
        for (const int each : all()) {
            EXPECT_EQ(run_at(each, &here).get(), each);
        }
    }
    job.end();
    EXPECT_EQ(g_calls, 10 * number_of_ranks());
}

/// Open files of this process.
std::size_t open_files() {
    std::size_t found = 0;
    DIR* const folder = ::opendir("/proc/self/fd");
    while (::readdir(folder) != nullptr) {
        ++found;
    }
    ::closedir(folder);
    return found;
}

void run_one_session(unsigned workers) {
    own_job job(workers);
    std::vector<quern::future<std::size_t>> calls;
    for (const int each : all()) {
        const std::vector<int> large(50'000, each);
        calls.push_back(run_at(
            each, [](const std::vector<int>& of) { return of.size(); }, large));
        post_to(each, &count_call);
    }
    for (auto& each : calls) {
        EXPECT_EQ(each.get(), 50'000U);
    }
}

// Holds: session: Sessions may follow each other, and leave neither threads nor files nor memory
// behind.
TEST_P(localities_session, sessions_follow_each_other_and_leave_nothing) {
    for (int i = 0; i < 5; ++i) {
        run_one_session(GetParam());
    }
    const std::size_t threads = quern_test::thread_count_at_rest();
    const std::size_t files = open_files();
    const std::size_t memory = resident_bytes();
    for (int i = 0; i < 20; ++i) {
        run_one_session(GetParam());
    }
    EXPECT_TRUE(becomes_thread_count(threads));
    EXPECT_LE(open_files(), files);
    EXPECT_EQ(g_calls, 25 * number_of_ranks());
    if (!k_sanitized) {  // which keep freed memory
        constexpr std::size_t k_slack = std::size_t{8} << 20U;
        EXPECT_LE(resident_bytes(), memory + k_slack);
    }
}

QUERN_ON_1_2_WORKERS(localities_session);

}  // namespace
