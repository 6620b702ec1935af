// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace bench::algorithms {

namespace {

const all_rows serially("serial", serial_calls{},
                        [](const arguments&, auto f) -> job { return f; });

}  // namespace

}  // namespace bench::algorithms
