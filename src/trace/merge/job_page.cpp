// SPDX-License-Identifier: BSL-1.0
// The page of a job: the workers of all ranks over time with the messages between them, once as a
// whole and once from near, and tables of messages and clocks. Without scripts.
#include <quern/trace/merge.hpp>

#include "analyse/words.hpp"
#include "merge/picture.hpp"
#include "page/page_parts.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <ostream>
#include <string>
#include <utility>

namespace quern::trace {

namespace {

using namespace detail;

constexpr int k_left = 190;  ///< pixels, for names
constexpr int k_lane = 24;
constexpr int k_between_ranks = 10;
constexpr std::size_t k_most_lanes = 64;
constexpr std::size_t k_most_arrows = 2000;
constexpr std::size_t k_arrows_near = 60;
/// As in page/data.js.
constexpr const char* k_colours[] = {"#0072b2", "#e69f00", "#009e73",
                                     "#cc79a7", "#56b4e9", "#f0e442"};
constexpr const char* k_other_colour = "#8a919a";
constexpr const char* k_arrow_colour = "#d55e00";

std::string escaped_text(std::string_view text) {
    std::string out;
    for (const char c : clean_text(text, 200)) {
        out += c == '<'   ? "&lt;"
               : c == '>' ? "&gt;"
               : c == '&' ? "&amp;"
               : c == '"' ? "&quot;"
                          : std::string(1, c);
    }
    return out;
}

using colours_by_kind = std::map<std::string, const char*>;

/// Of the kinds of tasks with the most time.
colours_by_kind colours_of(const picture& whole) {
    std::vector<std::uint32_t> order(whole.kinds.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return whole.time_of_kind[a] > whole.time_of_kind[b];
    });
    colours_by_kind made;
    for (std::size_t i = 0; i < std::min(order.size(), std::size(k_colours)); ++i) {
        made[whole.kinds[order[i]]] = k_colours[i];
    }
    return made;
}

class picture_drawing {
public:
    /// `marker`: a name for the heads of arrows, another in each picture of a page.
    picture_drawing(const picture& of, const colours_by_kind& colours, const char* marker,
                    std::ostream& to)
        : m_of(of), m_colours(colours), m_marker(marker), m_to(to) {
        choose_colours();
        place_lanes();
    }

    void draw(const std::string& title) {
        m_to << "<svg viewBox=\"0 0 " << k_left + k_picture_columns << ' ' << m_height + 20
             << "\" role=\"img\" aria-label=\"" << escaped_text(title)
             << "\" style=\"width:100%;font-size:12px\">\n"
             << "<defs><marker id=\"" << m_marker
             << "\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"6\" markerHeight=\"6\" "
                "orient=\"auto\"><path d=\"M0,0L6,3L0,6z\" fill=\""
             << k_arrow_colour << "\"/></marker></defs>\n";
        for (const auto& [track, y] : m_place) {
            draw_lane(m_of.lanes.at(track), y);
        }
        draw_arrows();
        m_to << "<text x=\"" << k_left << "\" y=\"" << m_height + 14 << "\" fill=\"currentColor\">"
             << time_words(m_of.from_ns) << "</text><text x=\"" << k_left + k_picture_columns
             << "\" y=\"" << m_height + 14 << "\" text-anchor=\"end\" fill=\"currentColor\">"
             << time_words(m_of.to_ns) << "</text>\n</svg>\n";
        draw_legend();
        if (m_of.lanes.size() > m_place.size()) {
            m_to << "<p class=\"soft\">The first " << m_place.size() << " of " << m_of.lanes.size()
                 << " lanes are drawn.</p>\n";
        }
        if (m_step > 1) {
            m_to << "<p class=\"soft\">One in " << m_step << " of "
                 << count_words(m_of.arrows.size(), "message") << " is drawn.</p>\n";
        }
    }

private:
    static std::string time_words(std::uint64_t ns) {
        return duration_words(static_cast<double>(ns));
    }

    void choose_colours() {
        m_colour.assign(m_of.kinds.size(), k_other_colour);
        for (std::uint32_t i = 0; i < m_of.kinds.size(); ++i) {
            const auto known = m_colours.find(m_of.kinds[i]);
            const bool is_seen = m_of.time_of_kind[i] > 0;
            if (known != m_colours.end()) {
                m_colour[i] = known->second;
            }
            if (known != m_colours.end() && is_seen) {
                m_named.push_back(i);
            }
            m_has_others = m_has_others || (known == m_colours.end() && is_seen);
        }
    }

    /// Lanes of one process stand together, since their tracks follow its own.
    void place_lanes() {
        std::uint64_t process = 0;
        for (const auto& [track, lane] : m_of.lanes) {
            if (m_place.size() == k_most_lanes) {
                break;
            }
            m_height += lane.process != process ? k_between_ranks : 0;
            process = lane.process;
            m_place[track] = m_height;
            m_height += k_lane;
        }
    }

