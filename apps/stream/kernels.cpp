// SPDX-License-Identifier: BSL-1.0
#include "kernels.hpp"

#include <cstddef>

namespace stream {

namespace {

constexpr double k_factor = 0.4;  // so that the numbers stay near 1: 0.4 + 0.4 (1 + 0.4) < 1

}  // namespace

void copy(given_numbers a, numbers c) {
    for (std::size_t i = 0; i < c.size(); ++i) {
        c[i] = a[i];
    }
}

void scale(given_numbers c, numbers b) {
    for (std::size_t i = 0; i < b.size(); ++i) {
        b[i] = k_factor * c[i];
    }
}

void add(given_numbers a, given_numbers b, numbers c) {
    for (std::size_t i = 0; i < c.size(); ++i) {
        c[i] = a[i] + b[i];
    }
}

void triad(given_numbers b, given_numbers c, numbers a) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = b[i] + k_factor * c[i];
    }
}

}  // namespace stream
