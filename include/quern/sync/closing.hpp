// SPDX-License-Identifier: BSL-1.0
// quern::closing: closes a channel at the end of a block. Included by channel.hpp.
#pragma once

#include <quern/sync/channel.hpp>

#include <iterator>

namespace quern {

/// Closes a channel at the end of a block, however that is left: by an exception, a break, a
/// return. As the range of a loop it receives the values too.
///
///     for (block& b : quern::closing(blocks)) process(b);   // closed if process() throws
///
/// A sender that waits then gets channel_closed, so it ends, and a receiver gets what is left and
/// then std::nullopt. Both sides of a channel should have one: see quern::channel. In a coroutine
/// its end is that of the coroutine's block. Thread safety and cost: those of close().
template <class T>
class [[nodiscard]] closing {
public:
    explicit closing(channel<T>& at_end) noexcept : m_channel(at_end) {}
    closing(const closing&) = delete;
    closing& operator=(const closing&) = delete;
    ~closing() { m_channel.close(); }

    auto begin() { return m_channel.begin(); }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    channel<T>& m_channel;
};

}  // namespace quern
