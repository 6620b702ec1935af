// SPDX-License-Identifier: BSL-1.0
// Names, units and escapes of OpenMetrics.
#include "print/openmetrics.hpp"

#include "core/derived.hpp"
#include "core/tables.hpp"

#include <quern/base/detail/text.hpp>
#include <quern/counters/format.hpp>

#include <algorithm>
#include <stdexcept>

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

const base_unit& unit_of(std::string_view unit) {
    const auto* const found =
        std::find_if(std::begin(k_units), std::end(k_units),
                     [unit](const base_unit& each) { return each.of == unit; });
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

std::string text_of(const detail::openmetrics::labels& where) {
    std::string text;
    for (const auto& [name, value] : where) {
        if (!value.empty()) {
            text.append(text.empty() ? "{" : ",").append(name).append("=\"");
            text.append(escaped(value)).append("\"");
        }
    }
    return text.append(text.empty() ? "" : "}");
}

}  // namespace

void detail::openmetrics::add(std::string name, std::string_view unit, counter_kind kind,
                              const std::function<std::string()>& help, const labels& where,
                              double value) {
    const base_unit& base = unit_of(unit);
    const bool is_sum = kind == counter_kind::sum;
    name.append(base.name.empty() ? "" : "_").append(base.name);
    std::string& text = m_families[name];
    if (text.empty()) {
        m_order.push_back(name);
        text = "# TYPE " + name + (is_sum ? " counter\n" : " gauge\n");
        text += base.name.empty() ? "" : "# UNIT " + name + " " + std::string(base.name) + "\n";
        text += "# HELP " + name + " " + escaped(help()) + "\n";
    }
    text += name + (is_sum ? "_total" : "") + text_of(where) + " " +
            quern::detail::exact_number(value * base.factor) + "\n";
}

void detail::openmetrics::add(std::span<const snapshot> of_runtimes) {
    const help_texts help;
    for (std::size_t i = 0; i < of_runtimes.size(); ++i) {
        const std::string runtime = of_runtimes.size() > 1 ? std::to_string(i) : "";
        for (const counter_value& each : of_runtimes[i].values) {
            if (each.ok()) {
                const auto [metric, instance] = metric_and_instance(each.name);
                add(
                    metric, each.unit, each.kind, [&] { return help.of(each.name); },
                    {{"runtime", runtime}, {"instance", instance}}, each.value);
            }
        }
    }
}

std::string detail::openmetrics::take() {
    std::string text;
    for (const std::string& name : m_order) {
        text += m_families[name];
    }
    return text + "# EOF\n";
}

std::string as_openmetrics(std::span<const snapshot> of_runtimes) {
    detail::openmetrics out;
    out.add(of_runtimes);
    return out.take();
}

}  // namespace quern::counters
