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
    void (*item_begins)(std::uint32_t worker, const work& item) = nullptr;
    /// What began last on the worker has ended, or has given up the worker: one of the two.
    void (*item_ends)(std::uint32_t worker) = nullptr;
    void (*suspends)(std::uint32_t worker) = nullptr;
    void (*steals)(std::uint32_t thief, std::uint32_t victim) = nullptr;
    void (*parks)(std::uint32_t worker) = nullptr;
    void (*unparks)(std::uint32_t worker) = nullptr;
};

}  // namespace quern::detail
