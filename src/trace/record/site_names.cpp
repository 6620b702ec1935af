// SPDX-License-Identifier: BSL-1.0
// A kind of task in a recording, by the words that all reports use.
#include "record/site_names.hpp"

#include <quern/base/detail/symbols.hpp>

#include <string>
#include <string_view>

namespace quern::trace::detail {

site_name name_site(const site_count& site) {
    constexpr std::string_view k_part_of = "part of ";
    site_name words =
        quern::detail::words_of_site(site.name, site.address, site.is_entry, site.entry);
    // A part of a loop runs the library's code. Its name says little; that of the task, which
    // loops.
    if (site.part_of != nullptr && words.name.starts_with(k_part_of)) {
        const site_name whole =
            quern::detail::split_place(quern::detail::describe_site(site.part_of));
        words = {std::string(k_part_of) + whole.name, whole.location};
    }
    return words;
}

}  // namespace quern::trace::detail
