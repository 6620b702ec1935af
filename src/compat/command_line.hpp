// SPDX-License-Identifier: BSL-1.0
// The command line of an HPX program: separates HPX's options, Quern's, and the program's.
#pragma once

#include <string>
#include <vector>

namespace hpx::detail {

struct command_line {
    std::vector<std::string> own;    ///< the program's words, its name first
    std::vector<std::string> quern;  ///< options --quern:*
    bool wants_help = false;
    bool wants_version = false;
    bool runs_main_everywhere = false;  ///< at all localities, not only at the root
};

/// Translates the options --hpx:*. Throws hpx::exception(commandline_option_error).
command_line read_command_line(int argc, char** argv);

/// Whether "hpx.run_hpx_main!=1" is there.
bool runs_main_everywhere(const std::vector<std::string>& cfg);

/// Applies "hpx.os_threads=2" and similar settings; others are ignored.
void obey_settings(const std::vector<std::string>& cfg);

}  // namespace hpx::detail
