// SPDX-License-Identifier: BSL-1.0
// split_future: tuples, pairs, arrays, vectors; exceptions and wrong sizes.
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/split_future.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using quern::async;
using quern::future;
using quern::promise;
using quern::split_future;

class split_future_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(split_future_test);

// Holds: split_future: A future for every element of a tuple, as a tuple.
// Holds: split_future: All parts become ready together.
// Holds: split_future: Elements are moved; references passed on.
TEST_P(split_future_test, gives_the_elements_of_a_tuple) {
    promise<std::tuple<int, std::string, std::unique_ptr<int>>> p;
    auto [number, text, pointer] = split_future(p.get_future());
    static_assert(std::is_same_v<decltype(text), future<std::string>>);
    EXPECT_FALSE(number.is_ready() || text.is_ready() || pointer.is_ready());
    p.set_value(1, "two", std::make_unique<int>(3));
    EXPECT_TRUE(number.is_ready() && text.is_ready() && pointer.is_ready());
    EXPECT_EQ(number.get(), 1);
    EXPECT_EQ(text.get(), "two");
    EXPECT_EQ(*pointer.get(), 3);
    EXPECT_EQ(split_future(quern::make_ready_future(std::tuple<>())), std::tuple<>());
}

// Holds: split_future: A future for every element of a pair or an array.
TEST_P(split_future_test, gives_those_of_pairs_and_arrays) {
    inside([] {
        auto [quotient, rest] = split_future(async([] { return std::pair(17 / 5, 17L % 5); }));
        EXPECT_EQ(quotient.get() + rest.get(), 5);
        std::array<future<int>, 3> parts = split_future(async([] {
            return std::array<int, 3>{1, 2, 3};
        }));
        EXPECT_EQ(parts[0].get() + 10 * parts[1].get() + 100 * parts[2].get(), 321);
    });
}

// Holds: split_future: Elements are moved; references...
TEST_P(split_future_test, passes_references_on) {
    int x = 0;
    auto [same] = split_future(async(rt, [&x] { return std::tuple<int&>(x); }));
    EXPECT_EQ(&same.get(), &x);
}

// Holds: split_future: A future for every element of a vector of known size.
TEST_P(split_future_test, gives_those_of_a_vector_of_known_size) {
    inside([] {
        auto parts = split_future(async([] {
                                      std::vector<std::unique_ptr<int>> all;
                                      for (int i = 0; i < 10; ++i) {
                                          all.push_back(std::make_unique<int>(i));
                                      }
                                      return all;
                                  }),
                                  10);
        ASSERT_EQ(parts.size(), 10U);
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(*parts[static_cast<std::size_t>(i)].get(), i);
        }
        EXPECT_TRUE(split_future(async([] { return std::vector<int>(); }), 0).empty());
        auto bits = split_future(async([] { return std::vector<bool>{false, true}; }), 2);
        EXPECT_TRUE(!bits[0].get() && bits[1].get());
    });
}

// Holds: split_future: When the vector has another size, each holds std::length_error.
TEST_P(split_future_test, a_vector_of_another_size_is_an_error_of_each) {
    inside([] {
        auto parts = split_future(async([] { return std::vector<int>(3); }), 2);
        EXPECT_THROW(parts[0].get(), std::length_error);
        EXPECT_THROW(parts[1].get(), std::length_error);
    });
}

// Holds: split_future: When the whole is an exception, each holds it.
// Holds: split_future: Without a state it throws std::future_error(no_state).
TEST_P(split_future_test, each_holds_the_exception_of_the_whole) {
    inside([] {
        auto [a, b] = split_future(
            async([]() -> std::tuple<int, int> { throw std::runtime_error("whole"); }));
        EXPECT_THROW(a.get(), std::runtime_error);
        EXPECT_THROW(b.get(), std::runtime_error);
    });
    EXPECT_THROW((void)split_future(future<std::tuple<int>>()), std::future_error);
}

// Holds: split_future: The whole goes when all parts have been taken or dropped.
TEST_P(split_future_test, the_whole_goes_when_all_parts_have_been_taken) {
    auto witness = std::make_shared<int>(0);
    {
        auto [a, b] =
            split_future(quern::make_ready_future(std::tuple(witness, std::string("rest"))));
        EXPECT_EQ(witness.use_count(), 2);
        (void)a.get();
    }
    EXPECT_EQ(witness.use_count(), 1);
}

// Holds: split_future: The future given is invalid afterwards.
TEST_P(split_future_test, leaves_the_future_given_invalid) {
    auto whole = quern::make_ready_future(std::pair(1, 2));
    auto [a, b] = split_future(std::move(whole));
    EXPECT_FALSE(whole.valid());  // NOLINT(bugprone-use-after-move): the test's subject
    auto row = quern::make_ready_future(std::vector<int>{3});
    auto parts = split_future(std::move(row), 1);
    EXPECT_FALSE(row.valid());  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(a.get() + b.get() + parts[0].get(), 6);
}

}  // namespace
