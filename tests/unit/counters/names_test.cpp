// SPDX-License-Identifier: BSL-1.0
// The grammar of names: their parts, the position of an error, the names that a pattern matches.
#include <quern/counters/name.hpp>

#include "unit/counters/expect_refusal.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace {

using quern::counters::counter_name;
using quern::counters::matches;
using quern::counters::parse_instance;
using quern::counters::parse_name;
using quern::counters::split_names;
using quern_test::refusal_of;

struct parted {
    const char* text;
    const char* object;
    const char* instance;
    const char* name;
    const char* parameters;
    friend std::ostream& operator<<(std::ostream& out, const parted& p) { return out << p.text; }
};

class name_parts_test : public testing::TestWithParam<parted> {};

// Holds: counters: parse_name(): the parts of a name; std::invalid_argument with the position where
//     it is malformed.
TEST_P(name_parts_test, are_found) {
    const counter_name found = parse_name(GetParam().text);
    EXPECT_EQ(found.object, GetParam().object);
    EXPECT_EQ(found.instance, GetParam().instance);
    EXPECT_EQ(found.name, GetParam().name);
    EXPECT_EQ(found.parameters, GetParam().parameters);
}

INSTANTIATE_TEST_SUITE_P(
    of, name_parts_test,
    testing::Values(
        parted{"/threads/idle-rate", "threads", "", "idle-rate", ""},
        parted{"/threads{locality#0/total}/time/average", "threads", "locality#0/total",
               "time/average", ""},
        parted{"/threads{locality#*/worker-thread#*}/count/*", "threads",
               "locality#*/worker-thread#*", "count/*", ""},
        parted{"/threads{locality#0/pool#io/worker-thread#12}/a_b-1", "threads",
               "locality#0/pool#io/worker-thread#12", "a_b-1", ""},
        parted{"/threads{pool#default/total}/idle-rate", "threads", "pool#default/total",
               "idle-rate", ""},
        parted{"/threads{worker-thread#?}/idle-rate", "threads", "worker-thread#?", "idle-rate",
               ""},
        parted{"/threads{*}/*", "threads", "*", "*", ""},
        parted{"/arithmetics/add@/a/b,/c/d@5,6", "arithmetics", "", "add", "/a/b,/c/d@5,6"},
        parted{"/statistics{/threads{locality#0/total}/idle-rate}/rolling_max@100,5", "statistics",
               "/threads{locality#0/total}/idle-rate", "rolling_max", "100,5"},
        parted{"*", "*", "", "", ""}, parted{"/thr*", "thr*", "", "", ""}));

struct faulty {
    const char* text;
    int position;  ///< the first character has 1
    const char* expected;
    friend std::ostream& operator<<(std::ostream& out, const faulty& f) { return out << f.text; }
};

class malformed_name_test : public testing::TestWithParam<faulty> {};

// Holds: counters: parse_name(): the parts of...
TEST_P(malformed_name_test, is_refused_with_its_position) {
    const std::string why = refusal_of([] { parse_name(GetParam().text); });
    quern_test::expect_part(why, "counter name '" + std::string(GetParam().text) + "'");
    quern_test::expect_part(why,
                            "at character " + std::to_string(GetParam().position) + ": expected");
    quern_test::expect_part(why, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    of, malformed_name_test,
    testing::Values(
        faulty{"", 1, "'/'"}, faulty{"threads/idle-rate", 1, "'/'"}, faulty{"/", 2, "an object"},
        faulty{"//x", 2, "an object"}, faulty{"/1threads/x", 2, "begins with a letter"},
        faulty{"/threads", 9, "'/' and a name"}, faulty{"/threads{total}", 16, "'/' and a name"},
        faulty{"/threads{total/x", 17, "'}'"}, faulty{"/threads{}/x", 10, "instance"},
        faulty{"/threads{locality#1/total}/x", 19, "instance"},
        faulty{"/threads{locality#0/totl}/x", 21, "instance"},
        faulty{"/threads{locality#0}/x", 19, "instance"},
        faulty{"/threads{worker-thread#}/x", 24, "instance"},
        faulty{"/threads{pool#/total}/x", 15, "instance"}, faulty{"/threads/", 10, "a name"},
        faulty{"/threads/a//b", 12, "a name"}, faulty{"/threads/a b", 11, "'/', '@' or the end"},
        faulty{"/threads/a@", 12, "parameters"}));

TEST(instance, has_pool_and_worker) {
    std::size_t fault = 0;
    const auto found = parse_instance("locality#0/pool#io/worker-thread#3", fault);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->pool, "io");
    EXPECT_EQ(found->worker, "3");
    ASSERT_TRUE(parse_instance("total", fault));
    EXPECT_EQ(parse_instance("total", fault)->worker, "");
}

// Holds: counters: In patterns * is any text and ? any one character.
TEST(pattern, stands_for_texts) {
    EXPECT_TRUE(matches("", ""));
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("*", "/threads/time/average"));
    EXPECT_TRUE(matches("/threads/*", "/threads/time/average"));
    EXPECT_TRUE(matches("/*/average", "/threads/time/average"));
    EXPECT_TRUE(matches("*a*a*", "banana"));
    EXPECT_TRUE(matches("worker-thread#?", "worker-thread#7"));
    EXPECT_FALSE(matches("worker-thread#?", "worker-thread#17"));
    EXPECT_FALSE(matches("/threads/*x", "/threads/time/average"));
    EXPECT_FALSE(matches("", "a"));
    EXPECT_FALSE(matches("?", ""));
}

/// What a simple matcher says about every short text.
bool matches_plainly(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) {
        return text.empty();
    }
    if (pattern.front() == '*') {
        return matches_plainly(pattern.substr(1), text) ||
               (!text.empty() && matches_plainly(pattern, text.substr(1)));
    }
    return !text.empty() && (pattern.front() == '?' || pattern.front() == text.front()) &&
           matches_plainly(pattern.substr(1), text.substr(1));
}

/// Every text up to that length over an alphabet.
std::vector<std::string> all_texts(const std::string& alphabet, std::size_t longest) {
    std::vector<std::string> all{""};
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].size() < longest) {
            for (const char c : alphabet) {
                all.push_back(all[i] + c);
            }
        }
    }
    return all;
}

// Holds: counters: In patterns * is...
TEST(pattern, agrees_with_a_plain_definition) {
    for (const std::string& pattern : all_texts("ab*?", 4)) {
        for (const std::string& text : all_texts("ab", 5)) {
            ASSERT_EQ(matches(pattern, text), matches_plainly(pattern, text))
                << pattern << " and " << text;
        }
    }
}

TEST(list_of_names, is_split_where_a_name_begins) {
    const std::vector<std::string> names =
        split_names("/a/b,/statistics{/c/d,/x}/average@100,5,/e/f");
    EXPECT_EQ(names,
              (std::vector<std::string>{"/a/b", "/statistics{/c/d,/x}/average@100,5", "/e/f"}));
}

}  // namespace
