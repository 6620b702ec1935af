// SPDX-License-Identifier: BSL-1.0
// Runs another program to its end and times it, for `quern grain`. What it prints is kept aside: it
// is of interest only when something goes wrong. Ctrl-C ends the program that runs and is
// remembered.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quern::tool {

struct child_outcome {
    int exit_status = 0;  ///< meaningful when no signal ended it
    int signal = 0;       ///< 0, or the number of the one that ended it
    double wall_s = 0;    ///< from before it was started until it had ended
    double cpu_s = 0;     ///< of all its threads, user and system
    std::string output;   ///< what it wrote to stdout and stderr; the end of it when it is long

    bool succeeded() const { return signal == 0 && exit_status == 0; }
    std::string how_it_ended() const;  ///< "exit status 3", "signal 11 (Segmentation fault)"
};

using environment_changes = std::vector<std::pair<std::string, std::string>>;

/// Runs words[0] (found in PATH when it has no '/') with the environment of this process, changed;
/// an empty value takes the variable away. Throws usage_error when it cannot be started, and
/// std::runtime_error when there is no room for what it prints. One at a time.
child_outcome run_child(const std::vector<std::string>& words, const environment_changes& changes);

/// From its making to its end, SIGINT and SIGTERM do not end this process: they end the child that
/// runs, and are remembered. A second one ends this process too. One at a time.
class interruption {
public:
    interruption();
    ~interruption();
    interruption(const interruption&) = delete;
    interruption& operator=(const interruption&) = delete;

    /// Whether the user wants no more.
    static bool asked() noexcept;
};

}  // namespace quern::tool
