// SPDX-License-Identifier: BSL-1.0
// What `quern tune` writes at its end: the result as text, every run as CSV, everything as JSON.
#pragma once

#include "tune/search.hpp"

#include <string>

namespace quern::tool {

std::string tune_as_text(const tune_plan& plan, const tune_result& result);
std::string tune_as_csv(const tune_plan& plan, const tune_result& result);
std::string tune_as_json(const tune_plan& plan, const tune_result& result);

}  // namespace quern::tool
