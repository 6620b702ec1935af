// SPDX-License-Identifier: BSL-1.0
// The errors of channels, which do not depend on the value type.
#include <quern/sync/channel.hpp>

namespace quern::detail {

std::size_t checked_capacity(std::size_t capacity) {
    if (capacity == 0) {
        throw std::invalid_argument("quern::channel: the capacity is 0, accepted are 1 and more");
    }
    return capacity;
}

void throw_channel_closed() { throw channel_closed(); }

}  // namespace quern::detail
