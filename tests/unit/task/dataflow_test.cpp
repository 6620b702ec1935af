// SPDX-License-Identifier: BSL-1.0
// dataflow and unwrapping: arguments of every kind, when the task starts, errors.
#include <quern/task/async.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/promise.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <array>
#include <functional>
#include <memory>
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
using quern::launch;
using quern::make_ready_future;
using quern::promise;
using quern::shared_future;
using quern::unwrapping;
using quern_test::scaled;

class dataflow_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(dataflow_test);

// Holds: dataflow: f gets the futures themselves, each ready.
TEST_P(dataflow_test, hands_over_the_futures_each_ready) {
    inside([] {
        auto sum = dataflow(
            [](future<int> a, future<int> b) {
                EXPECT_TRUE(a.is_ready() && b.is_ready());
                return a.get() + b.get();
            },
            async([] { return 1; }), async([] { return 2; }));
        EXPECT_EQ(sum.get(), 3);
    });
}

// Holds: dataflow: Futures in std::ref of any of these count, and f gets the caller's own.
TEST_P(dataflow_test, waits_for_futures_that_are_passed_by_reference) {
    inside([] {
        promise<int> late;
        std::vector<future<int>> all;
        all.push_back(late.get_future());
        future<int> one = async([] { return 2; });
        auto sum = dataflow(
            [](std::vector<future<int>>& many, future<int>& single) {
                EXPECT_TRUE(many[0].is_ready() && single.is_ready());
                return many[0].get() + single.get();
            },
            std::ref(all), std::ref(one));
        EXPECT_FALSE(sum.is_ready());
        late.set_value(1);
        EXPECT_EQ(sum.get(), 3);
    });
}

// Holds: unwrapping: std::ref of what holds futures counts as what it refers to.
TEST_P(dataflow_test, unwraps_what_is_passed_by_reference) {
    inside([] {
        promise<int> late;
        std::vector<shared_future<int>> all{late.get_future().share()};
        auto sum = dataflow(unwrapping([](std::vector<int> values) { return values.at(0); }),
                            std::cref(all));
        EXPECT_FALSE(sum.is_ready());
        late.set_value(1);
        EXPECT_EQ(sum.get(), 1);
        int plain = 1;
        dataflow([](int& n) { n = 2; }, std::ref(plain)).get();
        EXPECT_EQ(plain, 2);
    });
}

// Holds: dataflow: With unwrapping(f), f gets the values of the futures.
// Holds: unwrapping: Each future is replaced by its value.
TEST_P(dataflow_test, unwrapping_hands_over_the_values) {
    inside([] {
        auto sum = dataflow(unwrapping([](int a, int b) { return a + b; }), async([] { return 1; }),
                            async([] { return 2; }));
        EXPECT_EQ(sum.get(), 3);
    });
}

// Holds: dataflow: Other arguments are passed on.
// Holds: unwrapping: Other arguments are passed...
TEST_P(dataflow_test, passes_plain_values_on) {
    inside([] {
        auto mixed = dataflow(unwrapping([](int a, const std::string& text, std::vector<int> v,
                                            std::unique_ptr<int> p) {
                                  return text + std::to_string(a) + std::to_string(v.size()) +
                                         std::to_string(*p);
                              }),
                              async([] { return 1; }), std::string("t"), std::vector<int>{1, 2},
                              std::make_unique<int>(3));
        EXPECT_EQ(mixed.get(), "t123");
        EXPECT_EQ(dataflow([](int n) { return n; }, 5).get(), 5);
        EXPECT_EQ(dataflow([] { return 6; }).get(), 6);
    });
}

// Holds: dataflow: Shared futures are copied.
// Holds: unwrapping: A shared_future's value comes by reference to const, in a sequence as a copy;
//     the shared_future stays valid.
TEST_P(dataflow_test, copies_shared_futures_and_gives_their_values_by_reference) {
    inside([] {
        shared_future<std::string> text = async([] { return std::string("shared"); }).share();
        const std::string* first = nullptr;
        const std::string* second = nullptr;
        auto a = dataflow(unwrapping([&](const std::string& s) { first = &s; }), text);
        auto b = dataflow(unwrapping([&](const std::string& s) { second = &s; }), text);
        a.get();
        b.get();
        EXPECT_EQ(first, &text.get());
        EXPECT_EQ(second, first);
    });
}

