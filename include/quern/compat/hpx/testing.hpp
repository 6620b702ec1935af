// SPDX-License-Identifier: BSL-1.0
// hpx/modules/testing.hpp: checks that are counted and printed to stderr; the number of failed ones
// is the program's result.
#pragma once

#include <quern/compat/hpx.hpp>

#include <atomic>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

namespace hpx::util {

namespace detail {

inline std::atomic<int> failed_tests{0};

inline bool check(bool passed, const char* file, int line, const std::string& what) {
    if (!passed) {
        failed_tests.fetch_add(1, std::memory_order_relaxed);
        std::ostringstream text;
        text << file << ':' << line << ": test '" << what << "' failed\n";
        std::cerr << text.str();
    }
    return passed;
}

}  // namespace detail

inline int report_errors(std::ostream& = std::cerr) {
    return detail::failed_tests.load(std::memory_order_relaxed);
}

}  // namespace hpx::util

#define HPX_TEST(...) \
    ::hpx::util::detail::check(static_cast<bool>(__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__)
#define HPX_TEST_MSG(condition, message) \
    ::hpx::util::detail::check(static_cast<bool>(condition), __FILE__, __LINE__, message)
#define HPX_TEST_EQ(a, b) HPX_TEST_MSG((a) == (b), #a " == " #b)
#define HPX_TEST_NEQ(a, b) HPX_TEST_MSG((a) != (b), #a " != " #b)
#define HPX_TEST_LT(a, b) HPX_TEST_MSG((a) < (b), #a " < " #b)
#define HPX_TEST_LTE(a, b) HPX_TEST_MSG((a) <= (b), #a " <= " #b)
#define HPX_TEST_RANGE(value, least, most) \
    HPX_TEST_MSG((least) <= (value) && (value) <= (most), #value " in its range")
#define HPX_TEST_EQ_MSG(a, b, message) HPX_TEST_MSG((a) == (b), message)
#define HPX_TEST_NEQ_MSG(a, b, message) HPX_TEST_MSG((a) != (b), message)
#define HPX_TEST_LT_MSG(a, b, message) HPX_TEST_MSG((a) < (b), message)
#define HPX_TEST_LTE_MSG(a, b, message) HPX_TEST_MSG((a) <= (b), message)
#define HPX_SANITY HPX_TEST
#define HPX_SANITY_EQ HPX_TEST_EQ
#define HPX_TEST_THROW(expression, type)                            \
    do {                                                            \
        bool caught_by_hpx_test = false;                            \
        try {                                                       \
            static_cast<void>(expression);                          \
        } catch (const type&) {                                     \
            caught_by_hpx_test = true;                              \
        } catch (...) {                                             \
        }                                                           \
        HPX_TEST_MSG(caught_by_hpx_test, #expression " throws it"); \
    } while (false)
#define HPX_TEST_NO_THROW(expression)                           \
    do {                                                        \
        try {                                                   \
            static_cast<void>(expression);                      \
        } catch (...) {                                         \
            HPX_TEST_MSG(false, #expression " throws nothing"); \
        }                                                       \
    } while (false)
