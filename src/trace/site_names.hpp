// SPDX-License-Identifier: BSL-1.0
// Words for a kind of task: the user's name or the function, and file and line.
#pragma once

#include "site_table.hpp"

#include <string>

namespace quern::trace::detail {

struct site_name {
    std::string name;
    std::string location;  ///< "heat.cpp:42", or empty
};

/// Slow: reads debug information. Never empty.
site_name name_site(const site_count& site);

/// What quern::detail::describe_site has made of an address, in its two parts.
site_name split_place(const std::string& words);

}  // namespace quern::trace::detail
