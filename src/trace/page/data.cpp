// SPDX-License-Identifier: BSL-1.0
// One function for each part of the page. What is cut is counted, and the page says so
// ("left_out").
#include "page/data.hpp"

#include "analyse/chosen_decisions.hpp"
#include "analyse/communication.hpp"
#include "analyse/concurrency.hpp"
#include "analyse/sites.hpp"
#include "analyse/wait_words.hpp"
#include "page/graph.hpp"

#include <quern/trace/critical_path.hpp>
#include <quern/trace/page.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace quern::trace::detail {

namespace {

constexpr std::size_t k_most_series = 48;
constexpr std::size_t k_most_faults = 8;
constexpr std::size_t k_most_decisions = 1000;
constexpr std::size_t k_most_edges = 2000;
constexpr std::size_t k_most_settings = 200;
constexpr std::size_t k_longest_text = 500;  // bytes

class page_writer {
public:
    page_writer(const recording& run, const calibration& one_core)
        : m_run(run), m_one_core(one_core), m_sites(run) {}

    std::string write(const efficiency& what, std::size_t characters);

private:
    void write_head();
    void write_efficiency(const efficiency& what);
    void write_sites();
    void write_site(const site& one);
    void write_events();
    void write_concurrency();
    void write_counters();
    void write_series(const series& one);
    void write_tree();
    void write_change(const value_change& change);
    void write_decisions();
    void write_waits();
    void left_out(std::size_t there, std::size_t shown, const char* what);