    void draw_lane(const picture_lane& lane, int y) {
        const auto process = m_of.processes.find(lane.process);
        m_to << "<text x=\"0\" y=\"" << y + 15 << "\" fill=\"currentColor\">"
             << escaped_text((process != m_of.processes.end()
                                  ? process->second.substr(0, process->second.find(':')) + ", "
                                  : "") +
                             lane.name)
             << "</text><rect x=\"" << k_left << "\" y=\"" << y << "\" width=\""
             << k_picture_columns << "\" height=\"" << k_lane - 4 << "\" fill=\"var(--idle)\"/>\n";
        std::size_t begin = 0;
        std::pair<const char*, int> shown{nullptr, 0};
        for (std::size_t i = 0; i <= lane.busy.size(); ++i) {
            const auto now =
                i < lane.busy.size() ? look_of(lane.busy[i]) : std::pair<const char*, int>{};
            if (now != shown || i == lane.busy.size()) {
                if (shown.second > 0) {
                    m_to << "<rect x=\"" << k_left + begin << "\" y=\""
                         << y + k_lane - 4 - shown.second << "\" width=\"" << i - begin
                         << "\" height=\"" << shown.second << "\" fill=\"" << shown.first << "\"/>";
                }
                begin = i;
                shown = now;
            }
        }
        m_to << '\n';
    }

