// SPDX-License-Identifier: BSL-1.0
// Parses parameters and places. A place is a name in braces; braces around anything else, as in
// JSON, stay as they are. A name in two pairs of braces is that name in one pair.
#include "tune/words.hpp"

#include "command.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/base/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>

namespace quern::tool {

namespace {

using adaptation::parameter;

constexpr double k_most_whole = 9007199254740992.0;  // 2^53: exact in a double
constexpr const char* k_range_form = "NAME=LEAST:MOST[@START], such as x=8:512@64";
constexpr const char* k_step_form = "NAME=LEAST:MOST[:STEP][@START], such as x=10:1000:10@60";
constexpr const char* k_choice_form = "NAME=WORD,WORD,…[@START], such as x=rows,columns@rows";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_name(std::string_view text) {
    return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

std::vector<std::string> split(const std::string& text, char between) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(between, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// "NAME=…@START" of an option, in parts.
class declaration {
public:
    declaration(const char* option, const std::string& text, const char* form)
        : m_option(option), m_text(text), m_form(form) {
        const std::size_t equals = text.find('=');
        const std::size_t at = text.rfind('@');
        if (equals == std::string::npos) {
            refuse("'=' is missing");
        }
        name = text.substr(0, equals);
        if (!is_name(name)) {
            refuse(fmt::format("'{}' is no name", name));
        }
        if (at != std::string::npos && at > equals) {
            start = text.substr(at + 1);
        }
        values = text.substr(equals + 1, start ? at - equals - 1 : std::string::npos);
    }

    double number(const std::string& word, bool is_whole) const {
        const std::optional<double> value = quern::detail::finite_number(word);
        if (!value) {
            refuse(fmt::format("'{}' is no number", word));
        }
        if (is_whole && (*value != std::floor(*value) || std::fabs(*value) > k_most_whole)) {
            refuse(fmt::format("'{}' is no whole number; the nearest is {:.0f}", word,
                               std::clamp(std::round(*value), -k_most_whole, k_most_whole)));
        }
        return *value;
    }

    /// LEAST, MOST and, where the form has one, STEP.
    std::vector<double> range(bool is_whole, std::size_t most_parts) const {
        const std::vector<std::string> parts = split(values, ':');
        if (parts.size() < 2 || parts.size() > most_parts) {
            refuse(fmt::format("'{}' is no range", values));
        }
        std::vector<double> numbers;
        numbers.reserve(parts.size());
        for (const std::string& each : parts) {
            numbers.push_back(number(each, is_whole));
        }
        return numbers;
    }

    /// Calls `make`; what the library says about ranges becomes a usage_error.
    parameter made_by(const std::function<parameter()>& make) const {
        try {
            return make();
        } catch (const std::invalid_argument& error) {
            std::string why = error.what();
            constexpr std::string_view k_ours = "quern: ";
            why.erase(0, why.starts_with(k_ours) ? k_ours.size() : 0);
            throw usage_error(fmt::format("quern tune: {} '{}': {}", m_option, m_text, why));
        }
    }

    [[noreturn]] void refuse(const std::string& why) const {
        throw usage_error(
            fmt::format("quern tune: {} '{}': {}; accepted: {}", m_option, m_text, why, m_form));
    }

    std::string name{};
    std::string values{};
    std::optional<std::string> start{};

private:
    const char* m_option;
    const std::string& m_text;
    const char* m_form;
};

parameter whole_number(const char* option, const std::string& text, bool is_by_ratio) {
    const declaration said(option, text, k_step_form);
    return said.made_by([&] {
        const std::vector<double> range = said.range(true, 3);
        parameter made = adaptation::integer(
            said.name, static_cast<std::int64_t>(range[0]), static_cast<std::int64_t>(range[1]),
            range.size() > 2 ? static_cast<std::int64_t>(range[2]) : 1);
        if (is_by_ratio) {
            made = std::move(made).by_ratio();
        }
        return said.start ? std::move(made).starting_at(said.number(*said.start, true)) : made;
    });
}

parameter power_parameter(const std::string& text) {
    const declaration said("--power-of-two", text, k_range_form);
    return said.made_by([&] {
        const std::vector<double> range = said.range(true, 2);
        if (range[0] < 1 || range[1] < 1) {
            said.refuse(fmt::format("{} is no power of two; the nearest is 1",
                                    std::min(range[0], range[1])));
        }
        parameter made = adaptation::power_of_two(said.name, static_cast<std::uint64_t>(range[0]),
                                                  static_cast<std::uint64_t>(range[1]));
        return said.start ? std::move(made).starting_at(said.number(*said.start, true)) : made;
    });
}

parameter real_parameter(const std::string& text) {
    const declaration said("--real", text, k_range_form);
    return said.made_by([&] {
        const std::vector<double> range = said.range(false, 2);
        parameter made = adaptation::real(said.name, range[0], range[1]);
        return said.start ? std::move(made).starting_at(said.number(*said.start, false)) : made;
    });
}

parameter choice_parameter(const std::string& text) {
    const declaration said("--choice", text, k_choice_form);
    return said.made_by([&] {
        parameter made = adaptation::choice(said.name, split(said.values, ','));
        return said.start ? std::move(made).starting_at(std::string_view(*said.start)) : made;
    });
}

/// The text with each place replaced by what `value_of` returns for its name. Two braces stand for
/// one that is no place: "{{x}}" is "{x}", and "{{{x}}}" is the value in braces.
std::string replaced(const std::string& text,
                     const std::function<std::string(const std::string&)>& value_of) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = std::min(text.find_first_not_of('{', at), text.size());
        const std::size_t end = std::min(text.find('}', begin), text.size());
        const std::string name = text.substr(begin, end - begin);
        if (begin == at || end == text.size() || !is_name(name)) {
            out += text[at++];
            continue;
        }
        const std::size_t closing = std::min(text.find_first_not_of('}', end), text.size()) - end;
        const std::size_t depth = std::min(begin - at, closing);
        out.append(begin - at - depth + depth / 2, '{');
        out += depth % 2 == 1 ? value_of(name) : name;
        out.append(depth / 2, '}');
        at = end + depth;
    }
    return out;
}

void check_places(const std::vector<std::string>& words, const std::vector<parameter>& parameters) {
    std::vector<std::string_view> names;
    names.reserve(parameters.size());
    for (const parameter& each : parameters) {
        names.push_back(each.name());
    }
    std::vector<std::string> used;
    for (const std::string& word : words) {
        replaced(word, [&](const std::string& name) {
            if (std::find(names.begin(), names.end(), name) == names.end()) {
                throw usage_error(
                    fmt::format("quern tune: no parameter is named '{}', as in '{}'; {}", name,
                                word, quern::detail::accepted_values(name, names)));
            }
            used.push_back(name);
            return name;
        });
    }
    for (const std::string_view name : names) {
        if (std::find(used.begin(), used.end(), name) == used.end()) {
            throw usage_error(fmt::format(
                "quern tune: the parameter '{0}' occurs nowhere in the program's words; write "
                "{{{0}}} where its value belongs",
                name));
        }
    }
}

bool is_assignment(const std::string& word) {
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    return name.size() < word.size() && !name.empty() && (is_letter(name[0]) || name[0] == '_') &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

std::string shell_word(const std::string& word) {
    constexpr std::string_view k_plain = "-_=+:,./@%";
    const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || k_plain.find(c) != std::string_view::npos;
    });
    if (is_plain) {
        return word;
    }
    std::string quoted = "'";
    for (const char c : word) {
        quoted += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return quoted + "'";
}

}  // namespace

std::vector<parameter> parameters_of(const parameter_words& words) {
    std::vector<parameter> made;
    for (const std::string& each : words.integer) {
        made.push_back(whole_number("--integer", each, false));
    }
    for (const std::string& each : words.size) {
        made.push_back(whole_number("--size", each, true));
    }
    for (const std::string& each : words.power_of_two) {
        made.push_back(power_parameter(each));
    }
    for (const std::string& each : words.real) {
        made.push_back(real_parameter(each));
    }
    for (const std::string& each : words.choice) {
        made.push_back(choice_parameter(each));
    }
    return made;
}

program_words program_of(const std::vector<std::string>& words,
                         const std::vector<parameter>& parameters) {
    const auto command = std::find_if_not(words.begin(), words.end(), is_assignment);
    if (command == words.end()) {
        throw usage_error(
            "quern tune: the program is missing; for instance: "
            "quern tune --integer x=1:100 -- ./program --size {x}");
    }
    check_places(words, parameters);
    return {{words.begin(), command}, {command, words.end()}};
}

program_words filled(const program_words& program, const std::vector<parameter>& parameters,
                     const adaptation::point& where) {
    const auto value_of = [&](const std::string& name) {
        const auto at = std::find_if(parameters.begin(), parameters.end(),
                                     [&](const parameter& each) { return each.name() == name; });
        return at->text_of(where[name]);
    };
    program_words out = program;
    for (auto* const part : {&out.variables, &out.command}) {
        for (std::string& word : *part) {
            word = replaced(word, value_of);
        }
    }
    return out;
}

std::string shell_text(const program_words& program) {
    std::string text;
    for (const std::string& each : program.variables) {
        const std::size_t value = each.find('=') + 1;
        text +=
            each.substr(0, value) + (value == each.size() ? "" : shell_word(each.substr(value)));
        text += ' ';
    }
    for (const std::string& each : program.command) {
        text += (&each == &program.command.front() ? "" : " ") + shell_word(each);
    }
    return text;
}

double positive_number(const std::string& option, const std::string& text) {
    const std::optional<double> value = quern::detail::finite_number(text);
    if (!value || *value <= 0) {
        throw usage_error(
            fmt::format("quern tune: {} is '{}'; accepted: a number above 0", option, text));
    }
    return *value;
}

}  // namespace quern::tool
