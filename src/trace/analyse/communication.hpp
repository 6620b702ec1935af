// SPDX-License-Identifier: BSL-1.0
// Communication with other processes in words. Private to the layer.
#pragma once

#include <quern/trace/job.hpp>

#include <string>

namespace quern::trace::detail {

/// "Communication: 12 messages sent and 12 received, 96 KiB. Tasks waited 1.20 s in calls; 83 % of
/// that was hidden, ..."
std::string communication_words(const communication& talk);

}  // namespace quern::trace::detail
