// SPDX-License-Identifier: BSL-1.0
// Samples, power, and the frames made of them.
#include "top/watch.hpp"

#include "live/program.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace quern::tool {

namespace {

/// Why power is unknown, in a few words: the error for a file that may not be read, else what is
/// missing.
std::string in_short(const json_value& value) {
    const std::string why = value.value("why", "");
    const bool is_denied = value.value("state", "") == "denied";
    const std::size_t colon = is_denied ? why.rfind(": ") : why.find(": ");
    return colon == std::string::npos ? why
           : is_denied                ? why.substr(colon + 2)
                                      : why.substr(0, colon);
}

}  // namespace

top_watch::top_watch(pid_t program)
    : m_program(program), m_with(program), m_before(ask_program(m_with, program, "snapshot")) {
    top_frame unused;
    take_power(unused);  // counts from now
}

void top_watch::count(const json_value& snapshot) {
    for (const json_value& runtime : items_of(snapshot, "runtimes")) {
        for (const json_value& pool : items_of(runtime, "pools")) {
            for (const json_value& worker : items_of(pool, "workers")) {
                ++m_samples;
                if (has(worker, "task") || has(worker, "place")) {
                    ++m_seen[{worker.value("task", ""), worker.value("place", "")}];
                }
            }
        }
    }
}

void top_watch::look() { count(ask_program(m_with, m_program, "snapshot")); }

top_frame top_watch::frame() {
    json_value now = ask_program(m_with, m_program, "snapshot");
    count(now);
    top_frame made = make_frame(m_before, now);
    m_before = std::move(now);
    take_sites(made);
    take_power(made);
    take_decisions(made);
    return made;
}

void top_watch::take_sites(top_frame& into) {
    for (const auto& [site, times] : m_seen) {
        into.sites.push_back({site.first, site.second, static_cast<double>(times) / m_samples});
    }
    std::stable_sort(into.sites.begin(), into.sites.end(),
                     [](const top_site& a, const top_site& b) { return a.share > b.share; });
    m_seen.clear();
    m_samples = 0;
}

/// Power is the machine's, so any runtime's value will do.
void top_watch::take_power(top_frame& into) try {
    const json_value answer = ask_program(m_with, m_program, "since /power/package");
    for (const json_value& runtime : items_of(answer, "runtimes")) {
        const json_value& energy = items_of(runtime, "values").at(0);
        const double now_s = runtime.value("time_s", 0.0);
        const double seconds = now_s - std::exchange(m_power_read_s, now_s);
        if (has(energy, "value") && seconds > 0) {
            into.watts = energy.value("value", 0.0) / seconds;
        }
        into.no_power = has(energy, "value") ? "" : in_short(energy);
        return;
    }
    into.no_power = "no runtime";
} catch (const counters::program_ended&) {
    throw;
} catch (const counters::cannot_ask&) {
    into.no_power = "the program does not know it";
}

/// A program without adaptation, or of an older version, refuses the question.
void top_watch::take_decisions(top_frame& into) try {
    const json_value answer = ask_program(m_with, m_program, "newest-decisions");
    for (const json_value& each : items_of(answer, "decisions")) {
        into.decisions.push_back({each.value("time_ns", 0.0), each.value("text", "")});
    }
} catch (const counters::program_ended&) {
    throw;
} catch (const counters::cannot_ask&) {
    into.decisions.clear();
}

std::vector<std::string> top_program::lines(top_order order, std::size_t width) const {
    if (!m_frame) {
        return {};
    }
    top_frame shown = *m_frame;
    sort_workers(shown, order);
    return lines_of(shown, width);
}

std::string top_program::as_json() const { return m_frame ? frame_as_json(*m_frame) : "{}\n"; }

}  // namespace quern::tool