    const recording& m_run;
    const calibration& m_one_core;
    page_sites m_sites;
    json m_out;
    std::vector<std::string> m_left_out;
};

void page_writer::left_out(std::size_t there, std::size_t shown, const char* what) {
    if (there > shown) {
        m_left_out.push_back("The page shows " + count_words(shown) + " of " + count_words(there) +
                             " " + what + ".");
    }
}

void page_writer::write_head() {
    m_out.fields("program", m_run.program, "started", m_run.started, "machine", m_run.machine,
                 "duration", m_run.duration_ns, "overhead", m_run.overhead_ns_per_task, "critical",
                 m_run.critical_path_ns, "parallelism", parallelism_of(m_run));
    m_out.longest(4000).field("command", m_run.command_line).longest(k_longest_text);
    if (m_run.talk) {
        m_out.open('{', "talk")
            .fields("sent", m_run.talk->sent, "received", m_run.talk->received, "bytes",
                    m_run.talk->bytes, "words", communication_words(*m_run.talk));
        m_out.close();
    }
    m_out.open('[', "settings");
    left_out(m_run.settings.size(), k_most_settings, "settings");
    for (std::size_t i = 0; i < std::min(m_run.settings.size(), k_most_settings); ++i) {
        const auto& [name, value] = m_run.settings[i];
        m_out.open('[').item(name).item(value).close();
    }
    m_out.close();
}

void page_writer::write_efficiency(const efficiency& what) {
    constexpr const char* k_names[] = {"none", "overhead", "starvation", "blocked", "inflation"};
    m_out.open('{', "efficiency");
    m_out.fields("total", what.total_ns, "work", what.work_ns, "overhead", what.overhead_ns,
                 "starvation", what.starvation_ns, "blocked", what.blocked_ns, "inflation",
                 what.inflation_ns, "lost", what.lost_ns, "largest",
                 k_names[static_cast<int>(what.largest)]);
    m_out.close();
}

void page_writer::write_site(const site& one) {
    const one_core_time* const alone = m_one_core.find(one);
    m_out.open('{').fields("name", one.name, "place", one.location, "tasks", one.tasks, "phases",
                           one.phases, "suspensions", one.suspensions, "inlined", one.inlined,
                           "stolen", one.stolen, "total", one.total_ns, "mean", one.mean_ns(),
                           "waited", one.waited_ns, "critical", one.critical_ns, "blocked",
                           one.blocked_ns, "lost", one.lost_ns, "lost_error", one.lost_error_ns,
                           "min", one.min_ns, "max", one.max_ns, "stddev", one.stddev_ns);
    if (alone != nullptr) {
        m_out.field("alone", alone->mean_ns);
    }
    m_out.list("events", one.events).list("histogram", one.histogram).close();
}

void page_writer::write_sites() {
    m_out.open('[', "sites");
    for (const site& one : m_sites.shown()) {
        write_site(one);
    }
    m_out.close();
    if (m_sites.folded() != 0) {
        left_out(m_run.sites.size(), k_sites_shown, "sites one by one");
    }
}

void page_writer::write_events() {
    m_out.open('[', "events");
    for (const counted_event& each : m_run.events) {
        m_out.open('{').fields("name", each.name, "unit", each.unit, "why", each.why, "counted",
                               each.counted);
        m_out.close();
    }
    m_out.close();
}

/// How many tasks of each of the first sites ran at a time; the last row is that of all others.
void page_writer::write_concurrency() {
    constexpr std::size_t k_steps = 400;
    constexpr std::size_t k_rows = 6;  // as many as there are colours (page/data.js)
    const std::size_t rows = std::min(k_rows, m_sites.shown().size()) + 1;
    std::vector<double> busy(k_steps * rows, 0.0);
    for (const lane& one : m_run.lanes) {
        for (const slice& piece : one.slices) {
            const std::size_t row = std::min<std::size_t>(m_sites.place(piece.site), rows - 1);
            spread(std::span(busy).subspan(row), rows, m_run.duration_ns, piece.begin_ns,
                   piece.end_ns);
        }
    }
    const double width = static_cast<double>(m_run.duration_ns) / static_cast<double>(k_steps);
    m_out.open('[', "concurrency");
    for (std::size_t row = 0; row < rows; ++row) {
        m_out.open('[');
        for (std::size_t i = 0; i < k_steps; ++i) {
            const double mean = width > 0.0 ? busy[i * rows + row] / width : 0.0;
            m_out.item(std::round(mean * 1000.0) / 1000.0);
        }
        m_out.close();
    }
    m_out.close();
}

/// The least and the largest value of equal parts of the points, so that no peak is lost.
void page_writer::write_series(const series& one) {
    constexpr std::size_t k_parts = 300;
    const std::size_t step = std::max<std::size_t>(1, (one.points.size() + k_parts - 1) / k_parts);
    m_out.open('{').fields("name", one.name, "unit", one.unit).open('[', "points");
    const auto put = [this](const std::pair<std::uint64_t, double>& point) {
        m_out.item(point.first).item(point.second);
    };
    for (std::size_t i = 0; i < one.points.size(); i += step) {
        const auto begin = one.points.begin() + static_cast<std::ptrdiff_t>(i);
        const auto end = begin + static_cast<std::ptrdiff_t>(std::min(step, one.points.size() - i));
        auto [low, high] = std::minmax_element(
            begin, end, [](const auto& a, const auto& b) { return a.second < b.second; });
        if (high < low) {
            std::swap(low, high);
        }
        put(*low);
        if (low != high) {
            put(*high);
        }
    }
    m_out.close().close();
}

void page_writer::write_counters() {
    m_out.open('[', "counters");
    std::size_t drawn = 0;
    std::size_t faults = 0;
    for (const series& each : m_run.counters) {
        if (!each.why.empty()) {
            if (++faults <= k_most_faults) {
                m_left_out.push_back("The counter " + each.name + " is not drawn: " + each.why +
                                     ".");
            }
        } else if (++drawn <= k_most_series) {
            write_series(each);
        }
    }
    m_out.close();
    if (faults > k_most_faults) {
        m_left_out.push_back(count_words(faults - k_most_faults, "further counter") +
                             " could not be read.");
    }
    left_out(drawn, std::min(drawn, k_most_series), "counters");
}

void page_writer::write_tree() {
    m_out.open('[', "tree");
    std::vector<spawn_count> edges = m_run.tree;
    std::stable_sort(edges.begin(), edges.end(),
                     [](const spawn_count& a, const spawn_count& b) { return a.tasks > b.tasks; });
    const std::size_t shown = std::min(edges.size(), k_most_edges);
    for (std::size_t i = 0; i < shown; ++i) {
        const spawn_count& edge = edges[i];
        m_out.open('[').item(m_sites.place(edge.parent)).item(m_sites.place(edge.child));
        m_out.item(edge.tasks).close();
    }
    m_out.close();
    left_out(edges.size(), shown, "pairs of sites in the task tree");
    m_out.longest(1'000'000).field("dot", write_dot(m_run)).longest(k_longest_text);
}

void page_writer::write_change(const value_change& change) {
    m_out.fields("subject", change.subject, "unit", change.unit, "value", change_words(change),
                 "inputs", change.inputs, "why", change.why, "trial", change.is_trial, "applied",
                 change.applied);
    m_out.open('[', "numbers");
    for (const changed_number& each : change.numbers) {
        m_out.open('[').item(each.name).item(each.before).item(each.after).close();
    }
    m_out.close();
    m_out.field("predicted", change.predicted).field("observed", change.observed);
}

void page_writer::write_decisions() {
    m_out.open('[', "decisions");
    const auto shown = chosen_decisions(m_run, k_most_decisions);
    for (const decision& one : shown) {
        m_out.open('{').fields("at", one.at_ns, "who", one.who, "what", one.what);
        if (one.change) {
            write_change(*one.change);
        }
        m_out.close();
    }
    m_out.close();
    left_out(m_run.decisions.size(), shown.size(), "decisions");
}

/// Rows of waits, each with the lines that have most of its time.
void page_writer::write_waits() {
    constexpr std::size_t k_lines_shown = 5;
    m_out.open('[', "waits");
    for (std::size_t i = 0; i < std::min(m_run.waits.size(), k_waits_shown); ++i) {
        const wait_row& row = m_run.waits[i];
        m_out.open('{').fields("kind", row.kind, "thing", thing_words(row), "lock",
                               row.is_lock && row.thing != 0 ? 1 : 0, "site",
                               m_sites.place(row.site), "waits", row.waits, "total", row.total_ns,
                               "max", row.max_ns);
        m_out.open('[', "lines");
        for (std::size_t j = 0; j < std::min(row.lines.size(), k_lines_shown); ++j) {
            const wait_line& line = row.lines[j];
            m_out.open('[').item(line.function).item(line.location);
            m_out.item(line.waits).item(line.total_ns).close();
        }
        m_out.close().close();
    }
    m_out.close();
    left_out(m_run.waits.size(), k_waits_shown, "rows of waits");
}

std::string page_writer::write(const efficiency& what, std::size_t characters) {
    m_out.longest(k_longest_text).open('{');
    write_head();
    write_efficiency(what);
    write_sites();
    write_events();
    write_concurrency();
    write_counters();
    write_tree();
    write_graph_data(m_out, m_run, m_sites);
    write_decisions();
    write_waits();
    write_lanes(m_out, m_run, m_sites, characters);
    return m_out.list("left_out", m_left_out).take();
}

}  // namespace

std::string page_data(const recording& run, const efficiency& what, const calibration& one_core,
                      std::size_t characters) {
    return page_writer(run, one_core).write(what, characters);
}

}  // namespace quern::trace::detail
