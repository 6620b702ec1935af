// SPDX-License-Identifier: BSL-1.0
// What a user of a program may choose about its runtime, from outside: one table of settings, and
// the sources that give them values. A runtime reads them when it is made; the help, the checks,
// the names of options and variables, and docs/configuration.md all come from the table. To add a
// setting, write a row (src/scheduler/settings.cpp) and read it where it is obeyed.
#pragma once

#include <quern/base/config.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// A setting that is unknown or has a bad value. Where nobody catches it, the program ends with the
/// message on stderr and exit status 2, unless it has a terminate handler of its own: the mistake
/// is most often in its environment, and not a fault of the program.
class bad_setting : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

enum class setting_type : std::uint8_t {
    number,     ///< a whole number within limits
    word,       ///< one of a list
    placement,  ///< one of a list, or CPUs such as 0,2-5,8, cores:0-3, node:1
    path,       ///< of a file
    text,       ///< any
};

/// A row of the table.
struct setting {
    std::string_view name;
    setting_type type = setting_type::word;
    unsigned least = 0;  ///< of a number
    unsigned most = 0;
    std::vector<std::string_view> (*words)() = nullptr;  ///< of a word or placement
    std::string_view fallback;                           ///< the default; always accepted
    std::string_view help;
    std::string_view bare = {};  ///< the value of an option that is given without one
    bool for_observers = false;  ///< obeyed by the layers above (observers.hpp)
    bool is_list = false;        ///< separated by ';': an option that is repeated adds to it

    std::string option() const;    ///< --quern:threads
    std::string variable() const;  ///< QUERN_THREADS
    std::string accepted() const;  ///< in words: "a whole number from 1 to 4096, or auto"
};

/// All settings there are, in the order of the help.
std::span<const setting> setting_table() noexcept;

/// From the weakest to the strongest.
enum class setting_source : std::uint8_t { fallback, file, environment, program, command_line };

struct setting_value {
    std::string text;
    setting_source source = setting_source::fallback;
    std::string origin = "default";  ///< "file quern.toml:3", "environment QUERN_THREADS", …
};

/// A value for every setting, each with where it came from. Safe to read from several threads.
class settings {
public:
    /// The defaults.
    settings();

    /// Throws std::invalid_argument for a name that is not in the table, with the nearest match.
    const setting_value& at(std::string_view name) const;

    /// The value of a number; nothing while it is a word, such as auto. Throws as at() does.
    std::optional<unsigned> number(std::string_view name) const;

    /// Gives a setting a value, unless it has one from a stronger source; of two values from one
    /// source the last counts. Throws std::invalid_argument that names the value, its origin and
    /// what is accepted, with the nearest match; also when the value would not count.
    void set(std::string_view name, setting_value value);

    /// Throws std::invalid_argument for a value that cannot be obeyed: with its origin, and why.
    [[noreturn]] void refuse(std::string_view name, const std::string& why) const;

private:
    std::vector<setting_value> m_values;  ///< in the order of the table
};

/// What a runtime that is made now gets where its options say nothing: the defaults, below the TOML
/// file that `config` names, the variables QUERN_*, what set_setting() said, and the command line.
/// Throws std::invalid_argument, beginning "quern: ", for anything there that is unknown or not
/// accepted. Thread safe, as long as nobody changes the environment. About 2 us without a file.
settings current_settings();

/// For a program with a main of its own: takes the options --quern:* out of argc and argv, up to an
/// argument "--", for all runtimes that are made later. Returns false when --quern:help was among
/// them: the help is printed then, and the program should end. Throws std::invalid_argument for
/// unknown options and bad values; argc and argv are then as before. Thread safe.
///
///     int main(int argc, char** argv) {
///         if (!quern::take_command_line(argc, argv)) return 0;
///         return quern::async([] { return 0; }).get();
///     }
///
/// quern::main() has done this already.
[[nodiscard]] bool take_command_line(int& argc, char** argv);

/// Gives a setting a value for all runtimes that are made later, for instance from an option of the
/// program's own: stronger than file and environment, weaker than runtime_options and than the
/// command line. `origin` says in messages where the value is from. Throws std::invalid_argument
/// for an unknown name and for a bad value. Thread safe.
///
///     quern::set_setting("threads", "2", "option -t");
void set_setting(std::string_view name, std::string_view value,
                 std::string_view origin = "program");

/// What --quern:help prints: every setting with what it accepts and its default, and examples.
std::string settings_help();

}  // namespace quern
