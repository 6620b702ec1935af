// SPDX-License-Identifier: BSL-1.0
// Arithmetic of counters, and the errors for their names.
#include <quern/counters/counter.hpp>

#include "unit/counters/expect_refusal.hpp"
#include "unit/scheduler/on_runtime.hpp"

namespace {

namespace counters = quern::counters;
using quern_test::expect_part;
using quern_test::refusal_of;

class arithmetics_test : public testing::Test {
protected:
    counters::counter_value value(const std::string& name) {
        return counters::create(name, rt).value();
    }
    double of(const std::string& operation) {
        return value("/arithmetics/" + operation + "@/app/a,/app/b,/app/c").value;
    }
    std::string refusal(const std::string& name) {
        return refusal_of([&] { value(name); });
    }

    static counters::installation level(const char* name, double number, const char* unit = "") {
        return counters::install(name, [number] { return number; },
                                 {.kind = counters::counter_kind::level, .unit = unit});
    }

    quern::runtime rt{quern::runtime_options::with_workers(2)};
    counters::installation a = level("/app/a", 9, "ns");
    counters::installation b = level("/app/b", 2, "ns");
    counters::installation c = level("/app/c", 4, "ns");
    counters::installation zero = level("/app/zero", 0, "B");
};

// Holds: counters: /arithmetics: of counters of one moment; wildcards expanded; unavailable where
//     an operand is.
TEST_F(arithmetics_test, does_what_it_says) {
    EXPECT_EQ(of("add"), 15);
    EXPECT_EQ(of("subtract"), 3);
    EXPECT_EQ(of("multiply"), 72);
    EXPECT_EQ(of("divide"), 9.0 / 8);
    EXPECT_EQ(of("mean"), 5);
    EXPECT_EQ(of("median"), 4);
    EXPECT_EQ(of("min"), 2);
    EXPECT_EQ(of("max"), 9);
    EXPECT_EQ(of("count"), 3);
    EXPECT_DOUBLE_EQ(of("variance"), (16 + 9 + 1) / 3.0);
}

TEST_F(arithmetics_test, takes_the_middle_of_two) {
    EXPECT_EQ(value("/arithmetics/median@/app/a,/app/b").value, 5.5);
}

// Holds: counters: /arithmetics: of counters of...
TEST_F(arithmetics_test, expands_wildcards) {
    EXPECT_EQ(value("/arithmetics/count@/threads{worker-thread#*}/count/cumulative").value, 2);
    EXPECT_EQ(value("/arithmetics/add@/app/?").value, 15);
}

TEST_F(arithmetics_test, counts_what_is_available) {
    EXPECT_EQ(value("/arithmetics/count@/app/?,/threads/count/stolen-from-staged").value, 3);
}

TEST_F(arithmetics_test, keeps_a_unit_that_all_have) {
    EXPECT_EQ(value("/arithmetics/add@/app/a,/app/b").unit, "ns");
    EXPECT_EQ(value("/arithmetics/add@/app/a,/app/zero").unit, "");
    EXPECT_EQ(value("/arithmetics/divide@/app/a,/app/b").unit, "");
}

// Holds: counters: /arithmetics: of counters of...
TEST_F(arithmetics_test, has_no_quotient_of_zero) {
    const auto result = value("/arithmetics/divide@/app/a,/app/zero");
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.why, "a division by zero");
}

// Holds: counters: /arithmetics: of counters of...
TEST_F(arithmetics_test, is_unavailable_where_an_operand_is) {
    const auto result = value("/arithmetics/add@/app/a,/threads/count/stolen-from-staged");
    EXPECT_FALSE(result.ok());
    expect_part(result.why, "/threads{locality#0/total}/count/stolen-from-staged: ");
}

TEST_F(arithmetics_test, agrees_with_the_total) {
    counters::counter_set set(rt);
    set.add("/arithmetics/add@/threads{worker-thread#*}/count/pending-accesses");
    set.add("/threads/count/pending-accesses");
    set.reset();  // from the same moment on
    const auto values = set.evaluate().values;
    EXPECT_EQ(values[0].value, values[1].value);
}

// Holds: counters: Derived names that are wrong are errors that say what is accepted.
TEST_F(arithmetics_test, refuses_what_it_does_not_know) {
    expect_part(refusal("/arithmetics/ad@/app/a"), "did you mean 'add'?");
    expect_part(refusal("/arithmetics/add"), "expected '@'");
    expect_part(refusal("/arithmetics/add@/app/d"), "no counter is called '/app/d'");
    expect_part(refusal("/arithmetics/add@app"), "at character 1");
    expect_part(refusal("/arithmetics{total}/add@/app/a"), "no instance");
    expect_part(refusal("/arithmetics/add@/arithmetics/add@/app/a"), "cannot be /arithmetics");
}

}  // namespace
