// SPDX-License-Identifier: BSL-1.0
// The command line: words into options, options into values.
#include <quern/compat/hpx/program_options.hpp>

#include <algorithm>
#include <iomanip>
#include <ostream>

namespace hpx::program_options {

option_description::option_description(const std::string& names,
                                       std::shared_ptr<const value_semantic> semantic,
                                       std::string description)
    : m_long(names.substr(0, names.find(','))),
      m_description(std::move(description)),
      m_semantic(std::move(semantic)) {
    const std::size_t comma = names.find(',');
    if (comma != std::string::npos && comma + 1 < names.size()) {
        m_short = names[comma + 1];
    }
}

options_description::adder& options_description::adder::operator()(const char* names,
                                                                   const char* description) {
    m_to->m_options.emplace_back(names, nullptr, description);
    return *this;
}
options_description::adder& options_description::adder::operator()(const char* names,
                                                                   const value_semantic* semantic,
                                                                   const char* description) {
    m_to->m_options.emplace_back(names, std::shared_ptr<const value_semantic>(semantic),
                                 description);
    return *this;
}

options_description& options_description::add(const options_description& group) {
    m_options.insert(m_options.end(), group.m_options.begin(), group.m_options.end());
    return *this;
}

const option_description* options_description::find_nothrow(
    const std::string& name) const noexcept {
    const auto there = std::find_if(m_options.begin(), m_options.end(),
                                    [&](const auto& o) { return o.long_name() == name; });
    return there != m_options.end() ? &*there : nullptr;
}
const option_description* options_description::find_short(char name) const noexcept {
    const auto there = std::find_if(m_options.begin(), m_options.end(),
                                    [&](const auto& o) { return o.short_name() == name; });
    return there != m_options.end() ? &*there : nullptr;
}

std::ostream& operator<<(std::ostream& out, const options_description& all) {
    if (!all.m_caption.empty()) {
        out << all.m_caption << ":\n";
    }
    for (const option_description& each : all.m_options) {
        std::string left =
            each.short_name() != '\0' ? std::string("-") + each.short_name() + " [ --" : "--";
        left += each.long_name() + (each.short_name() != '\0' ? " ]" : "");
        if (const value_semantic* s = each.semantic(); s != nullptr && s->takes_value) {
            left += " arg";
            left += s->fallback_text.empty() ? "" : " (=" + s->fallback_text + ")";
        }
        out << "  " << std::left << std::setw(32) << left << ' ' << each.description() << '\n';
    }
    return out;
}

positional_options_description& positional_options_description::add(const char* name, int count) {
    if (count < 0) {
        m_rest = name;
    } else {
        m_names.insert(m_names.end(), static_cast<std::size_t>(count), name);
    }
    return *this;
}
const std::string* positional_options_description::name_for_position(
    std::size_t position) const noexcept {
    if (position < m_names.size()) {
        return &m_names[position];
    }
    return m_rest.empty() ? nullptr : &m_rest;
}

namespace {

/// Parses word by word.
class reader {
public:
    reader(const std::vector<std::string>& words, const options_description& all)
        : m_words(words), m_all(all) {}

    bool done() const { return m_next == m_words.size(); }
    const std::string& peek() const { return m_words[m_next]; }
    std::string take() { return m_words[m_next++]; }

    /// A word that begins with a dash.
    option take_option() {
        option read{.name = {}, .values = {}, .original = {take()}};
        const std::string& word = read.original.front();
        const bool is_long = word.starts_with("--");
        const std::size_t equals = word.find('=');
        const option_description* known = nullptr;
        if (is_long) {
            read.name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
            known = m_all.find_nothrow(read.name);
        } else {
            known = m_all.find_short(word[1]);
            read.name = known != nullptr ? known->long_name() : word.substr(1);
        }
        read.unregistered = known == nullptr;
        if (is_long && equals != std::string::npos) {
            read.values.push_back(word.substr(equals + 1));
        } else if (!is_long && known != nullptr && word.size() > 2) {
            read.values.push_back(word.substr(word[2] == '=' ? 3 : 2));
        } else if (known != nullptr) {
            take_values(read, known->semantic());
        }
        return read;
    }

private:
    bool at_value() const { return !done() && !(peek().size() > 1 && peek().front() == '-'); }

