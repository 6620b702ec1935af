// SPDX-License-Identifier: BSL-1.0
// The table of settings, their accepted values, and the value type that keeps the strongest value
// of each. Reads no input; the sources do (settings_sources.cpp, settings_file.cpp).
#include <quern/settings/settings.hpp>

#include "parts.hpp"

#include <quern/base/detail/growing_table.hpp>
#include <quern/base/detail/nearest_match.hpp>
#include <quern/topology/binding.hpp>
#include <quern/topology/detail/text.hpp>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace quern {

namespace {

constexpr setting k_rows[] = {
    {.name = "config",
     .owner = "settings",
     .type = setting_type::path,
     .fallback = "",
     .help = "TOML file with settings, one `name = value` a line"},
};

constinit detail::growing_table<setting, 128> g_table(k_rows);

constexpr std::string_view k_letters = "abcdefghijklmnopqrstuvwxyz0123456789-_";

bool is_number(const setting& row) noexcept {
    return row.type == setting_type::number || row.type == setting_type::bytes;
}

/// 64M is 64 * 2^20. Nothing if it is no number, or one that does not fit.
std::optional<unsigned> parse_bytes(std::string_view text) noexcept {
    constexpr std::string_view k_suffixes = "kMG";
    constexpr unsigned k_bits = 10;  // of a step
    unsigned shift = 0;
    if (!text.empty()) {
        if (const auto found = k_suffixes.find(text.back()); found != std::string_view::npos) {
            shift = k_bits * (static_cast<unsigned>(found) + 1);
            text.remove_suffix(1);
        }
    }
    const auto number = topology::detail::parse_number<unsigned>(text);
    if (!number || *number > std::numeric_limits<unsigned>::max() >> shift) {
        return std::nullopt;
    }
    return *number << shift;
}

std::optional<unsigned> number_of(const setting& row, std::string_view text) noexcept {
    return row.type == setting_type::bytes ? parse_bytes(text)
                                           : topology::detail::parse_number<unsigned>(text);
}

/// The words that a setting takes as they are.
std::vector<std::string_view> words_of(const setting& row) {
    if (row.words != nullptr) {
        return row.words();
    }
    return is_number(row) && !number_of(row, row.fallback) ? std::vector{row.fallback}
                                                           : std::vector<std::string_view>{};
}

std::string fault_of(const setting& row, std::string_view text) {
    const std::vector<std::string_view> words = words_of(row);
    if (text == row.fallback || std::find(words.begin(), words.end(), text) != words.end()) {
        return "";
    }
    if (is_number(row)) {
        const auto number = number_of(row, text);
        if (number && *number >= row.least && *number <= row.most) {
            return "";
        }
    } else if (row.type == setting_type::placement && !text.empty()) {
        const auto how = topology::parse_binding(text);
        if (how) {
            return "";
        }
        if (text.find_first_of("0123456789") == 0 || text.find(':') != std::string_view::npos) {
            return how.reason();  // the fault within the list
        }
    } else if (row.type == setting_type::text ||
               (row.type == setting_type::path && !text.empty())) {
        return "";
    }
    std::string fault = "accepted: " + row.accepted();
    const std::string_view nearest = detail::nearest_match(text, words);
    if (!nearest.empty()) {
        fault.append("; did you mean '").append(nearest).append("'?");
    }
    return fault;
}

std::size_t index_of(std::string_view name) {
    const setting* const row = g_table.find(name);
    if (row == nullptr) {
        detail::refuse_unknown("unknown setting '" + std::string(name) + "'", name,
                               detail::setting_names(), detail::as_key);
    }
    return static_cast<std::size_t>(row - g_table.rows().data());
}

[[noreturn]] void refuse_value(std::string_view name, const setting_value& value,
                               const std::string& why) {
    detail::throw_bad_setting(std::string(name) + " is '" + value.text + "' (" + value.origin +
                              "); " + why);
}

}  // namespace

std::string setting::option() const { return detail::as_option(name); }
std::string setting::variable() const { return detail::as_variable(name); }

std::string setting::accepted() const {
    std::string text;
    if (is_number(*this)) {
        text = std::string(type == setting_type::bytes ? "bytes" : "a whole number") + " from " +
               std::to_string(least) + " to " + std::to_string(most) +
               (type == setting_type::bytes ? ", also as 512k, 64M, 2G" : "");
    } else if (type == setting_type::path) {
        text = "the path of a file";
    } else if (type == setting_type::text) {
        text = "any text";
    }
    for (const std::string_view word : words_of(*this)) {
        const char* const separator = is_number(*this) ? ", or " : ", ";
        text.append(text.empty() ? "" : separator).append(word);
    }
    return type == setting_type::placement
               ? text + ", a list of CPUs such as 0,2-5, cores:0-3, or node:1"
               : text;
}

