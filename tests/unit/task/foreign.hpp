// SPDX-License-Identifier: BSL-1.0
// A coroutine of another library, for the tests of co_await.
#pragma once

#include <coroutine>
#include <exception>

namespace quern_test {

/// A foreign coroutine: begins at once, frees itself, notifies no other coroutine.
struct foreign {
    struct promise_type {
        foreign get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

}  // namespace quern_test
