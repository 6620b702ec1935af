// SPDX-License-Identifier: BSL-1.0
// What the tracing layer hangs into the loop. Null by default: one predictable branch per event.
// The functions run on the worker, outside user code, and must neither block nor throw.
#pragma once

#include <cstdint>

namespace quern::detail {

struct work;

struct hooks {
    /// An item starts, or a suspended context goes on. Comes twice in a row for an item that moves
    /// to a larger stack before it starts.
    void (*item_begins)(std::uint32_t worker, const work& item) = [](std::uint32_t, const work&) {};
    /// What began last on the worker has ended, or has given up the worker: one of the two.
    void (*item_ends)(std::uint32_t worker) = [](std::uint32_t) {};
    void (*suspends)(std::uint32_t worker) = [](std::uint32_t) {};
    void (*steals)(std::uint32_t thief, std::uint32_t victim) = [](std::uint32_t, std::uint32_t) {};
    void (*parks)(std::uint32_t worker) = [](std::uint32_t) {};
    void (*unparks)(std::uint32_t worker) = [](std::uint32_t) {};
};

}  // namespace quern::detail
