// SPDX-License-Identifier: BSL-1.0
// A kind of task in a recording, by the words that all reports use.
#include "analyse/site_names.hpp"

namespace quern::trace::detail {

site_name name_site(const site_count& site) {
    return quern::detail::words_of_site(site.name, site.address, site.is_entry, site.entry);
}

}  // namespace quern::trace::detail
