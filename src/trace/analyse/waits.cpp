// SPDX-License-Identifier: BSL-1.0
// Merges rows of waits, and names the lines where tasks waited.
#include "analyse/waits.hpp"

#include "record/site_names.hpp"

#include <quern/base/detail/clock.hpp>

#include <algorithm>
#include <utility>

namespace quern::trace::detail {

namespace {

void add_line(wait_row& into, const wait_line& line, const wait_sum& sum) {
    auto at = std::find_if(into.lines.begin(), into.lines.end(), [&](const wait_line& each) {
        return each.location == line.location && each.function == line.function;
    });
    if (at == into.lines.end()) {
        at = into.lines.insert(at, line);
    }
    at->waits += sum.waits;
    at->total_ns += static_cast<double>(sum.total) * quern::detail::ns_per_tick();
}

/// Assigns the rest to the line with the most time.
void finish_lines(wait_row& row) {
    std::stable_sort(
        row.lines.begin(), row.lines.end(),
        [](const wait_line& a, const wait_line& b) { return a.total_ns > b.total_ns; });
    if (row.lines.empty()) {
        row.lines.emplace_back();
    }
    std::uint64_t waits = 0;
    double total_ns = 0.0;
    for (const wait_line& each : row.lines) {
        waits += each.waits;
        total_ns += each.total_ns;
    }
    row.lines.front().waits += row.waits - std::min(row.waits, waits);
    row.lines.front().total_ns += std::max(0.0, row.total_ns - total_ns);
}

}  // namespace

std::uint32_t merged_waits::row_of(const wait_count& from, std::uint32_t site) {
    const auto thing = reinterpret_cast<std::uint64_t>(from.thing);
    const auto [at, is_new] =
        m_index.try_emplace({from.kind, thing, site}, static_cast<std::uint32_t>(m_rows.size()));
    if (is_new) {
        m_rows.push_back(
            {.kind = from.kind, .is_lock = from.is_lock, .thing = thing, .site = site});
    }
    return at->second;
}

void merged_waits::add(const wait_table& from, const std::vector<std::uint32_t>& sites) {
    const double ns = quern::detail::ns_per_tick();
    m_present.clear();
    for (const wait_count& each : from.all()) {
        if (each.all.waits == 0) {
            m_present.push_back(0);
            continue;
        }
        m_present.push_back(row_of(each, sites[each.site]));
        wait_row& row = m_rows[m_present.back()];
        row.waits += each.all.waits;
        row.total_ns += static_cast<double>(each.all.total) * ns;
        row.max_ns = std::max(row.max_ns, static_cast<double>(each.all.longest) * ns);
        for (const auto& [calls, sum] : each.places) {
            const std::vector<const void*> key(calls.calls.begin(), calls.calls.end());
            const auto [known, is_new] = m_lines.try_emplace(key);
            if (is_new) {
                site_name words = split_place(quern::detail::describe_caller(calls));
                known->second = {std::move(words.name), std::move(words.location)};
            }
            add_line(row, known->second, sum);
        }
    }
}

void merged_waits::note(std::uint64_t task, std::uint64_t at_ns, std::uint64_t index) {
    m_noted.push_back({task, at_ns, m_present[index]});
}

std::vector<wait_row> merged_waits::give(std::vector<lane>& lanes) {
    std::vector<std::uint32_t> order(m_rows.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        order[i] = i;
        finish_lines(m_rows[i]);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return m_rows[a].total_ns > m_rows[b].total_ns;
    });
    std::vector<wait_row> rows;
    std::vector<std::uint32_t> places(order.size());
    for (const std::uint32_t i : order) {
        places[i] = static_cast<std::uint32_t>(rows.size());
        rows.push_back(std::move(m_rows[i]));
    }
    const auto by_task = [](const noted& a, const noted& b) {
        return std::tie(a.task, a.at_ns) < std::tie(b.task, b.at_ns);
    };
    std::sort(m_noted.begin(), m_noted.end(), by_task);
    for (lane& l : lanes) {
        for (slice& s : l.slices) {
            const noted wanted{s.task, s.end_ns, 0};
            const auto at = s.suspended
                                ? std::lower_bound(m_noted.begin(), m_noted.end(), wanted, by_task)
                                : m_noted.end();
            if (at != m_noted.end() && at->task == s.task && at->at_ns == s.end_ns) {
                s.wait = places[at->row] + 1;
            }
        }
    }
    return rows;
}

}  // namespace quern::trace::detail
