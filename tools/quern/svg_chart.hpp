// SPDX-License-Identifier: BSL-1.0
// Line charts as inline SVG, for pages that need nothing from anywhere. Colours are classes of the
// page's style sheet (page_style.hpp), which knows light and dark; every mark has its figures as a
// title. The abscissa is logarithmic.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quern::tool {

struct chart_point {
    double x;
    double y;           ///< NaN: left out
    double low, high;   ///< ends of the whisker; equal: none
    std::string title;  ///< shown by a browser that points at it
};

struct chart_series {
    std::string name;
    std::vector<chart_point> points;  ///< in order of x
};

/// A part of the abscissa with a name, in the background.
struct chart_region {
    double from, to;
    std::string name;
};

/// A vertical line with a name at its top.
struct chart_flag {
    double x;
    std::string name;
};

struct chart {
    std::string title;  ///< above it, and for those who cannot see it
    std::string x_title;
    std::string y_title;
    bool has_log_y = false;            ///< points that are not positive are left out then
    double width = 620, height = 300;  ///< pixels
    std::vector<chart_series> series;  ///< at most six can be told apart
    std::vector<chart_region> regions;
    std::vector<chart_flag> flags;
};

/// The chart with its legend; empty when it has no point.
std::string as_svg(const chart& of);

/// With &, <, > and " as HTML wants them.
std::string escaped(std::string_view text);

}  // namespace quern::tool
