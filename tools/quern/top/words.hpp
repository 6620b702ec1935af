// SPDX-License-Identifier: BSL-1.0
// The words and lines that a program and a job have in common.
#pragma once

#include "top/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quern::tool {

std::string number(double value);
std::string share(double part);
std::string memory(std::uint64_t bytes);
std::string mean_task(const top_rates& rates);
std::string duration(double seconds);

void add_sites(std::vector<std::string>& lines, const std::vector<top_site>& sites);
void add_decisions(std::vector<std::string>& lines, const std::vector<top_decision>& decisions);

/// Cuts lines to about this width, and removes what a terminal would obey.
void fit(std::vector<std::string>& lines, std::size_t width);

}  // namespace quern::tool
