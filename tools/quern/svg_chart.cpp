// SPDX-License-Identifier: BSL-1.0
// The bodies of svg_chart.hpp.
#include "svg_chart.hpp"

#include "svg_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace quern::tool {

namespace {

constexpr double k_character = 7;  // pixels, the width of one at the charts' font size
constexpr double k_line = 16;      // pixels between two lines of text
constexpr double k_left = 62, k_right = 16, k_bottom = 44;  // pixels around the plot

bool is_drawn(const chart& of, const chart_point& p) {
    return std::isfinite(p.y) && p.x > 0 && (!of.has_log_y || p.y > 0);
}

struct extent {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();

    void add(double value) {
        least = std::min(least, value);
        most = std::max(most, value);
    }
    bool is_empty() const { return least > most; }
};

class drawing {
public:
    explicit drawing(const chart& of) : m_chart(of) {}

    std::string draw() {
        for (const chart_series& series : m_chart.series) {
            for (const chart_point& p : series.points) {
                add_extent(p);
            }
        }
        if (m_xs.is_empty()) {
            return "";
        }
        lay_out();
        add_legend();
        add_regions();
        add_grid();
        add_flags();
        for (std::size_t i = 0; i < m_chart.series.size(); ++i) {
            add_series(m_chart.series[i], i);
        }
        return fmt::format(
            R"(<svg viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" role="img" aria-label="{2}">{3}</svg>)",
            m_chart.width, m_chart.height, escaped(m_chart.title), m_out);
    }

private:
    void add_extent(const chart_point& p) {
        if (is_drawn(m_chart, p)) {
            m_xs.add(p.x);
            m_ys.add(p.y);
            for (const double end : {p.low, p.high}) {
                if (std::isfinite(end) && (!m_chart.has_log_y || end > 0)) {
                    m_ys.add(end);
                }
            }
        }
    }

    void lay_out() {
        const double legend_rows = place_legend();
        const double flag_rows = static_cast<double>(place_flags());
        m_top = 8 + k_line * legend_rows + 14 * flag_rows + (m_chart.regions.empty() ? 4 : 18);
        m_x = {m_xs.least / 1.15, m_xs.most * 1.15, k_left, m_chart.width - k_right, true};
        m_y = {0, 1, m_chart.height - k_bottom, m_top, m_chart.has_log_y};
        if (m_chart.has_log_y) {
            m_y.low = m_ys.least / 1.2;
            m_y.high = m_ys.most * 1.2;
        } else {
            m_y.low = std::min(0.0, m_ys.least * 1.05);
            m_y.high = std::max(m_ys.most * 1.05, m_y.low + 1e-9);
        }
    }

    /// Gives every name of the legend its place; returns the number of rows.
    double place_legend() {
        double x = k_left, row = 0;
        for (const chart_series& series : m_chart.series) {
            const double width = 36 + k_character * static_cast<double>(series.name.size());
            if (x > k_left && x + width > m_chart.width) {
                x = k_left;
                ++row;
            }
            m_legend.push_back({x, 16 + k_line * row});
            x += width;
        }
        return row + 1;
    }

    /// Puts the names of flags into rows in which they do not overlap; returns how many rows.
    std::size_t place_flags() {
        const axis x{m_xs.least / 1.15, m_xs.most * 1.15, k_left, m_chart.width - k_right, true};
        std::vector<double> ends;
        for (const chart_flag& flag : m_chart.flags) {
            const double half = k_character * static_cast<double>(flag.name.size()) / 2;
            const double middle = std::clamp(x.place(flag.x), k_left + half,
                                             std::max(k_left + half, m_chart.width - half));
            std::size_t row = 0;
            while (row < ends.size() && ends[row] > middle - half - 6) {
                ++row;
            }
            ends.resize(std::max(ends.size(), row + 1));
            ends[row] = middle + half;
            m_flags.push_back({middle, row});
        }
        return ends.size();
    }

    void add_text(double x, double y, std::string_view words, const char* css,
                  const char* anchor = "start") {
        fmt::format_to(std::back_inserter(m_out),
                       R"(<text x="{:.1f}" y="{:.1f}" class="{}" text-anchor="{}">{}</text>)", x, y,
                       css, anchor, escaped(words));
    }

