// SPDX-License-Identifier: BSL-1.0
// Answers about counters: which there are, and what they say. Read without any lock, for a counter
// may be the program's own function; a runtime that ends meanwhile waits for its readers, and a set
// that outlives it says so.
#include "core/derived.hpp"
#include "core/tables.hpp"
#include "live/answers.hpp"
#include "print/openmetrics.hpp"
#include "print/printer.hpp"

#include <quern/scheduler/detail/periodic_call.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace quern::detail {

namespace {

using counters::counter_set;
using counters::detail::name_of;

/// Calls f(pattern) for each of those that ';' separates; for one that matches all where there is
/// none.
template <class F>
void for_each_pattern(std::string_view patterns, F&& f) {
    const std::vector<std::string> all = counters::detail::patterns_of(patterns);
    if (all.empty()) {
        throw std::invalid_argument(
            "quern: a counter must be named, with * and ? where several are meant");
    }
    for (const std::string& each : all) {
        f(each);
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

void add_value(json& out, const counters::counter_value& value) {
    out.open('{').fields("name", value.name, "kind", name_of(value.kind), "unit", value.unit);
    if (value.ok()) {
        out.field("value", value.value);
    } else {
        out.fields("state", name_of(value.state), "why", value.why);
    }
    out.close();
}

std::string answer_with(live_sets& sets, bool reset) {
    json out = begin_answer();
    out.open('[', "runtimes");
    for (auto& [runtime, set] : sets.of_runtimes) {
        const off_the_clock at_the_program(set.calls_program());
        const counters::snapshot seen = set.evaluate(reset);
        out.open('{').field("time_s", seen.time_s).open('[', "values");
        for (const counters::counter_value& value : seen.values) {
            add_value(out, value);
        }
        out.close().close();
    }
    return out.take();
}

void add_info(json& out, const std::string& name, const counters::counter_info& info) {
    out.open('{').fields("name", name, "kind", name_of(info.kind), "unit", info.unit, "help",
                         info.help);
    out.close();
}

/// What belongs to the process stands only with the first runtime, so that sums are right.
void add_all_counters(counter_set& to, bool is_first) {
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

void add_totals(counters::detail::openmetrics& to) {
    std::vector<counters::snapshot> all;
    for (const auto& each : counters::detail::all_living()) {
        try {
            counter_set set(*each->which(), counters::baseline::start);
            add_all_counters(set, all.empty());
            const off_the_clock at_the_program(set.calls_program());
            all.push_back(set.evaluate());
        } catch (const std::logic_error&) {
            continue;  // it has ended meanwhile
        }
    }
    to.add(all);
}

/// Without a pattern every kind of counter once, else the counters that match, of all runtimes.
std::string live_answers::list(std::string_view patterns) {
    json out = begin_answer();
    out.open('[', "counters");
    const auto add_all = [&out](const std::vector<counters::counter_info>& infos) {
        for (const counters::counter_info& each : infos) {
            add_info(out, each.name, each);
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
                    add_info(out, found.name, found.info());
                }
            }
        });
    }
    return out.take();
}

/// With `reset` the next answer counts from this one; else all count from the start.
std::string live_answers::values(std::string_view patterns, live_sets& kept, bool reset) {
    renew(kept, patterns);
    return answer_with(kept, reset);
}

}  // namespace quern::detail