// Holds: unwrapping: An rvalue reference that the function returns becomes an object: it may refer
// to such a value.
TEST_P(dataflow_test, returns_a_value_that_the_function_hands_on) {
    inside([] {
        const std::string text(100, 'x');
        future<std::string> same =
            dataflow(unwrapping(std::identity()), async([text] { return text; }));
        EXPECT_EQ(same.get(), text);
        auto first = unwrapping([](auto&& a, int) -> auto&& { return std::move(a); });
        static_assert(std::is_same_v<decltype(first(make_ready_future(text), 1)), std::string>);
        EXPECT_EQ(first(make_ready_future(text), 1), text);
    });
}

// Holds: unwrapping: Futures of void are...
TEST_P(dataflow_test, replaces_a_future_of_void_by_nothing) {
    inside([] {
        int ran = 0;
        auto f = dataflow(unwrapping([](int n) { return n; }), async([&ran] { ran = 1; }),
                          async([] { return 2; }), async([] {}).share());
        EXPECT_EQ(f.get(), 2);
        EXPECT_EQ(ran, 1);
    });
}

// Holds: dataflow: Futures in sequences count: vectors and arrays.
TEST_P(dataflow_test, takes_vectors_and_arrays_of_futures) {
    inside([] {
        std::vector<future<int>> numbers;
        std::vector<future<void>> done;
        std::vector<shared_future<int>> shared;
        for (int i = 0; i < 50; ++i) {
            numbers.push_back(async([i] { return i; }));
            done.push_back(async([] {}));
            shared.push_back(async([] { return 1; }).share());
        }
        auto sum = dataflow(unwrapping([](std::vector<int> values, std::vector<int> ones) {
                                int total = 0;
                                for (std::size_t i = 0; i < values.size(); ++i) {
                                    total += values[i] + ones[i];
                                }
                                return total;
                            }),
                            std::move(numbers), std::move(done), shared);
        EXPECT_EQ(sum.get(), 49 * 50 / 2 + 50);
        std::array<future<int>, 2> two{async([] { return 1; }), async([] { return 2; })};
        auto of_array = dataflow(
            [](std::array<future<int>, 2> ready) { return ready[0].get() + ready[1].get(); },
            std::move(two));
        EXPECT_EQ(of_array.get(), 3);
        EXPECT_EQ(dataflow([](std::vector<future<int>> v) { return v.size(); },
                           std::vector<future<int>>())
                      .get(),
                  0U);
    });
}

// Holds: dataflow: Futures in tuples count.
TEST_P(dataflow_test, waits_for_futures_in_tuples) {
    promise<int> p;
    auto f = dataflow(
        [](std::tuple<future<int>, int> t) { return std::get<0>(t).get() + std::get<1>(t); },
        std::tuple<future<int>, int>(p.get_future(), 2));
    EXPECT_FALSE(f.is_ready());
    p.set_value(1);
    EXPECT_EQ(f.get(), 3);
}

