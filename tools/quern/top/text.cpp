// SPDX-License-Identifier: BSL-1.0
// A frame of `quern top` as lines.
#include "top/words.hpp"

#include <quern/base/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace quern::tool {

namespace {

constexpr std::size_t k_narrowest = 40;  // columns; less is unreadable
constexpr std::size_t k_most_sites = 20;
constexpr std::size_t k_longest = 10'000;  // bytes of a line

std::string heading(const top_frame& frame) {
    std::string text = fmt::format("{} ({}), Quern {}, up {}", frame.program, frame.pid,
                                   frame.version, duration(frame.uptime_s));
    if (frame.resident_bytes != 0) {
        text += fmt::format(", {} resident", memory(frame.resident_bytes));
    }
    text += frame.watts ? fmt::format(", {:.1f} W", *frame.watts)
                        : fmt::format(", power unavailable ({})", frame.no_power);
    return text + fmt::format(", over {}", duration(frame.interval_s));
}

std::string about(const top_pool& pool) {
    return fmt::format("pool {}, {}: {} of {} workers active, {} queued, {} suspended", pool.name,
                       pool.policy, pool.active_workers, pool.workers.size(),
                       number(static_cast<double>(pool.queued)),
                       number(static_cast<double>(pool.suspended)));
}

std::string row(std::string_view who, std::string_view state, const top_rates& rates,
                std::string_view queued, std::string_view runs) {
    return fmt::format("{:>6}  {:<8} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  {}",
                       who, state, number(rates.tasks_per_s), mean_task(rates),
                       number(rates.chunks_per_s + rates.scopes_per_s), share(rates.overhead),
                       share(rates.blocked), share(rates.lost), share(rates.idle), queued,
                       number(rates.stolen_per_s), runs);
}

}  // namespace

std::string number(double value) { return quern::detail::amount_words(value); }
/// Differences of times that were read one after the other may be a little below 0.
std::string share(double part) { return fmt::format("{:.1f} %", 100 * std::max(part, 0.0)); }
std::string memory(std::uint64_t bytes) {
    return quern::detail::bytes_words(static_cast<double>(bytes), quern::detail::precision::three);
}
std::string mean_task(const top_rates& rates) {
    return rates.ns_per_task ? quern::detail::duration_words(*rates.ns_per_task) : "-";
}

std::string duration(double seconds) {
    const auto whole = static_cast<std::uint64_t>(seconds);
    if (whole < 60) {
        return fmt::format("{:.1f} s", seconds);
    }
    return whole < 3600 ? fmt::format("{}:{:02} min", whole / 60, whole % 60)
                        : fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

void add_sites(std::vector<std::string>& lines, const std::vector<top_site>& sites) {
    if (sites.empty()) {
        return;
    }
    lines.emplace_back();
    lines.push_back(fmt::format("{:>6}  {}", "time", "tasks"));
    for (std::size_t i = 0; i < std::min(sites.size(), k_most_sites); ++i) {
        lines.push_back(fmt::format("{:>7}  {}", share(sites[i].share),
                                    what_runs(sites[i].name, sites[i].place)));
    }
    if (sites.size() > k_most_sites) {
        lines.push_back(fmt::format("{:>7}  {} further", "", sites.size() - k_most_sites));
    }
}

void add_decisions(std::vector<std::string>& lines, const std::vector<top_decision>& decisions) {
    if (decisions.empty()) {
        return;
    }
    lines.emplace_back();
    lines.push_back(fmt::format("{:>8}  {}", "at", "decisions"));
    for (const top_decision& each : decisions) {
        lines.push_back(
            fmt::format("{:>8}  {}", quern::detail::duration_words(each.time_ns), each.text));
    }
}

void fit(std::vector<std::string>& lines, std::size_t width) {
    for (std::string& line : lines) {
        // A name of a task can be any text.
        line = fmt::format("{:.{}}", quern::detail::one_line(line, k_longest),
                           std::max(width, k_narrowest));  // cuts no character
        line.erase(line.find_last_not_of(' ') + 1);
    }
}

std::vector<std::string> lines_of(const top_frame& frame, std::size_t width) {
    std::vector<std::string> lines{heading(frame)};
    for (const top_pool& pool : frame.pools) {
        lines.emplace_back();
        lines.push_back(about(pool));
        lines.push_back(
            fmt::format("{:>6}  {:<8} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}  {}",
                        "worker", "state", "tasks/s", "mean task", "parts/s", "overhead", "blocked",
                        "lost", "idle", "queued", "stolen/s", "runs"));
        for (const top_worker& worker : pool.workers) {
            lines.push_back(row(std::to_string(worker.rank), worker.phase, worker.rates,
                                number(static_cast<double>(worker.queued)), worker.runs));
        }
        if (pool.workers.size() > 1) {
            lines.push_back(
                row("all", "", pool.rates, number(static_cast<double>(pool.queued)), ""));
        }
    }
    add_sites(lines, frame.sites);
    add_decisions(lines, frame.decisions);
    fit(lines, width);
    return lines;
}

}  // namespace quern::tool