    void take_values(option& read, const value_semantic* semantic) {
        if (semantic == nullptr || !semantic->takes_value || semantic->implied.has_value()) {
            return;
        }
        // A number may be negative, so a first value is accepted in any form.
        if (done()) {
            throw error("the required argument for option '--" + read.name + "' is missing");
        }
        do {
            read.original.push_back(peek());
            read.values.push_back(take());
        } while (semantic->takes_many && at_value());
    }

    const std::vector<std::string>& m_words;
    const options_description& m_all;
    std::size_t m_next = 0;
};

}  // namespace

parsed_options command_line_parser::run() const {
    static const options_description k_none;
    const options_description& all = m_options != nullptr ? *m_options : k_none;
    parsed_options parsed{.description = &all, .options = {}};
    reader words(m_args, all);
    std::size_t position = 0;
    bool only_positional = false;
    while (!words.done()) {
        const std::string& word = words.peek();
        if (!only_positional && word == "--") {
            words.take();
            only_positional = true;
        } else if (!only_positional && word.size() > 1 && word.front() == '-') {
            option read = words.take_option();
            if (read.unregistered && !m_allow_unregistered) {
                throw unknown_option(read.original.front());
            }
            parsed.options.push_back(std::move(read));
        } else {
            const std::string* name =
                m_positional != nullptr ? m_positional->name_for_position(position++) : nullptr;
            const std::string text = words.take();
            if (name == nullptr && !m_allow_unregistered) {
                throw error("too many positional options: '" + text + "'");
            }
            parsed.options.push_back(option{.name = name != nullptr ? *name : std::string(),
                                            .values = {text},
                                            .original = {text},
                                            .unregistered = name == nullptr});
        }
    }
    return parsed;
}

std::vector<std::string> collect_unrecognized(const std::vector<option>& options,
                                              collect_unrecognized_mode mode) {
    std::vector<std::string> words;
    for (const option& each : options) {
        if (each.unregistered && (mode == include_positional || !each.name.empty())) {
            words.insert(words.end(), each.original.begin(), each.original.end());
        }
    }
    return words;
}

const variable_value& variables_map::operator[](const std::string& name) const {
    static const variable_value k_empty;
    const auto there = find(name);
    return there != end() ? there->second : k_empty;
}

void store(const parsed_options& parsed, variables_map& into) {
    std::map<std::string, std::any> given;
    for (const option& each : parsed.options) {
        const option_description* known =
            each.unregistered ? nullptr : parsed.description->find_nothrow(each.name);
        if (known == nullptr || into.count(each.name) != 0) {
            continue;
        }
        std::any& value = given[each.name];
        if (known->semantic() == nullptr) {
            value = std::string();
        } else if (each.values.empty()) {
            value = known->semantic()->implied;
        }
        for (const std::string& text : each.values) {
            if (known->semantic() == nullptr) {
                throw invalid_option_value("--" + each.name, text);
            }
            known->semantic()->parse(value, each.name, text);
        }
    }
    for (auto& [name, value] : given) {
        into.emplace(name, variable_value(std::move(value), false));
    }
    for (const option_description& each : parsed.description->options()) {
        if (each.semantic() != nullptr && each.semantic()->fallback.has_value()) {
            into.emplace(each.long_name(), variable_value(each.semantic()->fallback, true));
        }
    }
    into.m_description.add(*parsed.description);
}

void notify(variables_map& all) {
    for (const option_description& each : all.m_description.options()) {
        const auto there = all.find(each.long_name());
        if (each.semantic() == nullptr) {
            continue;
        }
        if (there != all.end() && !there->second.empty()) {
            each.semantic()->notify(there->second.value());
        } else if (each.semantic()->required) {
            throw required_option("--" + each.long_name());
        }
    }
}

}  // namespace hpx::program_options
