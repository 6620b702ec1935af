// SPDX-License-Identifier: BSL-1.0
// Stop tokens as arguments of calls: what arrives, and what a request wakes.
#include "stop_calls.hpp"

#include <quern/localities/attempts.hpp>
#include <quern/localities/object.hpp>
#include <quern/sync/channel.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/mutex.hpp>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace quern_test;
using namespace std::chrono_literals;
using quern::localities::count;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::migrate;
using quern::localities::post_to;
using quern::localities::run_at;

class localities_stop : public on_job_with_stops {};

quern::mutex g_stop_lock;
std::stop_token g_stop_kept;  ///< under the lock

// Holds: run_at: A stop token among the arguments arrives as one that is stopped if the caller's
// was.
TEST_P(localities_stop, a_token_that_was_stopped_arrives_so) {
    std::stop_source source;
    source.request_stop();
    EXPECT_TRUE(run_at(next_locality(), &is_stopped, source.get_token()).get());
}

// Holds: run_at: A stop token that cannot be stopped arrives as one.
TEST_P(localities_stop, a_token_without_a_source_arrives_so) {
    const auto can_be = [](const std::stop_token& stop) { return stop.stop_possible(); };
    EXPECT_FALSE(run_at(next_locality(), can_be, std::stop_token()).get());
    std::optional<std::stop_source> source(std::in_place);
    const std::stop_token left = source->get_token();
    EXPECT_TRUE(run_at(next_locality(), can_be, left).get());
    source.reset();
    EXPECT_FALSE(run_at(next_locality(), can_be, left).get());
}

// Holds: run_at: While the function runs, a request at the caller's source stops its token, and
// wakes what waits with it.
TEST_P(localities_stop, a_request_wakes_a_function_that_waits_with_the_token) {
    const auto receives = [](const std::stop_token& stop) {
        quern::channel<int> none;
        return none.receive(stop).has_value();
    };
    const auto waits_any = [](const std::stop_token& stop) {
        quern::mutex lock;
        std::unique_lock held(lock);
        quern::condition_variable_any changed;
        return changed.wait(held, stop, [] { return false; });
    };
    const auto polls = [](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            quern::this_task::yield();
        }
        return false;
    };
    std::stop_source source;
    const int where = next_locality();
    auto by_event = run_at(where, &wait_by_event, source.get_token());
    std::vector<quern::future<bool>> others;
    others.push_back(run_at(where, receives, source.get_token()));
    others.push_back(run_at(where, waits_any, source.get_token()));
    others.push_back(run_at(where, polls, source.get_token()));
    wait_until_begun(where, 1);
    EXPECT_FALSE(by_event.is_ready());
    source.request_stop();
    EXPECT_TRUE(by_event.get());
    for (auto& each : others) {
        EXPECT_FALSE(each.get());
    }
}

// Holds: run_at: While the function runs, a request...
TEST_P(localities_stop, a_thread_and_a_callback_see_the_request) {
    const auto count_by_callback = [](const std::stop_token& stop) {
        quern::event came;
        int calls = 0;
        const std::stop_callback counts(stop, [&] {
            ++calls;
            came.set();
        });
        ++g_stop_begun;
        came.wait();
        return calls;
    };
    std::stop_source source;
    auto counted = run_at(next_locality(), count_by_callback, source.get_token());
    wait_until_begun(next_locality(), 1);
    std::thread([&] { source.request_stop(); }).join();
    EXPECT_EQ(counted.get(), 1);
}

struct several_stops {
    int number = 0;
    std::stop_token first{};
    std::map<std::string, std::optional<std::stop_token>> others{};
};

class stop_in_class {
public:
    stop_in_class() = default;
    explicit stop_in_class(std::stop_token token) : m_token(std::move(token)) {}
    const std::stop_token& token() const noexcept { return m_token; }

    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_token);
    }

private:
    std::stop_token m_token{};
};

