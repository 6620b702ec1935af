// SPDX-License-Identifier: BSL-1.0
// Values of counters as an exposition of OpenMetrics 1.0.0: families with type, unit and help, in
// base units, which their names end with.
#include <quern/counters/format.hpp>

#include "derived.hpp"
#include "tables.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace quern::counters {

namespace {

struct base_unit {
    std::string_view of;    ///< the counter's
    std::string_view name;  ///< empty: it has none that the format knows
    double factor;
};

constexpr base_unit k_units[] = {{"ns", "seconds", 1e-9}, {"us", "seconds", 1e-6},
                                 {"B", "bytes", 1},       {"J", "joules", 1},
                                 {"%", "ratio", 1e-2},    {"0.01 %", "ratio", 1e-4}};
constexpr base_unit k_no_unit{"", "", 1};

const base_unit& unit_of(const counter_value& value) {
    const auto* const found =
        std::find_if(std::begin(k_units), std::end(k_units),
                     [&value](const base_unit& each) { return each.of == value.unit; });
    return found == std::end(k_units) ? k_no_unit : *found;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += c == '\n' ? "\\n" : std::string(1, c);
    }
    return out;
}

/// "/threads{locality#0/total}/time/average" becomes quern_threads_time_average and its instance.
std::pair<std::string, std::string> metric_and_instance(const std::string& name) {
    const std::size_t open = name.find('{');
    const std::size_t close = name.rfind('}');
    const bool has_instance = open != std::string::npos && close != std::string::npos;
    const std::string plain = has_instance ? name.substr(0, open) + name.substr(close + 1) : name;
    std::string metric = "quern";
    for (const char c : plain) {
        const bool is_word =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        metric += is_word ? c : '_';
    }
    return {metric, has_instance ? name.substr(open + 1, close - open - 1) : ""};
}

/// The counter's help; the name itself of one that this process does not know, such as another
/// program's own.
class help_texts {
public:
    help_texts() {
        for (counter_info& each : all_counters()) {
            m_known[each.name] = std::move(each.help);
        }
    }

    std::string of(const std::string& name) const try {
        const counter_name parts = parse_name(name);
        if (detail::is_derived(parts)) {
            return detail::describe_derived(parts.plain()).front().help + ": " + name;
        }
        const auto known = m_known.find(parts.plain());
        return known == m_known.end() || known->second.empty() ? name : known->second;
    } catch (const std::invalid_argument&) {
        return name;
    }

private:
    std::map<std::string, std::string> m_known;
};

std::string labels(const std::string& instance, const std::string& runtime) {
    if (instance.empty() && runtime.empty()) {
        return "";
    }
    return "{" + (runtime.empty() ? "" : "runtime=\"" + runtime + "\"") +
           (instance.empty() || runtime.empty() ? "" : ",") +
           (instance.empty() ? "" : "instance=\"" + escaped(instance) + "\"") + "}";
}

std::string number(double value) {
    char text[32];
    return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

}  // namespace

/// All samples of one family must stand together.
std::string as_openmetrics(std::span<const snapshot> of_runtimes) {
    const help_texts help;
    std::vector<std::string> order;
    std::map<std::string, std::string> families;
    for (std::size_t i = 0; i < of_runtimes.size(); ++i) {
        const std::string runtime = of_runtimes.size() > 1 ? std::to_string(i) : "";
        for (const counter_value& each : of_runtimes[i].values) {
            if (!each.ok()) {
                continue;
            }
            const base_unit& unit = unit_of(each);
            const bool is_sum = each.kind == counter_kind::sum;
            auto [metric, instance] = metric_and_instance(each.name);
            metric.append(unit.name.empty() ? "" : "_").append(unit.name);
            std::string& text = families[metric];
            if (text.empty()) {
                order.push_back(metric);
                text = "# TYPE " + metric + (is_sum ? " counter\n" : " gauge\n");
                text += unit.name.empty()
                            ? ""
                            : "# UNIT " + metric + " " + std::string(unit.name) + "\n";
                text += "# HELP " + metric + " " + escaped(help.of(each.name)) + "\n";
            }
            text += metric + (is_sum ? "_total" : "") + labels(instance, runtime) + " " +
                    number(each.value * unit.factor) + "\n";
        }
    }
    std::string text;
    for (const std::string& metric : order) {
        text += families[metric];
    }
    return text + "# EOF\n";
}

}  // namespace quern::counters
