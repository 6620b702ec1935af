// SPDX-License-Identifier: BSL-1.0
// Places in the source of another language, such as "relax at solver.py:42". Each has a token that
// stands wherever a code address may stand, and add_site() prints the place in its stead. Called by
// front ends once per place (scheduler/sites.hpp). Never forgets a place, never moves one.
#pragma once

#include <cstddef>
#include <string_view>

namespace quern::detail {

struct foreign_place {
    /// Further places share the last token, which says so. (chosen: 160 KB of zeros)
    static constexpr std::size_t k_most = 4096;

    const char* text = nullptr;      ///< "relax (Python) at solver.py:42"; lives for ever
    const char* language = nullptr;  ///< the parts of it
    const char* function = nullptr;
    const char* file = nullptr;
    int line = 0;

    /// The one place with these parts. Thread safe. Throws std::bad_alloc.
    static const foreign_place& with(std::string_view language, std::string_view function,
                                     std::string_view file, int line);

    /// The place that the address is the token of, or null. Safe in a signal handler.
    static const foreign_place* from(const void* address) noexcept;
};

}  // namespace quern::detail
