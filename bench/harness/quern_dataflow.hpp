// SPDX-License-Identifier: BSL-1.0
// dataflow over a number of futures that is known only at run time: passes them as separate
// arguments, which saves the memory of a vector of futures and of a vector of values.
#pragma once

#include <quern/quern.hpp>

#include <cstddef>
#include <utility>

namespace bench {

/// quern::dataflow(unwrapping(f), input(0), ..., input(count - 1)). f gets references to the
/// values.
template <std::size_t Most, class F, class Input>
auto dataflow_of(std::size_t count, F f, const Input& input) {
    const auto start = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return quern::dataflow(quern::unwrapping(std::move(f)), input(I)...).share();
    };
    if constexpr (Most == 0) {
        return start(std::index_sequence<>());
    } else {
        if (count < Most) {
            return dataflow_of<Most - 1>(count, std::move(f), input);
        }
        return start(std::make_index_sequence<Most>());
    }
}

}  // namespace bench
