// SPDX-License-Identifier: BSL-1.0
// Answers about counters: which there are, and what they say. Read without any lock, for a counter
// may be the program's own function; a runtime that ends meanwhile waits for its readers, and a set
// that outlives it says so.
#include "live_answers.hpp"
#include "live_text.hpp"
#include "tables.hpp"

#include <stdexcept>

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

/// One for each runtime, counting from its start.
std::vector<counter_set> sets_of(std::string_view patterns) {
    std::vector<counter_set> all;
    for (const auto& each : counters::detail::all_living()) {
        try {
            counter_set set(*each->which(), counters::baseline::start);
            for_each_pattern(patterns, [&set](std::string_view one) { set.add(one); });
            all.push_back(std::move(set));
        } catch (const std::logic_error& error) {
            if (dynamic_cast<const std::invalid_argument*>(&error) != nullptr) {
                throw;
            }
        }  // else it has ended meanwhile
    }
    return all;
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

std::string answer_with(std::vector<counter_set>& sets, bool reset) {
    json_line json = begin_answer();
    json.open('[', "runtimes");
    for (counter_set& set : sets) {
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

}  // namespace

/// Without a pattern every kind of counter once, else the counters that match, of all runtimes.
std::string live_answers::list(std::string_view patterns) {
    json_line json = begin_answer();
    json.open('[', "counters");
    if (patterns.empty()) {
        for (const counters::counter_info& each : counters::all_counters()) {
            add_info(json, each.name, each);
        }
    } else {
        for (const auto& each : counters::detail::all_living()) {
            for_each_pattern(patterns, [&](std::string_view one) {
                for (const auto& found : counters::detail::find(one, *each)) {
                    add_info(json, found.name, found.info());
                }
            });
        }
    }
    json.close(']');
    return finish(json);
}

std::string live_answers::values(std::string_view patterns) {
    std::vector<counter_set> sets = sets_of(patterns);
    return answer_with(sets, false);
}

/// What has been added since the same question on the same connection; at first since the start.
std::string live_answers::values_since(std::string_view patterns, live_session& of) {
    if (of.patterns != patterns || of.sets.empty()) {
        of.sets = sets_of(patterns);
        of.patterns = patterns;
    }
    return answer_with(of.sets, true);
}

}  // namespace quern::detail
