// SPDX-License-Identifier: BSL-1.0
// Lists of CPUs in Linux notation, "0,2-5,8": in cgroup and /sys files, in the user's explicit
// binding, and in messages. The numbers are the operating system's indices of processing units.
#pragma once

#include <quern/topology/outcome.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace quern::topology {

using cpu_list = std::vector<unsigned>;

/// Greater indices are rejected as garbage. Linux supports 8192 CPUs today (NR_CPUS); this is eight
/// times that.
inline constexpr unsigned k_highest_cpu = 65535;

/// Parses "0,2-5,8" in the order written, duplicates kept. An empty text is an empty list; white
/// space around the text and around commas is ignored. The reason quotes the text and the fault.
outcome<cpu_list> parse_cpu_list(std::string_view text);

/// As parse_cpu_list, ascending and without duplicates: a set.
outcome<cpu_list> parse_cpu_set(std::string_view text);

/// Writes ascending runs as ranges: {0,1,2,8} is "0-2,8"; {4,0,1} is "4,0-1"; an empty list is "".
std::string to_text(const cpu_list& cpus);

}  // namespace quern::topology
