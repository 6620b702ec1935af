// SPDX-License-Identifier: BSL-1.0
// Collective operations of communicators: each against what the definition gives, the order in
// which values are combined, several at once, failures, and what is refused.
#include "on_job.hpp"

#include <quern/localities/communicator.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/when.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::all;
using quern::localities::communicator;
using quern::localities::count;
using quern::localities::here;
using quern::localities::remote_error;
using quern::localities::run_at;

class collectives_test : public on_job {};
QUERN_ON_1_2_WORKERS(collectives_test);

/// "0 1 2 ", of the localities up to one.
std::string numbers_to(int last, int first = 0) {
    std::string words;
    for (int each = first; each <= last; ++each) {
        words += std::to_string(each) + " ";
    }
    return words;
}
std::string own_word() { return std::to_string(here()) + " "; }
int last_locality() { return count() - 1; }

// Holds: communicator: broadcast() gives all the value of the root.
TEST_P(collectives_test, broadcast) {
    const communicator one("broadcast");
    for (const int root : all()) {
        EXPECT_EQ(one.broadcast(100 * here() + 7, root).get(), 100 * root + 7);
        const std::vector<double> long_values(5000, here() + 0.5);
        EXPECT_EQ(one.broadcast(long_values, root).get(), std::vector<double>(5000, root + 0.5));
        EXPECT_EQ(one.broadcast(own_word(), root).get(), std::to_string(root) + " ");
    }
}

// Holds: communicator: reduce() gives the root all values, combined in the order of the members.
TEST_P(collectives_test, reduce) {
    const communicator one("reduce");
    for (const int root : all()) {
        const auto words = one.reduce(own_word(), std::plus<>(), root).get();
        EXPECT_EQ(words.has_value(), here() == root);
        EXPECT_EQ(words.value_or(""), here() == root ? numbers_to(last_locality()) : "");
    }
}

// Holds: communicator: all_reduce() gives all the values combined in the order of the members.
TEST_P(collectives_test, all_reduce) {
    const communicator one("all_reduce");
    EXPECT_EQ(one.all_reduce(own_word(), std::plus<>()).get(), numbers_to(last_locality()));
    EXPECT_EQ(one.all_reduce(here() + 1, std::plus<>()).get(), count() * (count() + 1) / 2);
    EXPECT_TRUE(one.all_reduce(here() == last_locality(), std::logical_or<>()).get());
    const std::vector<double> own(3000, here() + 1);
    const auto add = [](std::vector<double> a, const std::vector<double>& b) {
        std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>());
        return a;
    };
    const double sum = count() * (count() + 1) / 2.0;
    EXPECT_EQ(one.all_reduce(own, add).get(), std::vector<double>(3000, sum));
}

// Holds: communicator: floating-point results are the same at all members and in each run.
TEST_P(collectives_test, results_have_the_same_bits_everywhere) {
    const communicator one("bits");
    for (int round = 1; round < 20; ++round) {
        const double own = 1.0 / (3 * here() + round);
        const double sum = one.all_reduce(own, std::plus<>()).get();
        EXPECT_EQ(one.all_reduce(own, std::plus<>()).get(), sum);
        for (const double each : one.all_gather(sum).get()) {
            EXPECT_EQ(each, sum);
        }
    }
}

// Holds: communicator: gather() and all_gather() give the values in the order of the members.
TEST_P(collectives_test, gather) {
    const communicator one("gather");
    std::vector<std::string> expected;
    for (const int each : all()) {
        expected.push_back(std::to_string(each) + " ");
    }
    for (const int root : all()) {
        const auto words = one.gather(own_word(), root).get();
        EXPECT_EQ(words, here() == root ? expected : std::vector<std::string>());
    }
    EXPECT_EQ(one.all_gather(own_word()).get(), expected);
    EXPECT_EQ(one.all_gather(here()).get(), all());
    const auto flags = one.all_gather(here() % 2 == 0).get();
    ASSERT_EQ(flags.size(), static_cast<std::size_t>(count()));
    for (const int each : all()) {
        EXPECT_EQ(flags[static_cast<std::size_t>(each)], each % 2 == 0);
    }
}

// Holds: communicator: gather(), scatter() and all_to_all() take types that can only be moved.
TEST_P(collectives_test, move_what_cannot_be_copied) {
    const communicator one("moved");
    auto pointers = one.gather(std::make_unique<int>(here())).get();
    ASSERT_EQ(pointers.size(), here() == 0 ? static_cast<std::size_t>(count()) : 0U);
    for (std::size_t i = 0; i < pointers.size(); ++i) {
        EXPECT_EQ(*pointers[i], static_cast<int>(i));
    }
    EXPECT_EQ(*one.scatter(std::move(pointers)).get(), here());
}

