// SPDX-License-Identifier: BSL-1.0
// A value that can be moved only a limited number of times, for channels that move it.
#pragma once

#include <stdexcept>

namespace quern_test {

/// Throws at the n-th move; counts live objects.
struct fragile {
    fragile(int moves, int& count) : left(moves), living(&count) { ++*living; }
    fragile(fragile&& other) : left(other.left - 1), living(other.living) {
        if (left < 0) {
            throw std::runtime_error("moved too often");
        }
        ++*living;
    }
    ~fragile() { --*living; }
    int left;
    int* living;
};

}  // namespace quern_test
