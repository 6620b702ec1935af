// SPDX-License-Identifier: BSL-1.0
// Shared by the command lines of all applications: options with a range, the choice of a runtime,
// and a main that turns a mistake into one sentence and exit status 2. Called by each main.cpp.
// Must never accept a value and then ignore it.
#pragma once

#include <quern/base/detail/nearest_match.hpp>
#include <quern/quern.hpp>

#include <command_line.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace apps {

inline constexpr int k_success = 0;
inline constexpr int k_wrong_answer = 1;  ///< also: the run failed
inline constexpr int k_usage = 2;

/// The user's mistake: printed as it is, exit status 2.
struct usage_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A whole number in [least, most]; otherwise an error that names the option and both limits.
inline std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least,
                                std::int64_t most) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
        throw usage_error(fmt::format("{} is '{}'; accepted: a whole number from {} to {}", option,
                                      text, least, most));
    }
    return value;
}

/// A number in [least, most]; otherwise an error that names the option and both limits.
inline double parse_number(std::string_view option, std::string_view text, double least,
                           double most) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() ||
        !(value >= least && value <= most)) {
        throw usage_error(
            fmt::format("{} is '{}'; accepted: a number from {} to {}", option, text, least, most));
    }
    return value;
}

/// A number from 1 to the value of another option, if it was given. Throws usage_error.
inline void require_at_most(const cli::option& given, std::string_view option, std::size_t value,
                            std::string_view limit_option, std::size_t limit) {
    if (given.given() && value > limit) {
        throw usage_error(fmt::format("{} is '{}'; accepted: a whole number from 1 to {}, {}",
                                      option, value, limit_option, limit));
    }
}

/// Adds an option that takes a whole number in a range; its help shows the default in `value`.
template <class Number>
cli::option add_count(cli::command& app, const std::string& name, Number& value, std::int64_t least,
                      std::int64_t most, const std::string& help) {
    return app
        .add(
            name,
            [&value, name, least, most](const std::string& text) {
                value = static_cast<Number>(parse_count(name, text, least, most));
            },
            help)
        .type("N")
        .shows_default(std::to_string(value));
}

/// Adds an option that takes a number in a range; its help shows the default in `value`.
inline cli::option add_number(cli::command& app, const std::string& name, double& value,
                              double least, double most, const std::string& help) {
    return app
        .add(
            name,
            [&value, name, least, most](const std::string& text) {
                value = parse_number(name, text, least, most);
            },
            help)
        .type("X")
        .shows_default(fmt::format("{}", value));
}

inline std::string accepted_text(std::string_view word,
                                 const std::vector<std::string_view>& accepted) {
    return quern::detail::accepted_values(word, accepted);
}

/// The word itself if it is in `accepted`; otherwise an error that lists them and the nearest
/// match.
inline std::string checked_word(std::string_view option, std::string word,
                                const std::vector<std::string_view>& accepted) {
    for (const std::string_view each : accepted) {
        if (word == each) {
            return word;
        }
    }
    throw usage_error(fmt::format("{} is '{}'; {}", option, word, accepted_text(word, accepted)));
}

/// The runtime's settings that applications also accept as their own options: --threads=2 is short
/// for --quern:threads=2, which has precedence.
inline void add_runtime_options(cli::command& app) {
    for (const quern::setting& row : quern::setting_table()) {
        if (row.name != "threads" && row.name != "policy" && row.name != "bind") {
            continue;
        }
        const std::string option = "--" + std::string(row.name);
        app.add(
               option,
               [&row, option](const std::string& text) {
                   quern::set_setting(row.name, text, "option " + option);
               },
               fmt::format("{} ({})", row.help, row.accepted()))
            .type(row.type == quern::setting_type::number ? "N" : "NAME")
            .shows_default(std::string(row.fallback));
    }
}

/// Parses; returns false when only --help or --quern:help was requested. Throws usage_error, and
/// std::invalid_argument for a bad setting.
inline bool parse(cli::command_line& app, int argc, char** argv) {
    if (!quern::take_command_line(argc, argv)) {
        return false;
    }
    app.footer(app.footer() + "\n\nThe option --quern:help shows the settings of the runtime.");
    app.keep_unknown();  // report unknown words with the nearest match
    try {
        if (app.parse(argc, argv)) {
            return false;
        }
    } catch (const cli::parse_error& error) {
        throw usage_error(error.what());
    }
    const std::vector<std::string> left = app.rest();
    if (!left.empty()) {
        const std::vector<std::string> names = app.option_names();
        const std::string word = left.front().substr(0, left.front().find('='));
        throw usage_error(fmt::format("unknown argument '{}'; {}", word,
                                      accepted_text(word, {names.begin(), names.end()})));
    }
    return true;
}

/// Prints the exception that is being handled, in one sentence, and returns the exit status for it.
/// A bad setting of the runtime is a std::invalid_argument.
inline int say_failure(const char* name) {
    try {
        throw;
    } catch (const usage_error& error) {
        fmt::print(stderr, "{}: {}\nTry '{} --help'.\n", name, error.what(), name);
        return k_usage;
    } catch (const std::invalid_argument& error) {
        fmt::print(stderr, "{}: {}\nTry '{} --quern:help'.\n", name, error.what(), name);
        return k_usage;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "{}: there is not enough memory for a problem of this size\n", name);
        return k_wrong_answer;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: {}\n", name, error.what());
        return k_wrong_answer;
    }
}

/// An application's whole main: runs it, turns exceptions into messages, and fails if the results
/// could not be written.
template <class Run>
int guarded_main(const char* name, Run&& run) {
    try {
        return cli::status_with_output(name, run(), k_wrong_answer);
    } catch (const std::exception&) {
        return say_failure(name);
    }
}

}  // namespace apps
