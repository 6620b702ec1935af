// SPDX-License-Identifier: BSL-1.0
// The wait reason of call_once for reports: its holder runs the function.
#include <quern/sync/call_once.hpp>

namespace quern {

constexpr detail::wait_kind once_flag::attempt::k_wait{"call_once", sizeof(attempt), look, true};

}  // namespace quern
