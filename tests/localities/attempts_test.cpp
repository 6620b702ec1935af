// SPDX-License-Identifier: BSL-1.0
// Calls that are tried again or made several times.
#include "on_job.hpp"

#include <quern/localities/attempts.hpp>
#include <quern/localities/remote_error.hpp>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::localities::all;
using quern::localities::count;
using quern::localities::here;
using quern::localities::majority;
using quern::localities::no_result;
using quern::localities::remote_error;
using quern::localities::replicate;
using quern::localities::retry;
using quern::localities::retry_if;

std::atomic<int> calls_seen{0};

class localities_attempts : public quern_test::on_job {};

int fails_below(int least) {
    return here() < least ? throw std::domain_error("not at " + std::to_string(here())) : here();
}

template <class Call>
std::string error_of(Call&& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "no exception";
}

// Holds: retry: It calls one place after the other until the function does not throw.
TEST_P(localities_attempts, the_next_place_is_asked) {
    const int last = count() - 1;
    EXPECT_EQ(retry(count(), all(), &fails_below, last).get(), last);
    EXPECT_EQ(retry(1, {last}, &fails_below, last).get(), last);
    const std::string said = error_of([&] { retry(count(), all(), &fails_below, 100).get(); });
    EXPECT_EQ(said, "locality " + std::to_string(last) + ": std::domain_error: not at " +
                        std::to_string(last));
}

// Holds: retry: There are as many attempts as were allowed, and no more after a success; of a void
// function too.
TEST_P(localities_attempts, attempts_are_counted) {
    const int self = here();
    calls_seen = 0;
    const auto fails = [] {
        ++calls_seen;
        throw std::domain_error("always");
    };
    EXPECT_THROW(retry(3, {self}, fails).get(), remote_error);
    EXPECT_EQ(calls_seen, 3);
    const auto third = [] {
        if (++calls_seen < 6) {
            throw std::domain_error("not yet");
        }
    };
    retry(10, {self, self}, third).get();
    EXPECT_EQ(calls_seen, 6);
}

// Holds: retry: A result that is not accepted is as good as none.
TEST_P(localities_attempts, results_are_looked_at) {
    const int last = count() - 1;
    const auto is_last = [last](int where) { return where == last; };
    EXPECT_EQ(retry_if(count(), all(), is_last, [] { return here(); }).get(), last);
    const auto never = [](const std::string&) { return false; };
    const auto echo = [](const std::string& x) { return x; };
    EXPECT_EQ(error_of([&] { retry_if(2, all(), never, echo, std::string("x")).get(); }),
              "quern: localities::retry: no result of 2 attempts was accepted");
    const auto takes = [](const std::vector<int>& x) { return x.size() == 3; };
    const auto twice = [](const std::vector<int>& x) { return x; };
    EXPECT_EQ(retry_if(2, all(), takes, twice, std::vector<int>{1, 2, 3}).get().size(), 3U);
}

// Holds: replicate: All places are called, and the choice has the results of those that returned, in
// their order.
TEST_P(localities_attempts, replicas_are_chosen_from) {
    const auto to_all = [](const std::vector<int>& x) { return x; };
    EXPECT_EQ(replicate(all(), to_all, [] { return here(); }).get(), all());
    EXPECT_EQ(replicate(all(), to_all, &fails_below, count() - 1).get(),
              std::vector<int>{count() - 1});
    EXPECT_THROW(replicate(all(), to_all, &fails_below, 100).get(), remote_error);
    std::vector<int> places(3, here());
    places.push_back(0);
    EXPECT_EQ(replicate(places, majority(), [] { return here(); }).get(), here());
    const auto differ = [] { return calls_seen++; };
    EXPECT_EQ(error_of([&] {
                  replicate({here(), here()}, majority(), differ).get();
              }),
              "quern: localities::majority: of 2 results no one is that of more than half");
}

// Holds: retry: What is no place or number is named.
TEST_P(localities_attempts, mistakes_are_named) {
    const auto one = [] { return 1; };
    EXPECT_EQ(error_of([&] { retry(0, all(), one).get(); }),
              "quern: localities::retry with 0 attempts; accepted: 1 and more");
    EXPECT_EQ(error_of([&] { replicate({}, majority(), one).get(); }),
              "quern: localities::replicate without a place; accepted: localities, such as all()");
    EXPECT_EQ(error_of([&] { retry(2, {count()}, one).get(); }),
              "quern: localities::retry of locality " + std::to_string(count()) +
                  "; accepted: 0 to " + std::to_string(count() - 1));
}

INSTANTIATE_TEST_SUITE_P(on, localities_attempts, testing::Values(1U, 2U));

}  // namespace
