// SPDX-License-Identifier: BSL-1.0
// One function for each part of the page. What is cut is counted, and the page says so
// ("left_out").
#include "page_data.hpp"

#include "concurrency.hpp"
#include "json.hpp"
#include "page_lanes.hpp"
#include "page_sites.hpp"
#include "page_waits.hpp"
#include "words.hpp"

#include <quern/trace/critical_path.hpp>
#include <quern/trace/page.hpp>

#include <algorithm>
#include <vector>

namespace quern::trace::detail {

namespace {

constexpr std::size_t k_most_series = 48;
constexpr std::size_t k_most_faults = 8;
constexpr std::size_t k_most_decisions = 1000;
constexpr std::size_t k_most_edges = 2000;
constexpr std::size_t k_most_settings = 200;

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
    void write_decisions();
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
    m_out.field("program", m_run.program)
        .field("started", m_run.started)
        .field("machine", m_run.machine)
        .field("duration", m_run.duration_ns)
        .field("overhead", m_run.overhead_ns_per_task)
        .field("critical", m_run.critical_path_ns)
        .field("parallelism", parallelism_of(m_run));
    m_out.key("command").text(m_run.command_line, 4000);
    m_out.key("settings").open('[');
    left_out(m_run.settings.size(), k_most_settings, "settings");
    for (std::size_t i = 0; i < std::min(m_run.settings.size(), k_most_settings); ++i) {
        m_out.open('[').text(m_run.settings[i].first).text(m_run.settings[i].second).close(']');
    }
    m_out.close(']');
}

void page_writer::write_efficiency(const efficiency& what) {
    constexpr const char* k_names[] = {"none", "overhead", "starvation", "blocked", "inflation"};
    m_out.key("efficiency").open('{');
    m_out.field("total", what.total_ns).field("work", what.work_ns);
    m_out.field("overhead", what.overhead_ns).field("starvation", what.starvation_ns);
    if (what.blocked_ns) {
        m_out.field("blocked", *what.blocked_ns);
    }
    if (what.inflation_ns) {
        m_out.field("inflation", *what.inflation_ns);
    }
    m_out.field("largest", k_names[static_cast<int>(what.largest)]);
    m_out.close('}');
}

void page_writer::write_site(const site& one) {
    const one_core_time* const alone = m_one_core.find(one);
    m_out.open('{').field("name", one.name).field("place", one.location);
    m_out.field("tasks", one.tasks).field("phases", one.phases);
    m_out.field("suspensions", one.suspensions).field("inlined", one.inlined);
    m_out.field("stolen", one.stolen).field("total", one.total_ns).field("mean", one.mean_ns());
    m_out.field("waited", one.waited_ns).field("critical", one.critical_ns);
    m_out.field("blocked", one.blocked_ns);
    m_out.field("min", one.min_ns).field("max", one.max_ns).field("stddev", one.stddev_ns);
    if (alone != nullptr) {
        m_out.field("alone", alone->mean_ns);
    }
    m_out.key("events").open('[');
    for (const double count : one.events) {
        m_out.number(count);
    }
    m_out.close(']').key("histogram").open('[');
    for (const std::uint64_t count : one.histogram) {
        m_out.number(static_cast<double>(count));
    }
    m_out.close(']').close('}');
}

void page_writer::write_sites() {
    m_out.key("sites").open('[');
    for (const site& one : m_sites.shown()) {
        write_site(one);
    }
    m_out.close(']');
    if (m_sites.folded() != 0) {
        left_out(m_run.sites.size(), k_sites_shown, "sites one by one");
    }
}

void page_writer::write_events() {
    m_out.key("events").open('[');
    for (const counted_event& each : m_run.events) {
        m_out.open('{').field("name", each.name).field("unit", each.unit);
        m_out.field("why", each.why).field("counted", each.counted).close('}');
    }
    m_out.close(']');
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
    m_out.key("concurrency").open('[');
    for (std::size_t row = 0; row < rows; ++row) {
        m_out.open('[');
        for (std::size_t i = 0; i < k_steps; ++i) {
            const double mean = width > 0.0 ? busy[i * rows + row] / width : 0.0;
            m_out.number(std::round(mean * 1000.0) / 1000.0);
        }
        m_out.close(']');
    }
    m_out.close(']');
}

/// The least and the largest value of equal parts of the points, so that no peak is lost.
void page_writer::write_series(const series& one) {
    constexpr std::size_t k_parts = 300;
    const std::size_t step = std::max<std::size_t>(1, (one.points.size() + k_parts - 1) / k_parts);
    m_out.open('{').field("name", one.name).field("unit", one.unit).key("points").open('[');
    const auto put = [this](const std::pair<std::uint64_t, double>& point) {
        m_out.number(static_cast<double>(point.first)).number(point.second);
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
    m_out.close(']').close('}');
}

void page_writer::write_counters() {
    m_out.key("counters").open('[');
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
    m_out.close(']');
    if (faults > k_most_faults) {
        m_left_out.push_back(count_words(faults - k_most_faults, "further counter") +
                             " could not be read.");
    }
    left_out(drawn, std::min(drawn, k_most_series), "counters");
}

void page_writer::write_tree() {
    m_out.key("tree").open('[');
    std::vector<spawn_count> edges = m_run.tree;
    std::stable_sort(edges.begin(), edges.end(),
                     [](const spawn_count& a, const spawn_count& b) { return a.tasks > b.tasks; });
    const std::size_t shown = std::min(edges.size(), k_most_edges);
    for (std::size_t i = 0; i < shown; ++i) {
        m_out.open('[')
            .number(m_sites.place(edges[i].parent))
            .number(m_sites.place(edges[i].child));
        m_out.number(static_cast<double>(edges[i].tasks)).close(']');
    }
    m_out.close(']');
    left_out(edges.size(), shown, "pairs of sites in the task tree");
    m_out.key("dot").text(write_dot(m_run), 1'000'000);
}

void page_writer::write_decisions() {
    m_out.key("decisions").open('[');
    const std::size_t shown = std::min(m_run.decisions.size(), k_most_decisions);
    for (std::size_t i = 0; i < shown; ++i) {
        const decision& one = m_run.decisions[i];
        m_out.open('[').number(static_cast<double>(one.at_ns));
        m_out.text(one.who).text(one.what).close(']');
    }
    m_out.close(']');
    left_out(m_run.decisions.size(), shown, "decisions");
}

std::string page_writer::write(const efficiency& what, std::size_t characters) {
    m_out.open('{');
    write_head();
    write_efficiency(what);
    write_sites();
    write_events();
    write_concurrency();
    write_counters();
    write_tree();
    write_decisions();
    write_waits(m_out, m_run, m_sites);
    left_out(m_run.waits.size(), k_waits_shown, "rows of waits");
    write_lanes(m_out, m_run, m_sites, characters);
    m_out.key("left_out").open('[');
    for (const std::string& words : m_left_out) {
        m_out.text(words);
    }
    m_out.close(']').close('}');
    return std::move(m_out.str());
}

}  // namespace

std::string page_data(const recording& run, const efficiency& what, const calibration& one_core,
                      std::size_t characters) {
    return page_writer(run, one_core).write(what, characters);
}

}  // namespace quern::trace::detail
