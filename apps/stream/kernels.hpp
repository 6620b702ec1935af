// SPDX-License-Identifier: BSL-1.0
// The four kernels of STREAM. Shared by the application and by bench/stream. Compiled once, in
// kernels.cpp, so that all variants run the same instructions.
#pragma once

#include <span>

namespace stream {

using numbers = std::span<double>;
using given_numbers = std::span<const double>;

void copy(given_numbers a, numbers c);                    // c = a
void scale(given_numbers c, numbers b);                   // b = 0.4 c
void add(given_numbers a, given_numbers b, numbers c);    // c = a + b
void triad(given_numbers b, given_numbers c, numbers a);  // a = b + 0.4 c

}  // namespace stream
