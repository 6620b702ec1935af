// SPDX-License-Identifier: BSL-1.0
// What a report says of a function that is called once: who runs it.
#include <quern/sync/call_once.hpp>

namespace quern {

constexpr detail::wait_kind once_flag::attempt::k_wait{"call_once", sizeof(attempt), look, true};

}  // namespace quern
