// SPDX-License-Identifier: BSL-1.0
// Calls whose std::invalid_argument is about what the caller of this layer has given.
#pragma once

#include <quern/localities/remote_error.hpp>
#include <quern/task/future.hpp>

#include <stdexcept>

namespace quern::localities::detail {

/// The value of such a call. Waits. Throws a std::invalid_argument as one, other errors as the
/// remote_error that they are.
template <class T>
T get_or_refuse(future<T> of) {
    try {
        return of.get();
    } catch (const remote_error& error) {
        if (error.report().type == "std::invalid_argument") {
            throw std::invalid_argument(error.report().message);
        }
        throw;
    }
}

}  // namespace quern::localities::detail
