// SPDX-License-Identifier: BSL-1.0
// hpx::program_options: options of a program, after Boost.Program_options: the part for command
// lines that HPX's programs use. No files, no wide characters.
#pragma once

#include <quern/compat/hpx/option_values.hpp>

#include <any>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hpx::program_options {

/// One option: "name,n" for --name and -n.
class option_description {
public:
    option_description(const std::string& names, std::shared_ptr<const value_semantic> semantic,
                       std::string description);
    const std::string& long_name() const noexcept { return m_long; }
    const std::string& description() const noexcept { return m_description; }
    char short_name() const noexcept { return m_short; }
    const value_semantic* semantic() const noexcept { return m_semantic.get(); }

private:
    std::string m_long, m_description;
    char m_short = '\0';
    std::shared_ptr<const value_semantic> m_semantic;  ///< null: a flag
};

/// The options of a program, in groups with a caption.
class options_description {
public:
    options_description() = default;
    explicit options_description(std::string caption, unsigned = 0, unsigned = 0)
        : m_caption(std::move(caption)) {}

    class adder {
    public:
        explicit adder(options_description& to) : m_to(&to) {}
        adder& operator()(const char* names, const char* description);
        adder& operator()(const char* names, const value_semantic* semantic,
                          const char* description = "");

    private:
        options_description* m_to;
    };
    adder add_options() { return adder(*this); }
    options_description& add(const options_description& group);

    const option_description* find_nothrow(const std::string& name) const noexcept;
    const option_description* find_short(char name) const noexcept;
    const std::vector<option_description>& options() const noexcept { return m_options; }
    friend std::ostream& operator<<(std::ostream& out, const options_description& all);

private:
    std::string m_caption;
    std::vector<option_description> m_options;
};

/// The names of positional arguments.
class positional_options_description {
public:
    /// Names the next `count` of them, or with -1 all that follow.
    positional_options_description& add(const char* name, int count);
    /// Null if there is none.
    const std::string* name_for_position(std::size_t position) const noexcept;

private:
    std::vector<std::string> m_names;
    std::string m_rest;
};

/// An option of a command line.
struct option {
    std::string name;  ///< empty: a positional one without a name
    std::vector<std::string> values;
    std::vector<std::string> original;
    bool unregistered = false;
};
struct parsed_options {
    const options_description* description = nullptr;
    std::vector<option> options;
};

/// Parses a command line. run() throws exceptions derived from error.
class command_line_parser {
public:
    explicit command_line_parser(std::vector<std::string> args) : m_args(std::move(args)) {}
    command_line_parser(int argc, const char* const argv[])
        : m_args(argv + (argc > 0 ? 1 : 0), argv + argc) {}

    command_line_parser& options(const options_description& all) {
        m_options = &all;
        return *this;
    }
    command_line_parser& positional(const positional_options_description& p) {
        m_positional = &p;
        return *this;
    }
    command_line_parser& allow_unregistered() {
        m_allow_unregistered = true;
        return *this;
    }
    command_line_parser& style(int) { return *this; }
    parsed_options run() const;

private:
    std::vector<std::string> m_args;
    const options_description* m_options = nullptr;
    const positional_options_description* m_positional = nullptr;
    bool m_allow_unregistered = false;
};

inline parsed_options parse_command_line(int argc, const char* const argv[],
                                         const options_description& all) {
    return command_line_parser(argc, argv).options(all).run();
}

enum collect_unrecognized_mode { include_positional, exclude_positional };
std::vector<std::string> collect_unrecognized(const std::vector<option>& options,
                                              collect_unrecognized_mode mode);

class variable_value {
public:
    variable_value() = default;
    variable_value(std::any v, bool defaulted) : m_value(std::move(v)), m_defaulted(defaulted) {}

    /// Throws std::bad_any_cast when the option has another type.
    template <class T>
    const T& as() const {
        return std::any_cast<const T&>(m_value);
    }
    template <class T>
    T& as() {
        return std::any_cast<T&>(m_value);
    }
    bool empty() const noexcept { return !m_value.has_value(); }
    bool defaulted() const noexcept { return m_defaulted; }
    const std::any& value() const noexcept { return m_value; }

private:
    std::any m_value;
    bool m_defaulted = false;
};

/// The options that were given or have a default, by name.
class variables_map : public std::map<std::string, variable_value> {
public:
    /// An empty value for a missing option.
    const variable_value& operator[](const std::string& name) const;

private:
    friend void store(const parsed_options& parsed, variables_map& into);
    friend void notify(variables_map& all);
    options_description m_description;
};

/// Existing values stay. Throws invalid_option_value.
void store(const parsed_options& parsed, variables_map& into);
/// Calls the notifiers; throws required_option.
void notify(variables_map& all);

}  // namespace hpx::program_options
