// SPDX-License-Identifier: BSL-1.0
// Selects the slices for a page of limited size: the longest ones of the whole run, and all slices
// in equally spaced stretches. So the page shows both long slices and details. Private to the
// layer.
#pragma once

#include "analyse/sites.hpp"

#include <quern/trace/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quern::trace::detail {

struct slice_choice {
    std::uint64_t total = 0;
    std::uint64_t kept = 0;
    std::uint64_t shortest_ns = 0;   ///< minimum length of slices that are always included; 0: all
    std::uint64_t every_ns = 0;      ///< distance between the beginnings of stretches
    std::uint64_t stretch_ns = 0;    ///< length of a stretch, in which all slices are included
    std::vector<std::string> lanes;  ///< base64 of the slices of each lane

    bool wants(const slice& piece) const noexcept {
        return piece.end_ns - piece.begin_ns >= shortest_ns ||
               (every_ns != 0 && piece.begin_ns % every_ns < stretch_ns);
    }
};

/// As many slices as fit into that many characters of the page. Per slice: its begin relative to
/// the end of the previous one (difference), its length, twice its site plus one if it was
/// suspended, its task relative to the previous one (difference).
slice_choice choose_slices(const recording& run, const page_sites& sites, std::size_t characters);

}  // namespace quern::trace::detail
