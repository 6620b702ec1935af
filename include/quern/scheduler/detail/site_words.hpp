// SPDX-License-Identifier: BSL-1.0
// Words for a kind of task: the user's name or the function, and file and line. Called by reports
// of sites and by profiles, which must call a site the same. Slow: reads debug information.
#pragma once

#include <string>
#include <string_view>

namespace quern::detail {

struct site_words {
    std::string name;
    std::string location;  ///< "heat.cpp:42", or empty
};

/// `name`: the user's, or empty. `address`: where the task is made, or what runs it (`is_entry`).
/// `entry`: what runs it. The name of the result is never empty.
site_words words_of_site(std::string_view name, const void* address, bool is_entry,
                         const void* entry);

/// What describe_site has made of an address, in its two parts.
site_words split_place(const std::string& words);

}  // namespace quern::detail
