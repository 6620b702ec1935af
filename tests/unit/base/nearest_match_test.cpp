// SPDX-License-Identifier: BSL-1.0
// The nearest match to a misspelt word: distances, the limit of similarity, the error text.
#include <quern/base/detail/nearest_match.hpp>

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>

namespace {

using quern::detail::accepted_values;
using quern::detail::edit_distance;
using quern::detail::nearest_match;

constexpr std::array<std::string_view, 3> k_words{"compact", "scatter", "balanced"};

TEST(edit_distance, counts_each_kind_of_edit_once) {
    EXPECT_EQ(edit_distance("scatter", "scatter"), 0U);
    EXPECT_EQ(edit_distance("scater", "scatter"), 1U);    // insert
    EXPECT_EQ(edit_distance("scattter", "scatter"), 1U);  // delete
    EXPECT_EQ(edit_distance("scatner", "scatter"), 1U);   // replace
    EXPECT_EQ(edit_distance("sactter", "scatter"), 1U);   // swap of neighbours
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("abc", ""), 3U);
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(edit_distance, ignores_case) { EXPECT_EQ(edit_distance("Compact", "cOMPACT"), 0U); }

TEST(edit_distance, is_symmetric) {
    EXPECT_EQ(edit_distance("balance", "scatter"), edit_distance("scatter", "balance"));
}

TEST(nearest_match, finds_a_misspelling) {
    EXPECT_EQ(nearest_match("compct", k_words), "compact");
    EXPECT_EQ(nearest_match("SCATTER", k_words), "scatter");
    EXPECT_EQ(nearest_match("balance", k_words), "balanced");
}

TEST(nearest_match, is_empty_when_nothing_is_near) {
    EXPECT_EQ(nearest_match("elephant", k_words), "");
    EXPECT_EQ(nearest_match("", k_words), "");
    EXPECT_EQ(nearest_match(std::string(65, 'c'), k_words), "");
    EXPECT_EQ(nearest_match("compact", {}), "");
}

TEST(nearest_match, allows_edits_up_to_a_third_of_the_longer_word) {
    constexpr std::array<std::string_view, 1> nine{"abcdefghi"};
    EXPECT_EQ(nearest_match("xyzdefghi", nine), "abcdefghi");
    EXPECT_EQ(nearest_match("wxyzefghi", nine), "");
    constexpr std::array<std::string_view, 1> one{"a"};
    EXPECT_EQ(nearest_match("b", one), "a");  // one edit is always allowed
}

TEST(nearest_match, takes_the_beginning_of_a_word_for_near) {
    constexpr std::array<std::string_view, 4> names{"spin-us", "trace-events", "trace-counters",
                                                    "threads"};
    EXPECT_EQ(nearest_match("SPIN", names), "spin-us");
    EXPECT_EQ(nearest_match("trace", names), "trace-events");  // the shorter of the two
    EXPECT_EQ(nearest_match("threads-per-core", names), "threads");
    EXPECT_EQ(nearest_match("tr", names), "") << "fits too many words";
    constexpr std::array<std::string_view, 3> near{"spin-us", "spun", "spans"};
    EXPECT_EQ(nearest_match("spin", near), "spun") << "one edit is nearer";
    EXPECT_EQ(nearest_match("spin", std::span(near).last(1)), "") << "two of five letters";
    constexpr std::array<std::string_view, 2> farther{"counted", "counters-of-tasks"};
    EXPECT_EQ(nearest_match("counters", farther), "counters-of-tasks") << "two edits are farther";
}

TEST(nearest_match, prefers_the_first_of_equals) {
    constexpr std::array<std::string_view, 2> equal{"work", "word"};
    EXPECT_EQ(nearest_match("worm", equal), "work");
}

TEST(accepted_values, lists_all_and_asks_when_something_is_near) {
    EXPECT_EQ(accepted_values("compat", k_words),
              "accepted: compact, scatter, balanced; did you mean 'compact'?");
    EXPECT_EQ(accepted_values("elephant", k_words), "accepted: compact, scatter, balanced");
}

}  // namespace