// Holds: communicator: scatter() gives each member the value of its place.
TEST_P(collectives_test, scatter) {
    const communicator one("scatter");
    for (const int root : all()) {
        std::vector<std::string> words;
        if (here() == root) {
            for (const int each : all()) {
                words.push_back(std::to_string(root) + " to " + std::to_string(each));
            }
        }
        EXPECT_EQ(one.scatter(std::move(words), root).get(),
                  std::to_string(root) + " to " + std::to_string(here()));
    }
}

// Holds: communicator: all_to_all() gives each member a value of each.
TEST_P(collectives_test, all_to_all) {
    const communicator one("all_to_all");
    std::vector<std::vector<int>> own;
    std::vector<std::vector<int>> expected;
    for (const int each : all()) {
        own.emplace_back(each == 0 ? 6000 : each, 100 * here() + each);
        expected.emplace_back(here() == 0 ? 6000 : here(), 100 * each + here());
    }
    EXPECT_EQ(one.all_to_all(std::move(own)).get(), expected);
}

// Holds: communicator: scans combine the values before the own one, with or without it.
TEST_P(collectives_test, scans) {
    const communicator one("scans");
    EXPECT_EQ(one.inclusive_scan(own_word(), std::plus<>()).get(), numbers_to(here()));
    EXPECT_EQ(one.exclusive_scan(own_word(), std::string("first "), std::plus<>()).get(),
              "first " + numbers_to(here() - 1));
    EXPECT_EQ(one.exclusive_scan(here() + 1, 0, std::plus<>()).get(), here() * (here() + 1) / 2);
}

std::atomic<int> g_present{0};

// Holds: communicator: barrier() is ready when all members have called it.
TEST_P(collectives_test, barrier) {
    const communicator one("barrier");
    g_present = 0;
    one.barrier().get();
    for (int round = 1; round <= 20; ++round) {
        std::vector<quern::future<void>> told;
        for (const int each : all()) {
            told.push_back(run_at(each, [] { ++g_present; }));
        }
        quern::when_all(std::move(told)).get();
        one.barrier().get();
        EXPECT_EQ(g_present.load(), round * count());
        one.barrier().get();
    }
}

// Holds: communicator: several operations may be under way at once, and no worker waits.
TEST_P(collectives_test, several_at_once) {
    const communicator one("several");
    std::vector<quern::future<int>> sums;
    std::vector<quern::future<std::vector<int>>> lists;
    for (int i = 0; i < scaled(300, 60); ++i) {
        sums.push_back(one.all_reduce(i + here(), std::plus<>()));
        lists.push_back(one.all_gather(i));
    }
    const int places = count() * (count() - 1) / 2;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        EXPECT_EQ(sums[i].get(), static_cast<int>(i) * count() + places);
        EXPECT_EQ(lists[i].get(),
                  std::vector<int>(static_cast<std::size_t>(count()), static_cast<int>(i)));
    }
}

// Holds: communicator: tasks that call in different orders at different localities use keys.
TEST_P(collectives_test, keys_tell_concurrent_tasks_apart) {
    constexpr int k_keys = 12;
    quern::task_group tasks;
    for (int i = 0; i < k_keys; ++i) {
        tasks.run([key = (i * 5 + here() * 7) % k_keys] {
            const communicator one("task " + std::to_string(key));
            for (int round = 0; round < 10; ++round) {
                EXPECT_EQ(one.all_reduce(key * round, std::plus<>()).get(), key * round * count());
            }
        });
    }
    tasks.wait();
}

// Holds: communicator: a key can be used again when its communicator has ended, and meanwhile.
TEST_P(collectives_test, a_key_is_used_again) {
    std::vector<quern::future<int>> results;
    for (int round = 0; round < scaled(100, 20); ++round) {
        const communicator one("again");
        const communicator same_key("again");
        results.push_back(same_key.all_reduce(2 * round, std::plus<>()));
        results.push_back(one.all_reduce(round, std::plus<>()));
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        const int round = static_cast<int>(i / 2);
        EXPECT_EQ(results[i].get(), (i % 2 == 0 ? 2 : 1) * round * count());
    }
}

// Holds: communicator: some localities, whose order is that of results.
TEST_P(collectives_test, some_localities) {
    std::vector<int> members;
    for (int each = last_locality(); each >= 0; --each) {
        if (each % 2 == here() % 2) {
            members.push_back(each);
        }
    }
    const communicator one("every second", members);
    EXPECT_EQ(one.members(), members);
    EXPECT_EQ(one.all_gather(here()).get(), members);
    EXPECT_EQ(one.broadcast(here(), members.back()).get(), members.back());
}

TEST_P(collectives_test, outlives_its_handle_and_is_copied) {
    std::optional<communicator> one("copied");
    const communicator copy(*one);
    auto first = one->all_reduce(1, std::plus<>());
    one.reset();
    auto second = copy.all_reduce(2, std::plus<>());
    EXPECT_EQ(first.get(), count());
    EXPECT_EQ(second.get(), 2 * count());
    EXPECT_EQ(copy.key(), "copied");
}

