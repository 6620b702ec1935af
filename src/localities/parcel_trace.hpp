// SPDX-License-Identifier: BSL-1.0
// Tells recorders of the parcels that leave and that begin here, so that merged traces have an
// arrow from the task that posts one to the task that it becomes.
#pragma once

#include <quern/trace/events.hpp>

#include <cstdint>

namespace quern::localities::detail {

/// `number`: of the parcel on its link, modulo 2^32. Called by the task that posts, or is, it.
inline void trace_parcel(bool is_sent, int peer, std::uint32_t number,
                         std::uint64_t bytes) noexcept {
    trace::tell_message({.is_sent = is_sent,
                         .peer = peer,
                         .tag = 0,
                         .bytes = bytes,
                         .context = trace::k_numbered_messages,
                         .order = number});
}

}  // namespace quern::localities::detail