    /// The colour of the kind with the most time, and how high all together are.
    std::pair<const char*, int> look_of(
        const std::vector<std::pair<std::uint32_t, double>>& busy) const {
        if (busy.empty()) {
            return {nullptr, 0};
        }
        const auto most =
            std::max_element(busy.begin(), busy.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        double all = 0;
        for (const auto& each : busy) {
            all += each.second;
        }
        constexpr double k_high = k_lane - 4;
        return {m_colour[most->first], std::max(1, static_cast<int>(std::min(all, 1.0) * k_high))};
    }

    double x_of(std::uint64_t at_ns) const {
        return k_left + double{k_picture_columns} *
                            (static_cast<double>(at_ns) - static_cast<double>(m_of.from_ns)) /
                            std::max(1.0, static_cast<double>(m_of.to_ns - m_of.from_ns));
    }

    void draw_arrows() {
        m_step = (m_of.arrows.size() + k_most_arrows - 1) / k_most_arrows;
        const bool is_near = m_of.arrows.size() <= 2 * k_arrows_near;
        m_to << "<g stroke=\"" << k_arrow_colour << "\" stroke-width=\""
             << (is_near ? "1.2" : "0.6") << "\" opacity=\"" << (is_near ? "0.9" : "0.45")
             << "\">\n";
        for (std::size_t i = 0; i < m_of.arrows.size(); i += std::max<std::size_t>(m_step, 1)) {
            const picture_arrow& a = m_of.arrows[i];
            const auto from = m_place.find(a.from_lane);
            const auto to = m_place.find(a.to_lane);
            if (from == m_place.end() || to == m_place.end()) {
                continue;
            }
            const bool is_down = to->second > from->second;
            m_to << "<line x1=\"" << fixed(x_of(a.from_ns), 1) << "\" y1=\""
                 << from->second + (is_down ? k_lane - 4 : 0) << "\" x2=\""
                 << fixed(std::min(x_of(a.to_ns), double{k_left + k_picture_columns}), 1)
                 << "\" y2=\"" << to->second + (is_down ? 0 : k_lane - 4) << "\" marker-end=\"url(#"
                 << m_marker << ")\"/>\n";
        }
        m_to << "</g>\n";
    }

    void draw_legend() {
        m_to << "<ul class=\"legend\">";
        const auto item = [&](const char* colour, const std::string& words) {
            m_to << "<li><span class=\"swatch\" style=\"background:" << colour << "\"></span>"
                 << escaped_text(words) << "</li>";
        };
        for (const std::uint32_t each : m_named) {
            item(m_colour[each], m_of.kinds[each].empty() ? "(no name)" : m_of.kinds[each]);
        }
        if (m_has_others) {
            item(k_other_colour, "other tasks");
        }
        item("var(--idle)", "no task");
        item(k_arrow_colour, "message");
        m_to << "</ul>\n";
    }

    const picture& m_of;
    const colours_by_kind& m_colours;
    const char* m_marker;
    std::ostream& m_to;
    std::vector<const char*> m_colour;  ///< of kinds
    std::vector<std::uint32_t> m_named;
    bool m_has_others = false;
    std::map<std::uint64_t, int> m_place;  ///< of lanes
    int m_height = 0;
    std::size_t m_step = 1;
};

/// A stretch of the run with so few messages that each can be seen. Of all such stretches half are
/// longer: neither a burst nor a pause.
std::pair<std::uint64_t, std::uint64_t> near_part(const picture& whole) {
    const auto length_from = [&](std::size_t first) {
        return whole.arrows[first + k_arrows_near - 1].from_ns - whole.arrows[first].from_ns;
    };
    std::vector<std::size_t> first(whole.arrows.size() - k_arrows_near + 1);
    std::iota(first.begin(), first.end(), std::size_t{0});
    const auto middle = first.begin() + static_cast<std::ptrdiff_t>(first.size() / 2);
    std::nth_element(first.begin(), middle, first.end(),
                     [&](std::size_t a, std::size_t b) { return length_from(a) < length_from(b); });
    const std::uint64_t begin = whole.arrows[*middle].from_ns;
    const std::uint64_t margin = length_from(*middle) / 20 + 1000;
    return {begin - std::min(margin, begin), begin + length_from(*middle) + margin};
}

void write_rank_table(const merged_traces& what, std::ostream& to) {
    to << "<h2>Ranks</h2>\n<table><thead><tr><th scope=\"col\">rank</th><th scope=\"col\">messages "
          "sent</th><th scope=\"col\">received</th><th scope=\"col\">runtimes</th><th "
          "scope=\"col\">clock behind that of rank 0</th><th scope=\"col\">known to</th>"
          "</tr></thead><tbody>\n";
    for (const merged_rank& each : what.by_rank) {
        const bool is_known = each.rank != 0 && !each.clocks.empty();
        to << "<tr><th scope=\"row\">" << each.rank << "</th><td>" << count_words(each.sent)
           << "</td><td>" << count_words(each.received) << "</td><td>" << each.traces << "</td><td>"
           << (is_known ? fixed(static_cast<double>(each.clocks.front().offset_ns) / 1e3, 2) + " µs"
                        : std::string("–"))
           << "</td><td>"
           << (is_known ? "± " + duration_words(
                                     static_cast<double>(each.clocks.front().round_trip_ns) / 2)
                        : std::string("–"))
           << "</td></tr>\n";
    }
    to << "</tbody></table>\n";
}

void write_unmatched_table(const merged_traces& what, std::ostream& to) {
    if (what.unmatched.empty()) {
        return;
    }
    constexpr std::size_t k_most = 50;
    to << "<h2>Messages without the other end</h2>\n<table><thead><tr><th "
          "scope=\"col\">messages</th><th scope=\"col\">from</th><th scope=\"col\">to</th><th "
          "scope=\"col\">tag</th><th scope=\"col\">known is</th></tr></thead><tbody>\n";
    for (std::size_t i = 0; i < std::min(what.unmatched.size(), k_most); ++i) {
        const unmatched_messages& row = what.unmatched[i];
        to << "<tr><td>" << count_words(row.messages) << "</td><td>" << row.from << "</td><td>"
           << row.to << "</td><td>" << row.tag << "</td><td class=\"words\">"
           << (row.is_sent ? "the sending" : "the receipt") << "</td></tr>\n";
    }
    to << "</tbody></table>\n";
}

}  // namespace

void write_job_page(const std::string& merged, const merged_traces& what, std::ostream& to) {
    const picture whole = read_picture(merged, 0, std::max<std::uint64_t>(what.duration_ns, 1));
    const colours_by_kind colours = colours_of(whole);
    const std::string title =
        count_words(static_cast<std::uint64_t>(what.ranks), "rank") + " of " +
        (what.by_rank.empty() ? std::string("a job") : what.by_rank.front().program);
    to << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'\">\n<title>"
       << escaped_text(title) << "</title>\n<style>\n"
       << k_page_style << "</style>\n</head>\n<body>\n<h1>" << escaped_text(title)
       << "</h1>\n<p class=\"headline\">" << count_words(what.arrows, "message") << " in "
       << duration_words(static_cast<double>(what.duration_ns)) << ": " << count_words(what.sent)
       << " sent, " << count_words(what.received) << " received.</p>\n<h2>The whole run</h2>\n";
    picture_drawing(whole, colours, "a", to)
        .draw("Workers of all ranks over the whole run, and their messages");
    if (whole.arrows.size() > k_arrows_near) {
        const auto [from, until] = near_part(whole);
        to << "<h2>Some of the messages from near</h2>\n";
        const picture close = read_picture(merged, from, until);
        picture_drawing(close, colours, "b", to).draw("A short part of the run, and its messages");
    }
    write_rank_table(what, to);
    write_unmatched_table(what, to);
    to << "</body>\n</html>\n";
}

}  // namespace quern::trace