// Holds: communicator: an exception of op arrives where it is thrown and at those that wait for it.
TEST_P(collectives_test, an_exception_of_op_travels) {
    const communicator one("throws");
    const auto op = [](int a, int b) {
        return a == 0 && b >= 1 ? throw std::range_error("too much") : a + b;
    };
    const auto error = error_of(one.all_reduce(here(), op));
    EXPECT_EQ(error.type, count() == 1 ? "" : "std::range_error");
    EXPECT_EQ(error.message, count() == 1 ? "" : "too much");
    EXPECT_EQ(one.all_reduce(1, std::plus<>()).get(), count());
}

// Holds: communicator: a wrong number of values is a std::invalid_argument from the future.
TEST_P(collectives_test, a_wrong_number_of_values) {
    const communicator one("numbers");
    const std::vector<int> values(static_cast<std::size_t>(count() + 1), 1);
    const std::string words =
        "quern: localities::communicator::scatter of " + std::to_string(count() + 1) +
        " values; accepted: one for each of its " + std::to_string(count()) + " members";
    const auto error = error_of(one.scatter(values));
    EXPECT_EQ(error.type, "std::invalid_argument");
    EXPECT_EQ(error.message, words);
    EXPECT_EQ(error.locality, 0);
    EXPECT_EQ(error_of(one.all_to_all(values)).type, "std::invalid_argument");
    one.barrier().get();
}

// Holds: communicator: members that call different operations are told, and so are those with
// different types.
TEST_P(collectives_test, different_calls) {
    if (count() == 1) {
        GTEST_SKIP() << "needs two localities";
    }
    const communicator one("different");
    const auto kinds =
        error_of(here() == 0 ? one.all_reduce(1, std::plus<>()).then([](auto of) { of.get(); })
                             : one.all_gather(1).then([](auto of) { of.get(); }));
    EXPECT_EQ(kinds.type, "std::logic_error");
    EXPECT_NE(kinds.message.find("'different': its operation number 0 is "), std::string::npos)
        << kinds.message;
    const auto types =
        error_of(here() == 0 ? one.all_reduce(1, std::plus<>()).then([](auto of) { of.get(); })
                             : one.all_reduce(1.5, std::plus<>()).then([](auto of) { of.get(); }));
    EXPECT_NE(types.message.find("operation number 1 is of "), std::string::npos) << types.message;
    EXPECT_EQ(one.all_reduce(1, std::plus<>()).get(), count());
}

std::string words_of_refused(const std::string& key, const std::vector<int>& members) {
    try {
        const communicator one(key, members);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "accepted";
}

TEST_P(collectives_test, refuse_wrong_members) {
    EXPECT_EQ(words_of_refused("", all()),
              "quern: localities::communicator of an empty name; accepted: one of at least one "
              "character");
    EXPECT_EQ(words_of_refused("wrong", {count()}),
              "quern: localities::communicator of locality " + std::to_string(count()) +
                  "; accepted: 0 to " + std::to_string(last_locality()));
    const std::string own = std::to_string(here());
    EXPECT_EQ(words_of_refused("twice", {here(), here()}),
              "quern: localities::communicator 'twice' of localities " + own + ", " + own +
                  ": locality " + own + " is there twice");
    EXPECT_EQ(words_of_refused("none", {}),
              "quern: localities::communicator 'none' of localities : "
              "locality " +
                  own +
                  ", which makes it, is not there; accepted: members "
                  "only");
    const communicator one("root", {here()});
    EXPECT_THROW(one.broadcast(1, count()), std::out_of_range);
}

// Holds: communicator: other members than another locality has given are refused.
TEST_P(collectives_test, refuse_different_members) {
    const communicator wait("order");
    if (count() > 1 && here() == 0) {
        const communicator first("lists", all());
        wait.barrier().get();
        wait.barrier().get();
    } else {
        wait.barrier().get();
        if (count() > 1) {
            EXPECT_EQ(
                words_of_refused("lists", {here()}),
                "quern: localities::communicator 'lists': locality " + std::to_string(here()) +
                    " makes it of localities " + std::to_string(here()) +
                    ", and locality 0 has made it of " +
                    [] {
                        std::string list = "0";
                        for (int each = 1; each < count(); ++each) {
                            list += ", " + std::to_string(each);
                        }
                        return list;
                    }() +
                    "; accepted: the same at all of them");
        }
        wait.barrier().get();
    }
}

TEST(collectives_without_session, are_refused) {
    EXPECT_THROW(communicator("none"), std::logic_error);
    std::optional<communicator> late;
    {
        own_job job(1);
        late.emplace("late");
        EXPECT_EQ(late->all_reduce(1, std::plus<>()).get(), count());
    }
    EXPECT_THROW(late->barrier(), std::logic_error);
}

}  // namespace
