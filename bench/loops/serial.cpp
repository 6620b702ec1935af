// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace bench::loops {

namespace {

const on_all_shapes serially(
    "serial",
    [](const arguments& a, auto f) {
        for (long i = 0; i < a.size; ++i) {
            f(i);
        }
    },
    [](const arguments&, auto f) -> job { return f; });

}  // namespace

}  // namespace bench::loops
