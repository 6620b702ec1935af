// SPDX-License-Identifier: BSL-1.0
// Starts other programs: the one place of this command that does.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <string>
#include <vector>

namespace quern::tool {

/// A file descriptor, closed at the end.
class descriptor {
public:
    descriptor() = default;
    explicit descriptor(int of) : m_number(of) {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() { close(); }

    int number() const noexcept { return m_number; }
    void close() noexcept;

private:
    int m_number = -1;
};

/// The result of a call of the system. Throws std::system_error if it is below 0.
int require(int result, const char* what);

/// What a program is started with.
struct child_start {
    /// Its arguments. The first names the program; without '/' it is searched in PATH.
    std::vector<std::string> words{};
    std::string path{};  ///< the program's file, if the first word is to be another name
    std::vector<std::string> variables{};  ///< "NAME=value", in place of this process's
    bool has_input = true;                 ///< false: reads /dev/null
    int output = -1;                       ///< for stdout and stderr; -1: this process's
    bool has_own_group = false;            ///< of processes
    int signal_at_our_end = 0;             ///< that it gets when this process ends; 0: none
    const sigset_t* signals = nullptr;     ///< those that it blocks; null: as this process
    std::function<void()> before_start{};  ///< called in the new process
};

struct started_child {
    pid_t id = 0;   ///< to be waited for; 0 if there is an error
    int error = 0;  ///< of the system, when the program cannot be started
};

/// Returns when the program has been loaded. Requires: this process has one thread. Throws
/// std::system_error when there can be no process.
started_child start_child(const child_start& how);

/// How a child ended.
struct ended_child {
    int status = 0;          ///< as waitpid gives it
    double processor_s = 0;  ///< of all its threads, and of the children that it has waited for
};

/// Waits for a child's end.
ended_child wait_for_child(pid_t id) noexcept;

/// "exit status 3", "signal 11 (Segmentation fault)"; empty for exit status 0.
std::string failure_of(int status);

}  // namespace quern::tool
