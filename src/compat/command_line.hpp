// SPDX-License-Identifier: BSL-1.0
// The command line of an HPX program: what is HPX's, what is Quern's, and what is the program's.
#pragma once

#include <string>
#include <vector>

namespace hpx::detail {

struct command_line {
    std::vector<std::string> own;    ///< the program's words, its name first
    std::vector<std::string> quern;  ///< options --quern:*
    bool wants_help = false;
    bool wants_version = false;
};

/// Translates the options --hpx:*. Throws hpx::exception(commandline_option_error).
command_line read_command_line(int argc, char** argv);

/// Obeys "hpx.os_threads=2" and its like; other settings are passed over.
void obey_settings(const std::vector<std::string>& cfg);

}  // namespace hpx::detail