// Holds: dataflow: f starts as a task as soon as every future among the arguments is ready, and not
//     before.
TEST_P(dataflow_test, does_not_begin_before_the_last_argument_is_there) {
    promise<int> a, b;
    std::atomic<bool> begun{false};
    auto f = dataflow({.pool = &rt.default_pool().get()}, unwrapping([&](int x, int y) {
                          begun.store(true);
                          return x + y;
                      }),
                      a.get_future(), b.get_future());
    a.set_value(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_FALSE(begun.load());
    b.set_value(2);
    EXPECT_EQ(f.get(), 3);
}

// Holds: dataflow: With unwrapping exceptions of the arguments come out of the future, and f is not
//     called.
// Holds: unwrapping: What a future holds...
TEST_P(dataflow_test, with_unwrapping_throws_what_an_argument_threw) {
    inside([] {
        bool called = false;
        auto f = dataflow(unwrapping([&](int, int) { called = true; }),
                          async([]() -> int { throw std::runtime_error("task"); }),
                          async([] { return 1; }));
        EXPECT_THROW(f.get(), std::runtime_error);
        auto g = dataflow(unwrapping([&](std::vector<int>) { called = true; }), [] {
            std::vector<future<int>> v;
            v.push_back(async([]() -> int { throw std::logic_error("task"); }));
            return v;
        }());
        EXPECT_THROW(g.get(), std::logic_error);
        EXPECT_FALSE(called);
    });
}

// Holds: dataflow: What f throws comes out of the future.
// Holds: dataflow: Without unwrapping exceptions of the arguments are f's to see.
TEST_P(dataflow_test, without_unwrapping_leaves_exceptions_to_the_function) {
    inside([] {
        auto f = dataflow([](future<int> a) { return a.has_exception(); },
                          async([]() -> int { throw 1; }));
        EXPECT_TRUE(f.get());
        auto own = dataflow([](future<int>) -> int { throw std::logic_error("flow"); },
                            async([] { return 1; }));
        EXPECT_THROW(own.get(), std::logic_error);
    });
}

// Holds: dataflow: Launch policies and attributes may come first.
TEST_P(dataflow_test, takes_launch_policies_and_attributes) {
    inside([] {
        const auto id = unwrapping([](int n) { return n; });
        EXPECT_EQ(dataflow(launch::sync, id, async([] { return 1; })).get(), 1);
        EXPECT_EQ(dataflow(launch::async, id, async([] { return 1; })).get(), 1);
        EXPECT_EQ(dataflow({.urgency = quern::priority::high}, id, async([] { return 1; })).get(),
                  1);
        EXPECT_TRUE(dataflow(launch::sync, id, make_ready_future(1)).is_ready());
    });
}

// Holds: dataflow: Futures without state are refused with std::future_error(no_state).
TEST_P(dataflow_test, refuses_invalid_futures) {
    EXPECT_THROW((void)dataflow([](future<int>) {}, future<int>()), std::future_error);
    EXPECT_THROW((void)dataflow([](std::vector<future<int>>) {}, std::vector<future<int>>(2)),
                 std::future_error);
}

// Holds: dataflow: Arguments and function are destroyed once it has run.
TEST_P(dataflow_test, frees_arguments_and_function_once_it_has_run) {
    auto witness = std::make_shared<int>(0);
    auto f = dataflow([witness](future<std::shared_ptr<int>> g) { return *g.get(); },
                      make_ready_future(witness));
    EXPECT_EQ(f.get(), 0);
    EXPECT_TRUE(quern_test::eventually([&] { return witness.use_count() == 1; }));
}

// Holds: dataflow: It returns the future of the result; of a future it may be unwrapped.
TEST_P(dataflow_test, unwraps_a_result_that_is_a_future) {
    inside([] {
        future<int> f = dataflow(unwrapping([](int n) { return async([n] { return n + 1; }); }),
                                 make_ready_future(1));
        EXPECT_EQ(f.get(), 2);
    });
}

/// A wavefront over a square: each cell needs its upper and its left neighbour.
TEST_P(dataflow_test, computes_a_wavefront) {
    const std::size_t n = scaled(60U, 15U);
    inside([n] {
        using cell = shared_future<long>;
        std::vector<cell> row(n, make_ready_future(1L).share());
        for (std::size_t i = 1; i < n; ++i) {
            cell left = make_ready_future(1L).share();
            row[0] = left;
            for (std::size_t j = 1; j < n; ++j) {
                row[j] =
                    dataflow(
                        unwrapping([](long up, long before) { return (up + before) % 1'000'007; }),
                        row[j], left)
                        .share();
                left = row[j];
            }
        }
        std::vector<long> expected(n, 1);
        for (std::size_t i = 1; i < n; ++i) {
            for (std::size_t j = 1; j < n; ++j) {
                expected[j] = (expected[j] + expected[j - 1]) % 1'000'007;
            }
        }
        for (std::size_t j = 0; j < n; ++j) {
            ASSERT_EQ(row[j].get(), expected[j]);
        }
    });
}

// Holds: dataflow: What the producers did happens before f.
TEST_P(dataflow_test, shows_the_function_what_all_have_done) {
    inside([] {
        for (int round = 0; round < scaled(200, 50); ++round) {
            std::array<int, 8> data{};  // plain: ordered only by the futures
            std::vector<future<void>> parts;
            for (int& d : data) {
                parts.push_back(async([&d] { d = 1; }));
            }
            auto sum = dataflow(
                [&data](std::vector<future<void>>) {
                    int all = 0;
                    for (const int d : data) {
                        all += d;
                    }
                    return all;
                },
                std::move(parts));
            ASSERT_EQ(sum.get(), 8);
        }
    });
}

// Holds: dataflow: The task goes to...
TEST_P(dataflow_test, goes_to_the_pool_of_the_caller) {
    const auto* mine = &rt.default_pool().get();
    promise<int> late;  // kept outside
    auto where = inside([&late] {
        return dataflow([](future<int>) { return &quern::current_pool().get(); },
                        late.get_future());
    });
    late.set_value(1);
    EXPECT_EQ(where.get(), mine);
}

// Holds: dataflow: The task goes to the calling worker's pool, outside to the default runtime.
TEST(dataflow_from_outside, uses_the_default_runtime) {
    auto f = dataflow(unwrapping([](int a) { return a + quern::current_worker_rank() * 0; }),
                      make_ready_future(2));
    EXPECT_EQ(f.get(), 2);
}

}  // namespace
