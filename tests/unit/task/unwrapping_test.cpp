// SPDX-License-Identifier: BSL-1.0
// unwrapping: futures in sequences and tuples, nested. Plain arguments are in dataflow_test.cpp.
#include <quern/task/async.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/promise.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <list>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using quern::async;
using quern::dataflow;
using quern::future;
using quern::make_ready_future;
using quern::promise;
using quern::shared_future;
using quern::unwrapping;

class unwrapping_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(unwrapping_test);

template <class... Futures>
auto vector_of(Futures&&... futures) {
    std::vector<std::common_type_t<std::decay_t<Futures>...>> all;
    (all.push_back(std::forward<Futures>(futures)), ...);
    return all;
}

// Holds: unwrapping: A sequence that holds futures is replaced by a vector of values, a tuple by a
//     tuple.
TEST_P(unwrapping_test, vectors_and_tuples_become_their_values) {
    inside([] {
        auto f = dataflow(
            unwrapping([](std::vector<int> v, std::tuple<int, std::string> t, int one) {
                return std::to_string(v.at(0) + v.at(1) + std::get<0>(t) + one) + std::get<1>(t);
            }),
            vector_of(async([] { return 1; }), async([] { return 2; })),
            std::tuple(async([] { return 3; }), async([] { return std::string("x"); })), 10);
        EXPECT_EQ(f.get(), "16x");
    });
}

// Holds: unwrapping: Sequences and tuples of futures may be nested as you like.
TEST_P(unwrapping_test, nests) {
    inside([] {
        auto rows = vector_of(vector_of(async([] { return 1; })),
                              vector_of(async([] { return 2; }), async([] { return 3; })));
        auto mixed =
            std::tuple(vector_of(async([] { return 4; })), std::pair(7, async([] { return 5; })));
        auto f = dataflow(unwrapping([](std::vector<std::vector<int>> v,
                                        std::tuple<std::vector<int>, std::tuple<int, int>> t) {
                              return v.at(0).at(0) + v.at(1).at(1) + std::get<0>(t).at(0) +
                                     std::get<0>(std::get<1>(t)) * std::get<1>(std::get<1>(t));
                          }),
                          std::move(rows), std::move(mixed));
        EXPECT_EQ(f.get(), 1 + 3 + 4 + 35);
    });
}

// Holds: dataflow: Nested sequences and tuples of futures count too.
TEST_P(unwrapping_test, waits_for_what_is_nested) {
    promise<int> p;
    std::list<std::tuple<future<int>>> list;
    list.emplace_back(p.get_future());
    auto f = inside([&list] {
        return dataflow(
            unwrapping([](std::vector<std::tuple<int>> v) { return std::get<0>(v.front()); }),
            std::move(list));
    });
    EXPECT_FALSE(f.is_ready());
    p.set_value(4);
    EXPECT_EQ(f.get(), 4);
}

TEST_P(unwrapping_test, futures_of_vectors_and_tuples_give_them) {
    inside([] {
        auto f = dataflow(
            unwrapping([](const std::vector<int>& v, const std::tuple<int, std::string>& t) {
                return v.at(1) + std::get<0>(t);
            }),
            async([] {
                return std::vector<int>{1, 2};
            }),
            async([] { return std::tuple(3, std::string("x")); }));
        EXPECT_EQ(f.get(), 5);
        auto outer = async([] {
                         return std::tuple(std::vector<int>{6}, 1);
                     }).then(unwrapping([](std::tuple<std::vector<int>, int> t) {
            return std::get<0>(t).at(0) + std::get<1>(t);
        }));
        EXPECT_EQ(outer.get(), 7);
    });
}

// Holds: unwrapping: Futures of void are left out, and so is what holds nothing else.
TEST_P(unwrapping_test, leaves_out_what_is_void) {
    inside([] {
        auto f = dataflow(unwrapping([](std::tuple<int> t) { return std::get<0>(t); }),
                          std::tuple(async([] {}), async([] { return 1; })),
                          std::tuple(async([] {})), vector_of(vector_of(async([] {}))));
        EXPECT_EQ(f.get(), 1);
    });
}

// Holds: unwrapping: Other arguments are passed on.
TEST_P(unwrapping_test, passes_on_what_holds_no_future) {
    inside([] {
        auto f = dataflow(unwrapping([](std::string s, std::vector<int> v, std::tuple<int, int> t) {
                              return s + std::to_string(v.at(0) + std::get<1>(t));
                          }),
                          std::string("s"), std::vector<int>{1}, std::tuple(2, 3));
        EXPECT_EQ(f.get(), "s4");
    });
}

// Holds: unwrapping: A shared_future's value comes...
TEST_P(unwrapping_test, shared_futures_stay_valid) {
    inside([] {
        const shared_future<std::string> s = async([] { return std::string("a"); });
        auto f =
            dataflow(unwrapping([](std::tuple<const std::string&> t, std::vector<std::string> v) {
                         return std::get<0>(t) + v.at(0) + v.at(1);
                     }),
                     std::tuple(s), std::vector<shared_future<std::string>>{s, s});
        EXPECT_EQ(f.get(), "aaa");
        EXPECT_EQ(s.get(), "a");
    });
}

// Holds: unwrapping: What a future holds as an exception is thrown before the function is called.
TEST_P(unwrapping_test, throws_what_a_nested_future_holds) {
    inside([] {
        bool called = false;
        auto f = dataflow(
            unwrapping([&called](std::tuple<std::vector<int>>) { called = true; }),
            std::tuple(vector_of(async([]() -> int { throw std::runtime_error("nested"); }))));
        EXPECT_THROW(f.get(), std::runtime_error);
        EXPECT_FALSE(called);
    });
}

// Holds: unwrapping: A future inside the value of a future stays one.
TEST_P(unwrapping_test, leaves_a_future_inside_a_future_as_it_is) {
    inside([] {
        auto f = dataflow(unwrapping([](future<int> inner) { return inner.get() + 1; }),
                          async([] { return async([] { return 1; }); }));
        EXPECT_EQ(f.get(), 2);
    });
}

}  // namespace
