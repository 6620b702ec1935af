// SPDX-License-Identifier: BSL-1.0
// Names of code addresses: with debug information file and line, also of inlined functions; for an
// address in one of Quern's functions, the program's own caller.
#include <quern/base/detail/config.hpp>
#include <quern/base/detail/symbols.hpp>

#include "spelling.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace quern::detail {

/// Inlined into its caller, as the entry points of the runtime are.
QUERN_ALWAYS_INLINE const void* stand_in_for_async() { return code_address(); }

template <class F>
void stand_in_for_run(F&& f) {
    f();
}

}  // namespace quern::detail

namespace {

using quern::detail::call_stack;
using quern::detail::fixed_text;
using quern::detail::spelling_of_names;

/// The output of write(file descriptor).
template <class Write>
std::string written_by(Write&& write) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    write(ends[1]);
    ::close(ends[1]);
    std::string text;
    std::array<char, 4096> piece;
    for (ssize_t n = 0; (n = ::read(ends[0], piece.data(), piece.size())) > 0;) {
        text.append(piece.data(), static_cast<std::size_t>(n));
    }
    ::close(ends[0]);
    return text;
}

std::string here(int line) { return "symbols_test.cpp:" + std::to_string(line); }

#if QUERN_TEST_HAS_LINES
TEST(symbols, a_site_is_the_line_of_the_program_that_called) {
    const void* const site = quern::detail::stand_in_for_async();
    const std::string text = quern::detail::describe_site(site);
    EXPECT_NE(text.find(here(__LINE__ - 2)), std::string::npos) << text;
    EXPECT_NE(text.find("TestBody"), std::string::npos) << text;
    EXPECT_EQ(text.find("stand_in"), std::string::npos) << text;
}

TEST(symbols, two_calls_on_two_lines_are_two_sites) {
    const void* const first = quern::detail::stand_in_for_async();
    const void* const second = quern::detail::stand_in_for_async();
    EXPECT_NE(first, second);
    EXPECT_NE(quern::detail::describe_site(first).find(here(__LINE__ - 3)), std::string::npos);
    EXPECT_NE(quern::detail::describe_site(second).find(here(__LINE__ - 3)), std::string::npos);
}

TEST(symbols, a_site_within_a_lambda_that_the_runtime_calls_is_the_lambda) {
    std::string text;
    int line = 0;
    quern::detail::stand_in_for_run([&] {
        text = quern::detail::describe_site(quern::detail::stand_in_for_async());
        line = __LINE__ - 1;
    });
    EXPECT_NE(text.find(here(line)), std::string::npos) << text;
}

QUERN_NOINLINE std::string calls_of_level(int level) {
    if (level > 0) {
        std::string text = calls_of_level(level - 1);
        return text + "";  // not a tail call
    }
    return written_by(
        [](int file) { call_stack::here().write(file, spelling_of_names::demangled); });
}

TEST(symbols, a_short_stack_is_written_whole) {
    const std::string text = calls_of_level(2);
    EXPECT_NE(text.find("calls_of_level"), std::string::npos) << text;
    EXPECT_NE(text.find("symbols_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("TestBody"), std::string::npos) << text;
}

TEST(symbols, a_long_stack_is_cut_in_the_middle) {
    const std::string text = calls_of_level(1000);
    EXPECT_NE(text.find(" more calls ..."), std::string::npos) << text;
    EXPECT_NE(text.find("calls_of_level"), std::string::npos) << text;
    EXPECT_LT(text.size(), 100'000U);
}
#endif

TEST(symbols, an_address_of_nothing_is_written_as_a_number) {
    EXPECT_EQ(quern::detail::describe_site(reinterpret_cast<const void*>(16)), "0x10");
}

TEST(symbols, a_function_of_the_c_library_is_known_by_name) {
    const auto* const function = reinterpret_cast<const char*>(&std::abort);
    EXPECT_NE(quern::detail::describe_site(function + 1).find("abort"), std::string::npos);
}

template <class F>
void runs_something() {
    std::abort();
}

TEST(symbols, an_entry_is_known_by_what_it_was_made_for) {
    const auto solve = [] {};
    const auto entry = &runs_something<decltype(solve)>;
    const std::string text = quern::detail::describe_entry(reinterpret_cast<const void*>(entry));
    EXPECT_NE(text.find("lambda"), std::string::npos) << text;
    EXPECT_EQ(text.find("runs_something"), std::string::npos) << text;
}

template <class Add>
std::string added(Add add, std::string_view to) {
    fixed_text text;
    add(text, to);
    return std::string(text.view());
}

TEST(symbols, a_lambda_is_called_by_the_function_around_it) {
    using quern::detail::add_readable;
    const auto named = [](std::string_view name) { return added(add_readable, name); };
    EXPECT_EQ(named("main::{lambda()#1}::operator()() const"), "main's lambda");
    EXPECT_EQ(named("solve(int)::{lambda(auto:1)#2}::operator()<int>(int) const"),
              "solve(int)'s lambda");
    EXPECT_EQ(named("auto (anonymous namespace)::f(int)::{lambda()#1}::operator()<A<int>>(B) const"
                    "::{lambda()#8}::operator()() const"),
              "(anonymous namespace)::f(int)'s lambda");
    EXPECT_EQ(named("solve(int)::{lambda()#3}"), "solve(int)'s lambda #3");
    EXPECT_EQ(named("{lambda()#3}::operator()() const"), "lambda");
    for (const char* const other :
         {"f(int)", "a::b<main::{lambda()#1}>(main::{lambda()#1})", "table::operator()(int) const",
          "f()::{lambda()#1}::operator()() const::local::run()"}) {
        EXPECT_EQ(named(other), other);
    }
}

TEST(symbols, an_inlined_lambda_is_called_by_what_the_function_was_made_for) {
    using quern::detail::add_inlined_lambda;
    const auto named = [](std::string_view name) { return added(add_inlined_lambda, name); };
    EXPECT_EQ(named("main"), "main's lambda");
    EXPECT_EQ(named("void solve<int>(int)"), "solve<int>(int)'s lambda");
    EXPECT_EQ(named("quern::detail::state<a, b::solve(int, A<c>)::{lambda()#1}>::run(work&)"),
              "b::solve(int, A<c>)'s lambda");
    EXPECT_EQ(named("void quern::detail::run<functor>(work&)"), "lambda");
}

TEST(symbols, a_path_has_one_form) {
    using quern::detail::add_path;
    const auto formed = [](std::string_view path) { return added(add_path, path); };
    EXPECT_EQ(formed("/home/me/build/../src/x.cpp"), "/home/me/src/x.cpp");
    EXPECT_EQ(formed("/home/me/./src//x.cpp"), "/home/me/src/x.cpp");
    EXPECT_EQ(formed("./src/x.cpp"), "src/x.cpp");
    EXPECT_EQ(formed("../src/x.cpp"), "src/x.cpp");
    EXPECT_EQ(formed("x.cpp"), "x.cpp");
}

TEST(symbols, text_that_does_not_fit_is_cut_and_says_so) {
    fixed_text text;
    for (int i = 0; i < 1000; ++i) {
        text.add("0123456789");
    }
    EXPECT_LT(text.view().size(), 10'000U);
    EXPECT_TRUE(text.view().ends_with("...\n")) << text.view();
}

}  // namespace
