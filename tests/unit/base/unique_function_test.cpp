// SPDX-License-Identifier: BSL-1.0
// The move-only function: which objects it holds, how it is called, when it is destroyed.
#include <quern/base/detail/unique_function.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace {

using quern::detail::unique_function;

int twice(int n) { return 2 * n; }

TEST(unique_function, is_empty_unless_given_something) {
    EXPECT_FALSE(unique_function<void()>());
    EXPECT_TRUE(unique_function<int(int)>(twice));
}

TEST(unique_function, calls_functions_lambdas_and_function_objects) {
    unique_function<int(int)> pointer(&twice);
    EXPECT_EQ(pointer(4), 8);
    int calls = 0;
    unique_function<int()> lambda([&calls] { return ++calls; });
    lambda();
    EXPECT_EQ(lambda(), 2);
    struct counter {
        int operator()() { return ++value; }
        int value = 0;
    };
    unique_function<int()> object(counter{});
    object();
    EXPECT_EQ(object(), 2);
}

TEST(unique_function, holds_what_cannot_be_copied) {
    unique_function<int()> f([value = std::make_unique<int>(7)] { return *value; });
    unique_function<int()> moved(std::move(f));
    EXPECT_EQ(moved(), 7);
    EXPECT_FALSE(f);
}

TEST(unique_function, copies_an_lvalue_and_moves_an_rvalue) {
    auto shared = std::make_shared<int>(1);
    const auto keeps = [shared] { return *shared; };
    unique_function<int()> copy(keeps);
    EXPECT_EQ(shared.use_count(), 3);
    unique_function<int()> moved([shared = std::move(shared)] { return *shared; });
    EXPECT_EQ(copy() + moved(), 2);
}

TEST(unique_function, passes_arguments_and_results_without_copies) {
    unique_function<std::unique_ptr<int>(std::unique_ptr<int>)> increment(
        [](std::unique_ptr<int> n) {
            ++*n;
            return n;
        });
    EXPECT_EQ(*increment(std::make_unique<int>(1)), 2);
    std::string text = "a";
    unique_function<std::string&(std::string&)> same([](std::string& s) -> std::string& {
        s += "b";
        return s;
    });
    EXPECT_EQ(&same(text), &text);
    EXPECT_EQ(text, "ab");
}

TEST(unique_function, converts_the_result) {
    unique_function<long(int)> wider(twice);
    EXPECT_EQ(wider(3), 6L);
}

TEST(unique_function, lets_exceptions_through) {
    unique_function<void()> f([] { throw std::runtime_error("out"); });
    EXPECT_THROW(f(), std::runtime_error);
}

TEST(unique_function, destroys_what_it_holds_once) {
    auto witness = std::make_shared<int>(0);
    {
        unique_function<void()> f([witness] {});
        unique_function<void()> g(std::move(f));
        EXPECT_EQ(witness.use_count(), 2);
        g = unique_function<void()>();
        EXPECT_EQ(witness.use_count(), 1);
    }
    EXPECT_EQ(witness.use_count(), 1);
}

}  // namespace
