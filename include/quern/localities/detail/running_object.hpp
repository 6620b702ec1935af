// SPDX-License-Identifier: BSL-1.0
// How a global object gets a reference to itself: from inside one of its calls, which keeps it.
#pragma once

#include <quern/localities/detail/objects.hpp>

namespace quern::localities::detail {

/// A reference that has been lent, to be received at once at this locality. Requires:
/// one of its calls runs until it has been received. Throws std::logic_error without a session, and
/// for an object that is not here, or that ends.
object_reference::travelling lend_running(object_name name);

}  // namespace quern::localities::detail
