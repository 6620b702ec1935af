// SPDX-License-Identifier: BSL-1.0
// A network of a chosen rate for the ranks of one job, on one machine: `quern run -n N --net
// 100mbit`. Never touches the network of the machine.
#pragma once

#include <cstdint>
#include <string>

namespace quern::tool {

/// Bits a second, of a text such as 100mbit, 1.5gbit or 800kbit. Throws usage_error.
std::uint64_t rate_of(const std::string& text);

/// Moves this process and all that it starts into a network namespace of its own, which has the
/// loopback interface only, with that rate for all packets of all ranks together. Throws
/// std::runtime_error without the rights, or without the program tc. Requires: one thread.
void enter_network(std::uint64_t bits_per_second);

}  // namespace quern::tool
