// SPDX-License-Identifier: BSL-1.0
// Taking apart what is known of an address.
#include <quern/scheduler/detail/site_words.hpp>

#include <quern/base/detail/foreign_place.hpp>
#include <quern/base/detail/symbols.hpp>

#include <string_view>

namespace quern::detail {

namespace {

std::string without_folders(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// A name that ends so is completed by the function of the site: "task in solve".
constexpr std::string_view k_to_be_completed = " in";

/// A stolen part of a loop or an algorithm runs the library's own code, whose name says nothing.
constexpr const char* k_part_of_loop = "part of a parallel loop";

/// "solve(int)'s lambda #1" where the task is a lambda of the program; else empty.
std::string name_of_lambda(const void* entry) {
    const std::string name = detail::describe_entry(entry);
    const bool is_own = !name.starts_with("quern::") && !name.starts_with("std::");
    return is_own && name.find("'s lambda") != std::string::npos ? name : "";
}

}  // namespace

site_words split_place(const std::string& words) {
    constexpr std::size_t k_at = 4;  // " at ", " in "
    const std::size_t at = words.rfind(" at ");
    if (at != std::string::npos) {
        return {words.substr(0, at), without_folders(words.substr(at + k_at))};
    }
    const std::size_t in = words.rfind(" in /");
    return {words.substr(0, in), ""};
}

/// A lambda is told from the function around it, which is what makes it.
site_words words_of_site(std::string_view name, const void* address, bool is_entry,
                         const void* entry) {
    site_words words;
    if (address != nullptr && !is_entry) {
        words = split_place(detail::describe_site(address));
        if (name.empty() && words.name.find("'s lambda") == std::string::npos &&
            foreign_place::from(address) == nullptr) {
            const std::string lambda = name_of_lambda(entry);
            words.name = lambda.empty() ? words.name : lambda;
        }
    } else if (address != nullptr && name.empty()) {
        words = split_place(detail::describe_entry(address));
        words.name = words.name.starts_with("quern::") ? k_part_of_loop : words.name;
    }
    if (name.ends_with(k_to_be_completed)) {
        words.name = std::string(name) + " " + (words.name.empty() ? "?" : words.name);
    } else if (!name.empty()) {
        words.name = name;
    }
    if (words.name.empty()) {
        words.name = "(unknown)";
    }
    return words;
}

}  // namespace quern::detail
