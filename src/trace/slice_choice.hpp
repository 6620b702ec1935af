// SPDX-License-Identifier: BSL-1.0
// Which slices a page of limited size contains: the longest ones of the whole run, and all of them
// in stretches at equal distances, so that a reader sees both what took long and how it goes in
// detail. Private to the layer.
#pragma once

#include "page_sites.hpp"

#include <quern/trace/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quern::trace::detail {

struct slice_choice {
    std::uint64_t total = 0;
    std::uint64_t kept = 0;
    std::uint64_t shortest_ns = 0;   ///< all slices of that length or more are in; 0: all
    std::uint64_t every_ns = 0;      ///< a stretch begins every so often, and
    std::uint64_t stretch_ns = 0;    ///< in this long from there all slices are in
    std::vector<std::string> lanes;  ///< base64 of the slices of each lane

    bool wants(const slice& piece) const noexcept {
        return piece.end_ns - piece.begin_ns >= shortest_ns ||
               (every_ns != 0 && piece.begin_ns % every_ns < stretch_ns);
    }
};

/// As many as fit into that many characters of the page. For each slice: what it begins after the
/// end of the one before (difference), its length, twice its site and one when it was suspended,
/// its task after the one before (difference).
slice_choice choose_slices(const recording& run, const page_sites& sites, std::size_t characters);

}  // namespace quern::trace::detail
