// SPDX-License-Identifier: BSL-1.0
// Shared by the files of the settings: how each source spells a name, the error for an unknown
// name, and the reader of files.
#pragma once

#include <quern/settings/detail/names.hpp>
#include <quern/settings/settings.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace quern::detail {

/// Throws bad_setting("quern: <what>"). The only code that throws bad_setting.
[[noreturn]] void throw_bad_setting(const std::string& what);

/// Throws std::invalid_argument unless the name consists of a-z, 0-9, - and _. `what` names the
/// kind of row in the message: "setting".
void require_spelt(std::string_view name, const char* what);

using spelling = std::string (*)(std::string_view name);

std::string as_option(std::string_view name);    ///< --quern:spin-us
std::string as_variable(std::string_view name);  ///< QUERN_SPIN_US
std::string as_key(std::string_view name);       ///< spin_us

std::vector<std::string_view> setting_names();

/// Whether the name, bare as QUERN_MPI_THREADS without its prefix or as a key of a file, is one for
/// a layer that this program does not have: mpi. An environment or a file is shared by programs
/// with it and without it; one that has it checks the rest of the name.
bool is_for_absent_layer(std::string_view name);

/// Throws "quern: <what>; did you mean '…'?", or, if no name is near, "…; accepted: <all names>",
/// which is a screenful. The nearest match is computed from the bare names, since a common prefix
/// would make all names similar.
[[noreturn]] void refuse_unknown(const std::string& what, std::string_view bare,
                                 const std::vector<std::string_view>& names, spelling spell);

/// Replaces each "%r" by the process's rank in its MPI job; "0" if it is in none.
std::string with_rank(std::string path);

/// Reads the values from the TOML file named by the setting config. Throws std::invalid_argument
/// with file and line, and the column of a syntax error; also when the file cannot be read.
void read_settings_file(settings& into);

}  // namespace quern::detail
