// SPDX-License-Identifier: BSL-1.0
// The sites in the page's order: those with most time first, and beyond a number that a byte and a
// reader can bear, one that stands for the rest. Private to the layer.
#pragma once

#include <quern/trace/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quern::trace::detail {

/// What a site is that the recording does not have.
inline constexpr std::uint8_t k_no_site = 255;

/// Shown one by one; the number after that is the rest together.
inline constexpr std::size_t k_sites_shown = 250;

/// Sums of both; stddev_ns stays.
void add(site& into, const site& one);

/// Rows of recording::waits that the page has; the slices know no others either.
inline constexpr std::size_t k_waits_shown = 200;

class page_sites {
public:
    explicit page_sites(const recording& run);

    const std::vector<site>& shown() const noexcept { return m_shown; }

    /// How many the last one stands for; 0 when all are shown.
    std::size_t folded() const noexcept { return m_folded; }

    /// From the recording's index to the page's.
    std::uint8_t place(std::size_t index) const noexcept {
        return index < m_places.size() ? m_places[index] : k_no_site;
    }

private:
    std::vector<site> m_shown;
    std::vector<std::uint8_t> m_places;
    std::size_t m_folded = 0;
};

}  // namespace quern::trace::detail
