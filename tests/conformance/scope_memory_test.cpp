// SPDX-License-Identifier: BSL-1.0
// A scope calls malloc for none of its children in the long run: the first lie in the scope, others
// are blocks of the worker's cache. The program's operator new counts.
#include <quern/base/detail/config.hpp>
#include <quern/task/async.hpp>
#include <quern/task/scope.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

std::atomic<long> allocations{0};  // NOLINT: operator new has no other place

}  // namespace

void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) {
        return memory;
    }
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

/// Allocations of 1000 scopes of that many children, each of whose functions keeps three words,
/// after one scope that warms up.
long allocations_of_scopes(std::size_t children) {
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    return quern::async(rt,
                        [children] {
                            std::vector<std::size_t> results(children);
                            const auto family = [&] {
                                quern::scope([&](quern::fork_scope& s) {
                                    for (std::size_t i = 0; i < children; ++i) {
                                        s.spawn([&result = results[i], i, children] {
                                            result = i + children;
                                        });
                                    }
                                });
                            };
                            family();
                            const long before = allocations;
                            for (int k = 0; k < 1000; ++k) {
                                family();
                            }
                            const long made = allocations - before;
                            for (std::size_t i = 0; i < children; ++i) {
                                EXPECT_EQ(results[i], i + children);
                            }
                            return made;
                        })
        .get();
}

// Holds: scope: Calls malloc for none of its children in the long run.
TEST(memory_of_a_scope, is_not_of_malloc) {
    if (quern::detail::k_asan || quern::detail::k_tsan) {
        GTEST_SKIP() << "blocks are operator new there";
    }
    for (const std::size_t children : {1U, 8U, 9U, 10U, 14U, 32U, 60U}) {
        EXPECT_EQ(allocations_of_scopes(children), 0) << children << " children";
    }
}

}  // namespace