// Holds: run_at: Stop tokens travel inside of what travels as an argument, and equal ones of a call
// arrive as equal ones.
TEST_P(localities_stop, tokens_in_other_arguments_arrive) {
    std::stop_source one;
    std::stop_source two;
    const auto check = [](const several_stops& all, const std::tuple<int, stop_in_class>& more,
                          const std::vector<std::stop_token>& list,
                          const std::vector<double>& large) {
        const std::stop_token& second = *all.others.at("second");
        const bool is_same = std::get<1>(more).token() == all.first && list.at(0) == second &&
                             list.at(1) == all.first && second != all.first;
        const quern::event never;
        never.wait(second);
        return is_same && !all.first.stop_requested() && !all.others.at("none") &&
               large.size() == 100'000 && large.back() == 2.5;
    };
    auto checked = run_at(
        next_locality(), check,
        several_stops{3, one.get_token(), {{"second", two.get_token()}, {"none", std::nullopt}}},
        std::tuple(1, stop_in_class(one.get_token())),
        std::vector{two.get_token(), one.get_token()}, std::vector<double>(100'000, 2.5));
    two.request_stop();
    EXPECT_TRUE(checked.get());
}

// Holds: run_at: A function may hand its stop token to a further call.
TEST_P(localities_stop, a_token_is_handed_on_from_locality_to_locality) {
    struct chain {
        static bool wait(int left, const std::stop_token& stop) {
            return left == 0 ? wait_by_event(stop)
                             : run_at(next_locality(), &wait, left - 1, stop).get();
        }
    };
    constexpr int k_hops = 7;
    std::stop_source source;
    auto stopped = run_at(next_locality(), &chain::wait, k_hops, source.get_token());
    wait_until_begun((here() + k_hops + 1) % count(), 1);
    source.request_stop();
    EXPECT_TRUE(stopped.get());
}

/// Waits until the call in which the token was kept has ended.
void wait_until_unlinked() {
    for (;; quern::this_task::yield()) {
        const std::scoped_lock lock(g_stop_lock);
        if (!g_stop_kept.stop_possible()) {
            return;
        }
    }
}
bool kept_is_stopped() {
    const std::scoped_lock lock(g_stop_lock);
    return g_stop_kept.stop_requested();
}
void keep_token(const std::stop_token& stop) {
    const std::scoped_lock lock(g_stop_lock);
    g_stop_kept = stop;
    ++g_stop_begun;
}

// Holds: run_at: A copy of the stop token that is kept longer than the call is not stopped later.
// Holds: post_to: Stop tokens are linked until the function has ended.
TEST_P(localities_stop, a_copy_that_is_kept_is_not_stopped_later) {
    if (count() == 1) {
        GTEST_SKIP() << "at the own locality it is the caller's token";
    }
    std::stop_source source;
    run_at(next_locality(), &keep_token, source.get_token()).get();
    run_at(next_locality(), &wait_until_unlinked).get();
    post_to(next_locality(), &keep_token, source.get_token());
    wait_until_begun(next_locality(), 2);
    run_at(next_locality(), &wait_until_unlinked).get();
    source.request_stop();
    EXPECT_FALSE(run_at(next_locality(), &kept_is_stopped).get());
}

// Holds: post_to: Stop tokens are...
TEST_P(localities_stop, a_posted_function_is_stopped) {
    std::stop_source source;
    post_to(
        next_locality(), [](const std::stop_token& stop) { wait_by_event(stop); },
        source.get_token());
    wait_until_begun(next_locality(), 1);
    source.request_stop();
    run_at(next_locality(), [] {
        while (g_stop_ended == 0) {
            quern::this_task::yield();
        }
    }).get();
}

// Holds: object: Stop tokens among the arguments of a call are linked while it runs, wherever the
// object is by then.
TEST_P(localities_stop, calls_of_objects_are_stopped) {
    const auto one = make_at<stop_target>(next_locality());
    std::stop_source source;
    auto waits = one.call(&stop_target::wait, source.get_token());
    one.post(&stop_target::wait_and_count, source.get_token());
    auto counted = one.call(&stop_target::stopped);
    wait_until_begun(next_locality(), 1);
    source.request_stop();
    EXPECT_TRUE(waits.get());
    EXPECT_EQ(counted.get(), 1);
}

// Holds: object: Stop tokens among the arguments of a call...
TEST_P(localities_stop, calls_that_follow_an_object_are_stopped) {
    const auto one = make_at<stop_target>(next_locality());
    std::stop_source first;
    std::stop_source second;
    for (int round = 0; round < 3; ++round) {
        // The calls wait for their turn while the object moves on, also to the caller's locality.
        auto holds = one.call(&stop_target::wait, first.get_token());
        auto moved = migrate(one, (here() + round) % count());
        auto waits = one.call(&stop_target::wait, second.get_token());
        one.post(&stop_target::wait_and_count, second.get_token());
        auto counted = one.call(&stop_target::stopped);
        first.request_stop();
        EXPECT_TRUE(holds.get());
        moved.get();
        quern::this_task::sleep_for(1ms);
        second.request_stop();
        EXPECT_TRUE(waits.get());
        EXPECT_EQ(counted.get(), round + 1);
        first = {};
        second = {};
    }
}

// Holds: retry: A stop token among the arguments is that of each attempt.
TEST_P(localities_stop, attempts_are_stopped) {
    std::stop_source source;
    const auto fails_first = [](const std::stop_token& stop) {
        if (g_stop_begun++ % 2 == 0) {
            throw std::runtime_error("the first attempt");
        }
        const quern::event never;
        return !never.wait_for(stop, 60s) && stop.stop_requested();
    };
    auto stopped = quern::localities::retry(2, {next_locality()}, fails_first, source.get_token());
    wait_until_begun(next_locality(), 2);
    source.request_stop();
    EXPECT_TRUE(stopped.get());
}

/// What cannot be read, after a token.
struct unreadable_stop {
    std::stop_token token{};
    template <class Archive>
    void save(Archive& into) const {
        into(token, 1);
    }
    template <class Archive>
    void load(Archive& from) {
        from(token);
        throw std::runtime_error("unreadable");
    }
};

// Holds: run_at: If the function or the reading of its arguments throws, the stop tokens are linked
// no more.
TEST_P(localities_stop, calls_that_fail_leave_no_link) {
    std::stop_source source;
    const auto throws = [](const std::stop_token& stop) {
        keep_token(stop);
        throw std::invalid_argument("thrown");
    };
    EXPECT_EQ(error_of(run_at(next_locality(), throws, source.get_token())).message, "thrown");
    const auto reads = [](const unreadable_stop& of) { return of.token.stop_requested(); };
    auto unread = run_at(next_locality(), reads, unreadable_stop{source.get_token()});
    if (count() > 1) {
        EXPECT_EQ(error_of(std::move(unread)).message, "unreadable");
        run_at(next_locality(), &wait_until_unlinked).get();
    }
    source.request_stop();
}

// Holds: run_at: A stop token in a result whose type is written by functions of its own is an
// error.
TEST_P(localities_stop, a_token_in_a_result_is_refused) {
    if (count() == 1) {
        GTEST_SKIP() << "a result at the own locality does not travel";
    }
    const auto gives = [] { return stop_in_class(std::stop_source().get_token()); };
    const auto error = error_of(run_at(next_locality(), gives));
    EXPECT_NE(error.message.find("a stop token is written that is no argument of a call"),
              std::string::npos)
        << error.message;
}

static_assert(!quern::localities::can_travel<std::stop_token>);
static_assert(!quern::localities::can_travel<several_stops>);
static_assert(!quern::localities::can_travel<std::vector<std::stop_token>>);
static_assert(!quern::localities::detail::can_be_argument<std::stop_source>);

QUERN_ON_1_2_WORKERS(localities_stop);

}  // namespace
