// SPDX-License-Identifier: BSL-1.0
// What the applications and the tools need of CLI11: options, subcommands, help. Only
// command_line.cpp includes CLI11. Each program reports mistakes in its own form.
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

/// The command line is invalid; what() says why.
struct parse_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// An option of a command. A reference: must not outlive the command. Setters return the option.
class option {
public:
    option& type(const std::string& shown);           ///< how the help shows its value
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

/// A program's command line or a subcommand of it. A reference: must not outlive the program's
/// command line. Variables that options write must outlive the parsing. An option's name without
/// dashes declares a positional argument.
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
    /// A switch that sets a word; `--name{word}` gives the word for a bare `--name`.
    option add_flag(const std::string& name, std::string& value, const std::string& help);

    void footer(const std::string& text);
    std::string footer() const;
    void keep_unknown();  ///< words that are not understood are left in rest()
    void keep_program();  ///< so is everything from the first word that is not an option
    bool keeps_program() const;
    /// Called after parsing; of a subcommand, if it was named.
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

    /// Fills the variables. Returns an exit status when only help or the version was requested; it
    /// has printed that. Throws parse_error.
    std::optional<int> parse(int argc, char** argv);

private:
    std::unique_ptr<CLI::App> m_owned;
};

/// The exit status of a program that has printed its results. Returns `status`; if the results
/// could not be written, as on a full disk, says so on stderr and returns `failure` in place of 0.
int status_with_output(const std::string& program, int status, int failure);

}  // namespace cli
