// SPDX-License-Identifier: BSL-1.0
// Taking apart what is known of an address.
#include "site_names.hpp"

#include <quern/base/symbols.hpp>

namespace quern::trace::detail {

namespace {

std::string without_folders(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// A stolen part of a loop runs the library's own code, whose name says little and that at length:
/// "part of split_for".
std::string of_library(const std::string& name) {
    const std::string before = name.substr(0, name.find('<'));
    const std::size_t colons = before.rfind("::");
    return "part of " + (colons == std::string::npos ? before : before.substr(colons + 2));
}

}  // namespace

site_name split_place(const std::string& words) {
    constexpr std::size_t k_at = 4;  // " at ", " in "
    const std::size_t at = words.rfind(" at ");
    if (at != std::string::npos) {
        return {words.substr(0, at), without_folders(words.substr(at + k_at))};
    }
    const std::size_t in = words.rfind(" in /");
    return {words.substr(0, in), ""};
}

namespace {

/// "solve(int)'s lambda #1" where the task is a lambda of the program; else empty.
std::string name_of_lambda(const site_count& site) {
    const std::string entry = quern::detail::describe_entry(site.entry);
    const bool is_own = !entry.starts_with("quern::") && !entry.starts_with("std::");
    return is_own && entry.find("'s lambda") != std::string::npos ? entry : "";
}

}  // namespace

/// A lambda is told from the function around it, which is what makes it.
site_name name_site(const site_count& site) {
    site_name words;
    if (site.address != nullptr && !site.is_entry) {
        words = split_place(quern::detail::describe_site(site.address));
        if (site.name.empty() && words.name.find("'s lambda") == std::string::npos) {
            const std::string lambda = name_of_lambda(site);
            words.name = lambda.empty() ? words.name : lambda;
        }
    } else if (site.address != nullptr && site.name.empty()) {
        words = split_place(quern::detail::describe_entry(site.address));
        words.name = words.name.starts_with("quern::") ? of_library(words.name) : words.name;
    }
    if (!site.name.empty()) {
        words.name = site.name;
    }
    if (words.name.empty()) {
        words.name = "(unknown)";
    }
    return words;
}

}  // namespace quern::trace::detail
