// SPDX-License-Identifier: BSL-1.0
// The sources of settings in a running program: the environment, values that the program sets for
// the whole process, and the command line. Files are read in settings_file.cpp.
#include <quern/settings/settings.hpp>

#include <quern/base/detail/growing_table.hpp>
#include <quern/base/detail/process.hpp>

#include "parts.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <unistd.h>

namespace quern {

namespace {

constexpr std::string_view k_option_prefix = "--quern:";
constexpr std::string_view k_help_option = "--quern:help";
constexpr std::string_view k_variable_prefix = "QUERN_";
/// Not settings. Where Quern is installed: read by CMake's find_package and set by modules of
/// clusters. QUERN_JOB: set by `quern run -n` for the ranks of its job.
constexpr std::array<std::string_view, 3> k_foreign_variables = {"QUERN_DIR", "QUERN_ROOT",
                                                                 "QUERN_JOB"};

constinit settings* g_said = nullptr;

/// The values set so far for the whole process, by the program and its command line. Kept as long
/// as the process, because runtimes may still start while static objects end.
/// Requires: the lock is held.
settings& said_so_far() {
    if (g_said == nullptr) {
        g_said = new settings;
    }
    g_said->take_in_new();
    return *g_said;
}

[[gnu::destructor(detail::k_after_static_objects)]] void forget_settings() {
    const std::scoped_lock lock(detail::lock_of(detail::process_lock::settings));
    delete std::exchange(g_said, nullptr);
}

const setting* find_variable(std::string_view variable) {
    for (const setting& row : setting_table()) {
        if (row.variable() == variable) {
            return &row;
        }
    }
    return nullptr;
}

void read_variable(settings& into, std::string_view variable, std::string_view value) {
    const setting* const row = find_variable(variable);
    if (row == nullptr) {
        std::string bare(variable.substr(k_variable_prefix.size()));
        std::transform(bare.begin(), bare.end(), bare.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
        if (detail::is_for_absent_layer(bare)) {
            return;
        }
        detail::refuse_unknown("unknown environment variable " + std::string(variable),
                               variable.substr(k_variable_prefix.size()), detail::setting_names(),
                               detail::as_variable);
    }
    into.set(row->name, {std::string(value), setting_source::environment,
                         "environment " + std::string(variable)});
}

void read_environment(settings& into) {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::size_t equals = std::min(text.find('='), text.size());
        const std::string_view variable = text.substr(0, equals);
        if (variable.starts_with(k_variable_prefix) &&
            std::find(k_foreign_variables.begin(), k_foreign_variables.end(), variable) ==
                k_foreign_variables.end()) {
            read_variable(into, variable, text.substr(std::min(equals + 1, text.size())));
        }
    }
}

/// Both --quern:spin-us and --quern:spin_us mean the setting spin-us.
const setting* find_option(std::string_view option) {
    for (const setting& row : setting_table()) {
        if (detail::is_same_name(row.option(), option)) {
            return &row;
        }
    }
    return nullptr;
}

/// An option --quern:name=value, or only --quern:name where that is allowed.
void read_option(settings& into, std::string_view text) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string option(text.substr(0, equals));
    if (option == k_help_option) {
        detail::throw_bad_setting("option " + option + " takes no value");
    }
    const setting* const row = find_option(option);
    if (row == nullptr) {
        std::vector<std::string_view> names = detail::setting_names();
        names.push_back("help");
        detail::refuse_unknown("unknown option " + std::string(text),
                               option.substr(k_option_prefix.size()), names, detail::as_option);
    }
    if (equals == text.size() && row->bare.empty()) {
        detail::throw_bad_setting("option " + option + " needs a value: " + option +
                                  "=VALUE; accepted: " + row->accepted());
    }
    std::string value(equals == text.size() ? row->bare : text.substr(equals + 1));
    const setting_value& before = into.at(row->name);
    if (row->is_list && before.source == setting_source::command_line) {
        value = before.text + ";" + value;
    }
    into.set(row->name, {std::move(value), setting_source::command_line, "command line"});
}

std::string help_of(const setting& row) {
    const std::string fallback(row.fallback.empty() ? "none" : row.fallback);
    return "  " + row.option() + "=VALUE\n      " + std::string(row.help) +
           "\n      accepted: " + row.accepted() + "\n      default: " + fallback + "\n";
}

constexpr const char* k_help_begin =
    R"(This program runs on Quern, a task-parallel runtime with these settings:

)";

constexpr const char* k_help_end = R"(  --quern:help
      prints this

Each may also be an environment variable (QUERN_THREADS for threads) or a line in the TOML file that
config names (threads = 2). From the weakest to the strongest: default, file, environment, what the
program says, command line.

Examples (of a program called prog):
  prog --quern:threads=2 --quern:policy=priority-local-fifo
  QUERN_THREADS=2 QUERN_BIND=compact prog
  QUERN_CONFIG=quern.toml prog
)";

}  // namespace

settings current_settings() {
    settings all = [] {
        const std::scoped_lock lock(detail::lock_of(detail::process_lock::settings));
        return said_so_far();
    }();
    read_environment(all);
    if (!all.at("config").text.empty()) {
        detail::read_settings_file(all);
    }
    return all;
}

bool take_command_line(int& argc, char** argv) {
    const std::scoped_lock lock(detail::lock_of(detail::process_lock::settings));
    settings said = said_so_far();  // a copy, so that an error changes nothing
    std::vector<char*> kept;
    bool wants_help = false;
    bool is_ours = true;  // until an argument "--"
    for (int i = 0; i < argc; ++i) {
        const std::string_view text = argv[i];
        is_ours = is_ours && text != "--";
        if (i == 0 || !is_ours || !text.starts_with(k_option_prefix)) {
            kept.push_back(argv[i]);
        } else if (text == k_help_option) {
            wants_help = true;
        } else {
            read_option(said, text);
        }
    }
    if (kept.size() < static_cast<std::size_t>(argc)) {
        argc = static_cast<int>(kept.size());
        kept.push_back(nullptr);  // argv of main ends so
        std::copy(kept.begin(), kept.end(), argv);
    }
    said_so_far() = std::move(said);
    if (wants_help) {
        std::fputs(settings_help().c_str(), stdout);
    }
    return !wants_help;
}

void set_setting(std::string_view name, std::string_view value, std::string_view origin) {
    const std::scoped_lock lock(detail::lock_of(detail::process_lock::settings));
    said_so_far().set(name, {std::string(value), setting_source::program, std::string(origin)});
}

std::string settings_help() {
    std::string text = k_help_begin;
    for (const setting& row : setting_table()) {
        text += help_of(row);
    }
    return text + k_help_end;
}

}  // namespace quern
