// SPDX-License-Identifier: BSL-1.0
// What the applications and the tools need of CLI11, which is included in command_line.cpp alone:
// options, subcommands, help. What they make of mistakes is their own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cli {

/// The command line cannot be understood; what() says why.
struct parse_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// An option of a command; refers to it, and lives no longer. Each setter returns the option.
class option {
public:
    option& type(const std::string& shown);           ///< what the help calls its value
    option& shows_default();                          ///< the variable's present value
    option& shows_default(const std::string& text);   ///< this text
    option& in_range(unsigned least, unsigned most);  ///< else a parse_error
    option& existing_folder();                        ///< else a parse_error
    option& required();                               ///< else a parse_error
    option& value_may_be_missing();                   ///< `--name` beside `--name=value`
    bool given() const;                               ///< once the command line was parsed

private:
    friend class command;
    explicit option(CLI::Option* of) noexcept : m_option(of) {}
    CLI::Option* m_option;
};

/// A program's command line or a subcommand of it; refers to it, and lives no longer. Variables
/// that options write must outlive the parsing. An option's name without dashes is a position.
class command {
public:
    command subcommand(const std::string& name, const std::string& description);

    option add(const std::string& name, std::string& value, const std::string& help);
    option add(const std::string& name, unsigned& value, const std::string& help);
    option add(const std::string& name, std::optional<unsigned>& value, const std::string& help);
    option add(const std::string& name, std::vector<std::string>& value, const std::string& help);
    option add(const std::string& name, const std::function<void(const std::string&)>& take,
               const std::string& help);
    /// A switch: takes no value.
    option add_flag(const std::string& name, bool& value, const std::string& help);
    /// A switch that is a word; `--name{word}` says which it is where none is given.
    option add_flag(const std::string& name, std::string& value, const std::string& help);

    void footer(const std::string& text);
    std::string footer() const;
    void keep_unknown();  ///< what is not understood is left in rest()
    void keep_program();  ///< so is everything from the first word that is no option
    bool keeps_program() const;
    /// Called when the command line was understood, for a subcommand if it was named.
    void when_parsed(const std::function<void()>& call);

    std::string name() const;
    std::string help() const;
    std::vector<std::string> rest() const;
    std::vector<std::string> option_names() const;  ///< with their dashes
    std::vector<std::string> subcommand_names() const;
    std::vector<command> named_subcommands() const;

protected:
    explicit command(CLI::App* of) noexcept : m_app(of) {}
    CLI::App* m_app;
};

/// The command line of a program.
class command_line : public command {
public:
    command_line(const std::string& description, const std::string& name);
    ~command_line();
    command_line(const command_line&) = delete;
    command_line& operator=(const command_line&) = delete;

    void version_flag(const std::string& name, const std::string& text);

    /// Fills the variables. Returns an exit status when only help or the version was asked for,
    /// which it has printed. Throws parse_error.
    std::optional<int> parse(int argc, char** argv);

private:
    std::unique_ptr<CLI::App> m_owned;
};

}  // namespace cli
