// SPDX-License-Identifier: BSL-1.0
// A new process tells through a pipe why it could not become the program; loading closes the pipe.
#include "child/child.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

namespace quern::tool {

namespace {

constexpr int k_not_loaded = 127;  // the exit status that shells give

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (const std::string& each : texts) {
        pointers.push_back(const_cast<char*>(each.c_str()));
    }
    return pointers;
}

std::vector<char*> environment_with(const std::vector<std::string>& variables) {
    std::vector<char*> environment = pointers_to(variables);
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string_view name(*each, std::strcspn(*each, "=") + 1);
        if (std::none_of(variables.begin(), variables.end(),
                         [&](const std::string& own) { return own.starts_with(name); })) {
            environment.push_back(*each);
        }
    }
    environment.push_back(nullptr);
    return environment;
}

/// Becomes the program. Returns an error of the system.
int become(const child_start& how, char* const* words, char* const* environment, pid_t starter) {
    if (how.has_own_group) {
        ::setpgid(0, 0);
    }
    if (how.signal_at_our_end != 0) {
        ::prctl(PR_SET_PDEATHSIG, how.signal_at_our_end);
        if (::getppid() != starter) {  // it has ended before it could be watched
            ::_exit(EXIT_FAILURE);
        }
    }
    if (!how.has_input) {
        const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0) {
            return errno;
        }
    }
    if (how.output >= 0 &&
        (::dup2(how.output, STDOUT_FILENO) < 0 || ::dup2(how.output, STDERR_FILENO) < 0)) {
        return errno;
    }
    if (how.before_start) {
        how.before_start();
    }
    if (how.signals != nullptr) {
        ::sigprocmask(SIG_SETMASK, how.signals, nullptr);
    }
    ::execvpe(how.path.empty() ? words[0] : how.path.c_str(), words, environment);
    return errno;
}

}  // namespace

void descriptor::close() noexcept {
    if (m_number >= 0) {
        ::close(m_number);
    }
    m_number = -1;
}

int require(int result, const char* what) {
    if (result < 0) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    return result;
}

started_child start_child(const child_start& how) {
    std::vector<char*> words = pointers_to(how.words);
    words.push_back(nullptr);
    const std::vector<char*> environment = environment_with(how.variables);
    std::array<int, 2> ends{};
    require(::pipe2(ends.data(), O_CLOEXEC), "pipe2");
    const descriptor reading(ends[0]);
    descriptor writing(ends[1]);
    const pid_t self = ::getpid();
    const pid_t child = require(::fork(), "fork");
    if (child == 0) {
        const int error = become(how, words.data(), environment.data(), self);
        [[maybe_unused]] const auto told = ::write(writing.number(), &error, sizeof error);
        ::_exit(k_not_loaded);
    }
    if (how.has_own_group) {
        ::setpgid(child, child);  // both do, since either may be first
    }
    writing.close();
    int error = 0;
    ssize_t got = 0;
    while ((got = ::read(reading.number(), &error, sizeof error)) < 0 && errno == EINTR) {
    }
    if (got == sizeof error) {
        wait_for_child(child);
        return {0, error};
    }
    return {child, 0};
}

ended_child wait_for_child(pid_t id) noexcept {
    int status = 0;
    rusage used{};
    while (::wait4(id, &status, 0, &used) < 0 && errno == EINTR) {
    }
    const auto seconds = [](const timeval& of) {
        return static_cast<double>(of.tv_sec) + 1e-6 * static_cast<double>(of.tv_usec);
    };
    return {status, seconds(used.ru_utime) + seconds(used.ru_stime)};
}

std::string failure_of(int status) {
    if (WIFEXITED(status)) {
        return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit status {}", WEXITSTATUS(status));
    }
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

}  // namespace quern::tool