    void add_line(double x1, double y1, double x2, double y2, std::string_view css) {
        fmt::format_to(std::back_inserter(m_out),
                       R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>)", x1,
                       y1, x2, y2, css);
    }

    void add_legend() {
        for (std::size_t i = 0; i < m_chart.series.size(); ++i) {
            const auto [x, y] = m_legend[i];
            add_mark(i, x + 5, y - 4, "");
            add_text(x + 14, y, m_chart.series[i].name, "");
        }
    }

    void add_regions() {
        for (std::size_t i = 0; i < m_chart.regions.size(); ++i) {
            const chart_region& region = m_chart.regions[i];
            const double from = std::max(m_x.begin, m_x.place(region.from));
            const double to = std::min(m_x.end, m_x.place(region.to));
            fmt::format_to(
                std::back_inserter(m_out),
                R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" class="region{}"/>)",
                from, m_top - 16, std::max(0.0, to - from), m_y.begin - m_top + 16, i % 2);
            if (k_character * static_cast<double>(region.name.size()) < to - from) {
                add_text((from + to) / 2, m_top - 5, region.name, "tick", "middle");
            }
        }
    }

    void add_grid() {
        for (const double value : log_ticks(m_x, 60)) {
            const double x = m_x.place(value);
            add_line(x, m_y.end, x, m_y.begin, "grid");
            add_text(x, m_y.begin + 15, short_number(value), "tick", "middle");
        }
        for (const double value : m_chart.has_log_y ? log_ticks(m_y, 30) : linear_ticks(m_y, 40)) {
            const double y = m_y.place(value);
            add_line(m_x.begin, y, m_x.end, y, value == 0 ? "zero" : "grid");
            add_text(m_x.begin - 6, y + 4, short_number(value), "tick", "end");
        }
        add_text((m_x.begin + m_x.end) / 2, m_chart.height - 8, m_chart.x_title, "tick", "middle");
        const double middle = (m_y.begin + m_y.end) / 2;
        fmt::format_to(
            std::back_inserter(m_out),
            R"svg(<text transform="translate(13 {:.1f}) rotate(-90)" class="tick" text-anchor="middle">{}</text>)svg",
            middle, escaped(m_chart.y_title));
    }

    void add_flags() {
        for (std::size_t i = 0; i < m_flags.size(); ++i) {
            const double x = m_x.place(m_chart.flags[i].x);
            const double above = m_top - (m_chart.regions.empty() ? 4 : 20);
            const double y = above - 14 * static_cast<double>(m_flags[i].row);
            add_line(x, y + 2, x, m_y.begin, "flag");
            add_text(m_flags[i].middle, y, m_chart.flags[i].name, "flag-name", "middle");
        }
    }

    /// A shape and a colour for each series.
    void add_mark(std::size_t index, double x, double y, std::string_view title) {
        constexpr const char* k_shapes[] = {"M{0} {1}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
                                            "M{0} {1}m-4 -4h8v8h-8z",
                                            "M{0} {1}m0 -5l5 9h-10z",
                                            "M{0} {1}m0 -5l5 5l-5 5l-5 -5z",
                                            "M{0} {1}m0 5l5 -9h-10z",
                                            "M{0} {1}m-5 -2h10v4h-10z"};
        const std::string path = fmt::format(fmt::runtime(k_shapes[index % std::size(k_shapes)]),
                                             fmt::format("{:.1f}", x), fmt::format("{:.1f}", y));
        fmt::format_to(std::back_inserter(m_out),
                       R"(<path d="{}" class="mark c{}"><title>{}</title></path>)", path,
                       index % std::size(k_shapes), escaped(title));
    }

    void add_series(const chart_series& series, std::size_t index) {
        std::string path;
        for (const chart_point& p : series.points) {
            if (is_drawn(m_chart, p)) {
                path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", m_x.place(p.x),
                                    m_y.place(p.y));
            }
        }
        fmt::format_to(std::back_inserter(m_out), R"(<path d="{}" class="curve l{}"/>)", path,
                       index % 6);
        for (const chart_point& p : series.points) {
            if (!is_drawn(m_chart, p)) {
                continue;
            }
            const double x = m_x.place(p.x);
            if (p.low < p.high && (!m_chart.has_log_y || p.low > 0)) {
                add_line(x, m_y.place(p.low), x, m_y.place(p.high),
                         fmt::format("whisker l{}", index % 6));
            }
            add_mark(index, x, m_y.place(p.y), p.title);
        }
    }

    struct name_place {
        double x, y;
    };
    struct flag_place {
        double middle;
        std::size_t row;
    };

    const chart& m_chart;
    std::string m_out;
    extent m_xs, m_ys;
    axis m_x, m_y;
    double m_top = 0;
    std::vector<name_place> m_legend;
    std::vector<flag_place> m_flags;
};

}  // namespace

std::string as_svg(const chart& of) { return drawing(of).draw(); }

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

}  // namespace quern::tool
