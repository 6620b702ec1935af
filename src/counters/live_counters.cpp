// SPDX-License-Identifier: BSL-1.0
// Answers about counters: which there are, and what they say. Read without any lock, for a counter
// may be the program's own function; a runtime that ends meanwhile waits for its readers, and a set
// that outlives it says so.
#include "derived.hpp"
#include "live_answers.hpp"
#include "live_text.hpp"
#include "tables.hpp"

#include <quern/counters/format.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace quern::detail {

namespace {

using counters::counter_set;

std::string_view name_of(counters::counter_kind kind) {
    switch (kind) {
        case counters::counter_kind::sum:
            return "sum";
        case counters::counter_kind::level:
            return "level";
        case counters::counter_kind::ratio:
            return "ratio";
    }
    return "";
}

std::string_view name_of(counters::source_state state) {
    switch (state) {
        case counters::source_state::ok:
            return "ok";
        case counters::source_state::absent:
            return "absent";
        case counters::source_state::denied:
            return "denied";
        case counters::source_state::stuck:
            return "stuck";
    }
    return "";
}

/// Calls f(pattern) for each of those that ';' separates; for one that matches all where there is
/// none.
template <class F>
void for_each_pattern(std::string_view patterns, F&& f) {
    if (patterns.empty()) {
        throw std::invalid_argument(
            "quern: a counter must be named, with * and ? where several are meant");
    }
    while (!patterns.empty()) {
        const std::size_t end = std::min(patterns.find(';'), patterns.size());
        if (end != 0) {
            f(patterns.substr(0, end));
        }
        patterns.remove_prefix(std::min(end + 1, patterns.size()));
    }
}

/// Brings the sets up to date: those of other counters and of runtimes that have ended go, and
/// runtimes that are new get one, which counts from their start.
void renew(live_sets& kept, std::string_view patterns) {
    live_sets before = std::exchange(kept, {});
    for (const auto& each : counters::detail::all_living()) {
        const auto known = std::find_if(before.of_runtimes.begin(), before.of_runtimes.end(),
                                        [&each](const auto& one) { return one.first == each; });
        if (before.patterns == patterns && known != before.of_runtimes.end()) {
            kept.of_runtimes.push_back(std::move(*known));
            continue;
        }
        try {
            counter_set set(*each->which(), counters::baseline::start);
            for_each_pattern(patterns, [&set](std::string_view one) { set.add(one); });
            kept.of_runtimes.emplace_back(each, std::move(set));
        } catch (const std::logic_error& error) {
            if (dynamic_cast<const std::invalid_argument*>(&error) != nullptr) {
                throw;
            }
        }  // else it has ended meanwhile
    }
    kept.patterns = patterns;
}

void add_value(json_line& json, const counters::counter_value& value) {
    json.open('{').text("name", value.name).text("kind", name_of(value.kind));
    json.text("unit", value.unit);
    if (value.ok()) {
        json.number("value", value.value);
    } else {
        json.text("state", name_of(value.state)).text("why", value.why);
    }
    json.close('}');
}

std::string answer_with(live_sets& sets, bool reset) {
    json_line json = begin_answer();
    json.open('[', "runtimes");
    for (auto& [runtime, set] : sets.of_runtimes) {
        const counters::snapshot seen = set.evaluate(reset);
        json.open('{').number("time_s", seen.time_s).open('[', "values");
        for (const counters::counter_value& value : seen.values) {
            add_value(json, value);
        }
        json.close(']').close('}');
    }
    json.close(']');
    return finish(json);
}

void add_info(json_line& json, const std::string& name, const counters::counter_info& info) {
    json.open('{').text("name", name).text("kind", name_of(info.kind));
    json.text("unit", info.unit).text("help", info.help).close('}');
}

/// What belongs to the process stands with the first runtime alone, so that sums are right.
void add_totals(counter_set& to, bool is_first) {
    for (const auto& from : counters::detail::all_sources()) {
        for (const counters::counter_info& info : from->counters()) {
            try {
                if (is_first || from->has_workers()) {
                    to.add(info.name);
                }
            } catch (const std::invalid_argument&) {
                continue;  // it has been removed meanwhile
            }
        }
    }
}

}  // namespace

std::string totals_as_metrics() {
    std::vector<counters::snapshot> all;
    for (const auto& each : counters::detail::all_living()) {
        try {
            counter_set set(*each->which(), counters::baseline::start);
            add_totals(set, all.empty());
            all.push_back(set.evaluate());
        } catch (const std::logic_error&) {
            continue;  // it has ended meanwhile
        }
    }
    return counters::as_openmetrics(all);
}

/// Without a pattern every kind of counter once, else the counters that match, of all runtimes.
std::string live_answers::list(std::string_view patterns) {
    json_line json = begin_answer();
    json.open('[', "counters");
    const auto add_all = [&json](const std::vector<counters::counter_info>& infos) {
        for (const counters::counter_info& each : infos) {
            add_info(json, each.name, each);
        }
    };
    if (patterns.empty()) {
        add_all(counters::all_counters());
        add_all(counters::detail::describe_derived());
    } else {
        for_each_pattern(patterns, [&](std::string_view one) {
            if (counters::detail::names_derived(one)) {
                return add_all(counters::detail::describe_derived(one));
            }
            for (const auto& each : counters::detail::all_living()) {
                for (const auto& found : counters::detail::find(one, *each)) {
                    add_info(json, found.name, found.info());
                }
            }
        });
    }
    json.close(']');
    return finish(json);
}

/// With `reset` the next answer counts from this one; else all count from the start.
std::string live_answers::values(std::string_view patterns, live_sets& kept, bool reset) {
    renew(kept, patterns);
    return answer_with(kept, reset);
}

}  // namespace quern::detail
