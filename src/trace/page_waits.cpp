// SPDX-License-Identifier: BSL-1.0
// Rows of waits, each with the lines that have most of its time.
#include "page_waits.hpp"

#include "wait_words.hpp"

#include <algorithm>

namespace quern::trace::detail {

namespace {

constexpr std::size_t k_lines_shown = 5;

void write_row(json& out, const wait_row& row, const page_sites& sites) {
    out.open('{').field("kind", row.kind).field("thing", thing_words(row));
    out.field("lock", row.is_lock && row.thing != 0 ? 1.0 : 0.0);
    out.field("site", std::uint64_t{sites.place(row.site)}).field("waits", row.waits);
    out.field("total", row.total_ns).field("max", row.max_ns);
    out.key("lines").open('[');
    for (std::size_t i = 0; i < std::min(row.lines.size(), k_lines_shown); ++i) {
        const wait_line& line = row.lines[i];
        out.open('[').text(line.function).text(line.location);
        out.number(static_cast<double>(line.waits)).number(line.total_ns).close(']');
    }
    out.close(']').close('}');
}

}  // namespace

void write_waits(json& out, const recording& run, const page_sites& sites) {
    out.key("waits").open('[');
    for (std::size_t i = 0; i < std::min(run.waits.size(), k_waits_shown); ++i) {
        write_row(out, run.waits[i], sites);
    }
    out.close(']');
}

}  // namespace quern::trace::detail
