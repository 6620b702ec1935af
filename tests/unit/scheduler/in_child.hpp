// SPDX-License-Identifier: BSL-1.0
// Runs a function in a process of its own, with its own environment and command line, so that
// outside settings do not leak from one case into the next. Requires: the calling test has no other
// threads, because the child is a fork.
#pragma once

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace quern_test {

struct surroundings {
    std::vector<std::pair<std::string, std::string>> variables{};
    std::vector<std::string> arguments{};  ///< without the name of the program
};

struct ended {
    int status = -1;     ///< exit status, or -1 when it died
    int signal = 0;      ///< the signal that ended it, or 0
    std::string output;  ///< stdout and stderr together
};

/// argc and argv as a main gets them.
class command_line {
public:
    explicit command_line(std::vector<std::string> arguments) : m_texts(std::move(arguments)) {
        m_texts.insert(m_texts.begin(), "prog");
        for (std::string& text : m_texts) {
            m_argv.push_back(text.data());
        }
        m_argv.push_back(nullptr);
        argc = static_cast<int>(m_texts.size());
    }

    char** argv() { return m_argv.data(); }
    /// The remaining arguments, without the name of the program.
    std::vector<std::string> left() const { return {m_argv.begin() + 1, m_argv.begin() + argc}; }

    int argc = 0;

private:
    std::vector<std::string> m_texts;
    std::vector<char*> m_argv;
};

/// Calls int main(int& argc, char** argv) in a child; an exception is printed and gives 99.
template <class Main>
ended in_child(const surroundings& outside, Main&& main) {
    int ends[2];
    if (::pipe(ends) != 0) {
        return {};
    }
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        for (const auto& [name, value] : outside.variables) {
            ::setenv(name.c_str(), value.c_str(), 1);
        }
        int status = 99;
        try {
            command_line line(outside.arguments);
            status = main(line.argc, line.argv());
        } catch (const std::exception& error) {
            std::fputs(error.what(), stdout);
        }
        std::fflush(nullptr);
        std::_Exit(status);
    }
    ::close(ends[1]);
    ended result;
    char piece[4096];
    for (ssize_t n = 0; (n = ::read(ends[0], piece, sizeof piece)) > 0;) {
        result.output.append(piece, static_cast<std::size_t>(n));
    }
    ::close(ends[0]);
    int status = 0;
    if (::waitpid(child, &status, 0) == child && WIFEXITED(status)) {
        result.status = WEXITSTATUS(status);
    } else if (WIFSIGNALED(status)) {
        result.signal = WTERMSIG(status);
    }
    return result;
}

/// A main that prints the setting threads and the number of workers of a runtime; 7 after
/// --quern:help.
inline int show_threads(int& argc, char** argv, const quern::runtime_options& options = {}) {
    if (!quern::take_command_line(argc, argv)) {
        return 7;
    }
    const auto threads = quern::current_settings().at("threads");
    std::printf("%s from %s, %u workers", threads.text.c_str(), threads.origin.c_str(),
                quern::runtime(options).workers());
    return 0;
}

}  // namespace quern_test
