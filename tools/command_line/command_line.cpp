// SPDX-License-Identifier: BSL-1.0
// The command line on CLI11. No other file may include CLI11: see CMakeLists.txt.
#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace cli {

option& option::type(const std::string& shown) {
    m_option->type_name(shown);
    return *this;
}

option& option::shows_default() {
    m_option->capture_default_str();
    return *this;
}

option& option::shows_default(const std::string& text) {
    m_option->default_str(text);
    return *this;
}

option& option::in_range(unsigned least, unsigned most) {
    m_option->check(CLI::Range(least, most).description(""));
    return *this;
}

option& option::existing_folder() {
    m_option->check(CLI::ExistingDirectory.description(""));
    return *this;
}

option& option::required() {
    m_option->required();
    return *this;
}

option& option::value_may_be_missing() {
    m_option->expected(0, 1);
    return *this;
}

bool option::given() const { return m_option->count() > 0; }

command command::subcommand(const std::string& name, const std::string& description) {
    return command(m_app->add_subcommand(name, description));
}

option command::add(const std::string& name, std::string& value, const std::string& help) {
    return option(m_app->add_option(name, value, help));
}

option command::add(const std::string& name, unsigned& value, const std::string& help) {
    return option(m_app->add_option(name, value, help));
}

option command::add(const std::string& name, std::optional<unsigned>& value,
                    const std::string& help) {
    return option(m_app->add_option(name, value, help));
}

option command::add(const std::string& name, std::vector<std::string>& value,
                    const std::string& help) {
    return option(m_app->add_option(name, value, help));
}

option command::add(const std::string& name, const std::function<void(const std::string&)>& take,
                    const std::string& help) {
    return option(m_app->add_option_function<std::string>(name, take, help));
}

option command::add_flag(const std::string& name, bool& value, const std::string& help) {
    return option(m_app->add_flag(name, value, help)->disable_flag_override());
}

option command::add_flag(const std::string& name, std::string& value, const std::string& help) {
    return option(m_app->add_flag(name, value, help));
}

void command::footer(const std::string& text) { m_app->footer(text); }

std::string command::footer() const { return m_app->get_footer(); }

void command::keep_unknown() { m_app->allow_extras(); }

void command::keep_program() { m_app->prefix_command(); }

bool command::keeps_program() const { return m_app->get_prefix_command(); }

void command::when_parsed(const std::function<void()>& call) { m_app->callback(call); }

std::string command::name() const { return m_app->get_name(); }

std::string command::help() const { return m_app->help(); }

std::vector<std::string> command::rest() const { return m_app->remaining(); }

std::vector<std::string> command::option_names() const {
    std::vector<std::string> names;
    const CLI::App& app = *m_app;
    for (const CLI::Option* each : app.get_options()) {
        for (const std::string& name : each->get_lnames()) {
            names.push_back("--" + name);
        }
    }
    return names;
}

std::vector<std::string> command::subcommand_names() const {
    std::vector<std::string> names;
    for (const CLI::App* each : m_app->get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(each->get_name());
    }
    return names;
}

std::vector<command> command::named_subcommands() const {
    std::vector<command> named;
    for (CLI::App* each : m_app->get_subcommands()) {
        named.push_back(command(each));
    }
    return named;
}

command_line::command_line(const std::string& description, const std::string& name)
    : command(nullptr), m_owned(std::make_unique<CLI::App>(description, name)) {
    m_app = m_owned.get();
}

command_line::~command_line() = default;

void command_line::version_flag(const std::string& name, const std::string& text) {
    m_app->set_version_flag(name, text);
}

std::optional<int> command_line::parse(int argc, char** argv) {
    try {
        m_app->parse(argc, argv);
    } catch (const CLI::Success& asked) {  // --help, --version
        return m_app->exit(asked);
    } catch (const CLI::ParseError& error) {
        throw parse_error(error.what());
    }
    return std::nullopt;
}

int status_with_output(const std::string& program, int status, int failure) {
    errno = 0;
    std::cout.flush();  // also flushes stdout
    const bool is_written =
        std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (is_written) {
        return status;
    }
    const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
    std::fprintf(stderr, "%s: the output could not be written%s\n", program.c_str(),
                 reason.c_str());
    return status == 0 ? failure : status;
}

}  // namespace cli