std::span<const setting> setting_table() noexcept { return g_table.rows(); }

void detail::require_spelt(std::string_view name, const char* what) {
    if (name.empty() || name.find_first_not_of(k_letters) != std::string_view::npos) {
        throw std::invalid_argument("quern: a " + std::string(what) + " cannot be called '" +
                                    std::string(name) + "'; accepted: a-z, 0-9, - and _");
    }
}

void register_settings(std::span<const setting> rows) {
    for (const setting& row : rows) {
        detail::require_spelt(row.name, "setting");
        if (is_number(row) && row.least > row.most) {
            throw std::invalid_argument(
                "quern: setting '" + std::string(row.name) + "' accepts no number: its least is " +
                std::to_string(row.least) + ", its most " + std::to_string(row.most));
        }
    }
    g_table.add(rows, "setting");
}

settings::settings() { take_in_new(); }

void settings::take_in_new() {
    for (const setting& row : setting_table().subspan(m_values.size())) {
        m_values.push_back({.text = std::string(row.fallback)});
    }
}

const setting_value& settings::at(std::string_view name) const {
    const std::size_t index = index_of(name);
    if (index >= m_values.size()) {
        detail::throw_bad_setting("setting '" + std::string(name) +
                                  "' was registered after these settings were read");
    }
    return m_values[index];
}

bool settings::has(std::string_view name) const noexcept {
    const setting* const row = g_table.find(name);
    return row != nullptr && row < g_table.rows().data() + m_values.size();
}

std::optional<unsigned> settings::number(std::string_view name) const {
    return number_of(setting_table()[index_of(name)], at(name).text);
}

void settings::set(std::string_view name, setting_value value) {
    const std::size_t index = index_of(name);
    take_in_new();
    const std::string fault = fault_of(setting_table()[index], value.text);
    if (!fault.empty()) {
        refuse_value(name, value, fault);
    }
    if (setting_table()[index].type == setting_type::path) {
        value.text = detail::with_rank(std::move(value.text));
    }
    if (value.source >= m_values[index].source) {
        m_values[index] = std::move(value);
    }
}

void settings::refuse(std::string_view name, const std::string& why) const {
    refuse_value(name, at(name), why);
}

namespace detail {

std::string as_option(std::string_view name) { return "--quern:" + std::string(name); }

std::string as_variable(std::string_view name) {
    std::string variable = "QUERN_";
    for (const char c : name) {
        const bool is_lower = c >= 'a' && c <= 'z';
        variable += is_lower ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
    }
    return variable;
}

std::string as_key(std::string_view name) { return std::string(name); }

namespace {

/// Whether a layer has added its settings.
bool has_owner(std::string_view layer) {
    const auto rows = g_table.rows();
    return std::any_of(rows.begin(), rows.end(),
                       [layer](const setting& row) { return row.owner == layer; });
}

}  // namespace

std::vector<std::string_view> setting_names() {
    std::vector<std::string_view> names;
    for (const setting& row : g_table.rows()) {
        names.push_back(row.name);
    }
    return names;
}

bool is_for_absent_layer(std::string_view name) {
    constexpr std::string_view k_of_layer = "mpi-";
    const auto is_of_layer = [&](std::string_view each) {
        return is_same_name(each.substr(0, k_of_layer.size()), k_of_layer);
    };
    const auto all = setting_names();
    return is_of_layer(name) && std::none_of(all.begin(), all.end(), is_of_layer);
}

void refuse_unknown(const std::string& what, std::string_view bare,
                    const std::vector<std::string_view>& names, spelling spell) {
    std::string text = what;
    const std::string_view nearest = nearest_match(bare, names);
    if (!nearest.empty()) {
        throw_bad_setting(text + "; did you mean '" + spell(nearest) + "'?");
    }
    for (const std::string_view name : names) {
        text += (name == names.front() ? "; accepted: " : ", ") + spell(name);
    }
    if (!has_owner("trace")) {
        text += "; counters, traces and reports come with quern/quern.hpp";
    }
    throw_bad_setting(text);
}

}  // namespace detail

}  // namespace quern
