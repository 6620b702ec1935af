// SPDX-License-Identifier: BSL-1.0
// The failure path of QUERN_ASSERT. Must not allocate: the heap may be corrupt.
#include <quern/base/detail/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace quern::detail {

void invariant_broken(const char* condition, const char* text, const char* file,
                      int line) noexcept {
    std::fprintf(stderr, "quern: broken invariant: %s\n  condition: %s\n  at %s:%d\n", text,
                 condition, file, line);
    std::fflush(stderr);
    std::abort();
}

}  // namespace quern::detail
