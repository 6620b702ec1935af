// SPDX-License-Identifier: BSL-1.0
// What a user of a program may choose about its runtime from outside: one table of settings, and
// the sources of their values. A runtime reads them when it is made. The help, the checks, the
// names of options and variables, and docs/configuration.md all come from the table. Each layer
// adds its own rows (register_settings), and so may a program; the scheduler's are in
// src/settings/settings.cpp. The code that adds a row also reads it.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// A setting that is unknown or has a bad value. Uncaught, it ends the program with the message on
/// stderr and exit status 2, unless the program has its own terminate handler: the mistake is
/// usually in the environment, not in the program.
class bad_setting : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

enum class setting_type : std::uint8_t {
    number,     ///< a whole number within limits
    bytes,      ///< the same; may end in k, M or G, for 2^10, 2^20 and 2^30
    word,       ///< one of a list
    placement,  ///< one of a list, or CPUs such as 0,2-5,8, cores:0-3, node:1
    path,       ///< of a file; "%r" in it is the process's rank in its MPI job
    text,       ///< any
};

/// A row of the table.
struct setting {
    std::string_view name = {};   ///< of a-z, 0-9, - and _
    std::string_view owner = {};  ///< the layer or program that obeys it
    setting_type type = setting_type::word;
    unsigned least = 0;  ///< for a number, or bytes
    unsigned most = 0;
    std::vector<std::string_view> (*words)() = nullptr;  ///< for a word or placement
    std::string_view fallback = {};                      ///< the default; always accepted
    std::string_view help = {};
    std::string_view bare = {};  ///< value when an option is given without one
    bool is_list = false;        ///< separated by ';': a repeated option appends

    std::string option() const;    ///< --quern:threads
    std::string variable() const;  ///< QUERN_THREADS
    std::string accepted() const;  ///< in words: "a whole number from 1 to 4096, or auto"
};

/// All settings in the order of the help: the scheduler's, then others in order of registration.
std::span<const setting> setting_table() noexcept;

/// Adds settings of a layer, or of a program or library on Quern; they become options, variables
/// and lines of files like all others. Register early: an unknown name is an error when the setting
/// is read. Everything that the rows point to must live as long as the process. Throws
/// std::invalid_argument for a name in use or with characters other than a-z, 0-9, - and _;
/// std::length_error beyond 128 settings. Thread safe.
///
///     static constexpr quern::setting k_mine[] = {{.name = "tile", .owner = "heat",
///         .type = quern::setting_type::number, .least = 1, .most = 4096, .fallback = "64",
///         .help = "points of a tile"}};
///     quern::register_settings(k_mine);
///     const unsigned tile = *quern::current_settings().number("tile");  // --quern:tile=32
void register_settings(std::span<const setting> rows);

/// From the weakest to the strongest.
enum class setting_source : std::uint8_t { fallback, file, environment, program, command_line };

struct setting_value {
    std::string text;
    setting_source source = setting_source::fallback;
    std::string origin = "default";  ///< "file quern.toml:3", "environment QUERN_THREADS", …
};

/// A value for every setting, each with its origin. Safe to read from several threads.
class settings {
public:
    /// The defaults.
    settings();

    /// The rows that have a value here: those registered when it was made or last changed.
    std::span<const setting> rows() const noexcept {
        return setting_table().first(m_values.size());
    }

    /// Throws std::invalid_argument for an unknown name, with the nearest match.
    const setting_value& at(std::string_view name) const;

    bool has(std::string_view name) const noexcept;

    /// The value of a number, or of bytes; nothing if it is a word, such as auto. Throws as at()
    /// does.
    std::optional<unsigned> number(std::string_view name) const;

    /// Sets a value, unless there is one from a stronger source. Of two values from one source the
    /// last counts. Throws std::invalid_argument that names the value, its origin and what is
    /// accepted, with the nearest match; also for a value that would not count.
    void set(std::string_view name, setting_value value);

    /// Throws std::invalid_argument for a value that cannot be obeyed, with its origin and the
    /// reason.
    [[noreturn]] void refuse(std::string_view name, const std::string& why) const;

    /// Adds the defaults of settings registered since.
    void take_in_new();

private:
    std::vector<setting_value> m_values;  ///< in the order of the table
};

/// The settings of a runtime that is made now without options. In increasing strength: the
/// defaults, the TOML file named by `config`, the variables QUERN_*, set_setting(), and the command
/// line. Throws std::invalid_argument, beginning "quern: ", for any unknown name or value there.
/// Thread safe, as long as no thread changes the environment. About 2 us without a file.
settings current_settings();

/// For a program with its own main: removes the options --quern:* from argc and argv, up to an
/// argument "--", and applies them to all runtimes made later. Returns false for --quern:help: the
/// help has been printed, and the program should end. Throws std::invalid_argument for unknown
/// options and bad values; argc and argv are then unchanged. Thread safe.
///
///     int main(int argc, char** argv) {
///         if (!quern::take_command_line(argc, argv)) return 0;
///         return quern::async([] { return 0; }).get();
///     }
///
/// quern::main() has done this already.
[[nodiscard]] bool take_command_line(int& argc, char** argv);

/// Sets a value for all runtimes made later, for instance from an option of the program's own.
/// Stronger than file and environment, weaker than runtime_options and the command line. `origin`
/// names the source in messages. Throws std::invalid_argument for an unknown name and for a bad
/// value. Thread safe.
///
///     quern::set_setting("threads", "2", "option -t");
void set_setting(std::string_view name, std::string_view value,
                 std::string_view origin = "program");

/// The text of --quern:help: every setting with its accepted values and default, and examples.
std::string settings_help();

}  // namespace quern
