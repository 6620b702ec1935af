// SPDX-License-Identifier: BSL-1.0
// Futures of calls at other localities as HPX's: an exception has the type that was thrown there,
// if it is hpx::exception or one of the standard's that are made of a message.
#pragma once

#include <quern/compat/hpx/future.hpp>
#include <quern/compat/hpx/ready_futures.hpp>
#include <quern/localities/remote_error.hpp>

#include <exception>
#include <utility>

namespace hpx::detail {

/// Throws what the report is about. Of another type: the remote_error itself.
[[noreturn]] void throw_arrived(const quern::localities::remote_error& error);

/// Calls f; an exception of another locality becomes the one that was thrown there.
template <class F>
decltype(auto) with_arrived_errors(F&& f) {
    try {
        return std::forward<F>(f)();
    } catch (const quern::localities::remote_error& error) {
        detail::throw_arrived(error);
    }
}

/// The future, passed through `convert` where it becomes ready.
template <class R, class Convert>
auto arrived(quern::future<R>&& from, Convert convert) {
    return future<R>(std::move(from))
        .then(in_place(), [convert = std::move(convert)](future<R> ready) mutable {
            return detail::with_arrived_errors([&] { return convert(ready.get()); });
        });
}
template <class R>
future<R> arrived(quern::future<R>&& from) {
    return future<R>(std::move(from)).then(in_place(), [](future<R> ready) -> R {
        return detail::with_arrived_errors([&]() -> R { return ready.get(); });
    });
}

}  // namespace hpx::detail
