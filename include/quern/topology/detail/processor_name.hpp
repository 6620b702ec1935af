// SPDX-License-Identifier: BSL-1.0
// The processor's name, for reports and for what is remembered about a machine; not for users.
#pragma once

#include <string>

namespace quern::topology::detail {

/// "AMD EPYC", as /proc/cpuinfo says it; "unknown processor" if it does not.
std::string processor_name();

}  // namespace quern::topology::detail
