// SPDX-License-Identifier: BSL-1.0
// Waits in one poll for the program's output, its end, signals to this process and the limit. The
// program is reaped last, so that its id names it until then.
#include "tune_child.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>

namespace quern::tool {

namespace {

using watch = std::chrono::steady_clock;

constexpr std::size_t k_kept_output = 1u << 20u;  // bytes
constexpr double k_grace_s = 1;                   // from SIGTERM to SIGKILL (guessed)
constexpr std::array k_signals{SIGINT, SIGTERM, SIGHUP};

int require(int result, const char* what) {
    if (result < 0) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    return result;
}

/// A file descriptor, closed at the end.
struct descriptor {
    int number = -1;
    descriptor() = default;
    explicit descriptor(int of) : number(of) {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() { close(); }
    void close() {
        if (number >= 0) {
            ::close(number);
        }
        number = -1;
    }
};

/// Starts the program. Returns an error of the system, 0 if it runs.
int spawn(const program_words& program, int output, const sigset_t& mask, pid_t& id) {
    std::vector<char*> words;
    for (const std::string& each : program.command) {
        words.push_back(const_cast<char*>(each.c_str()));
    }
    words.push_back(nullptr);
    std::vector<char*> environment;
    for (const std::string& each : program.variables) {
        environment.push_back(const_cast<char*>(each.c_str()));
    }
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string_view name(*each, std::strcspn(*each, "=") + 1);
        if (std::none_of(program.variables.begin(), program.variables.end(),
                         [&](const std::string& own) { return own.starts_with(name); })) {
            environment.push_back(*each);
        }
    }
    environment.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setsigmask(&attributes, &mask);
    const int error =
        ::posix_spawnp(&id, words[0], &files, &attributes, words.data(), environment.data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    return error;
}

/// Reads what is there. Returns whether more may come.
bool read_some(int from, std::string& into) {
    std::array<char, 65536> part;
    while (true) {
        const ssize_t got = ::read(from, part.data(), part.size());
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return got < 0 && errno == EAGAIN;
        }
        into.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (into.size() > 2 * k_kept_output) {
            into.erase(0, into.size() - k_kept_output);
        }
    }
}

/// For poll(); -1: no limit. At most a minute, so that any limit fits.
int milliseconds_until(watch::time_point begin, double limit_s) {
    if (std::isinf(limit_s)) {
        return -1;
    }
    const double left = limit_s - std::chrono::duration<double>(watch::now() - begin).count();
    return static_cast<int>(std::ceil(std::clamp(left, 0.0, 60.0) * 1000));
}

std::string failure_of(int status) {
    if (WIFEXITED(status)) {
        return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit status {}", WEXITSTATUS(status));
    }
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

/// Returns when the program has ended and can be reaped.
void wait_for(pid_t id, int output, double limit_s, interruption& interrupted, child_end& end) {
    const auto begin = watch::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(watch::now() - begin).count();
    };
    // <sys/pidfd.h> of glibc 2.36 cannot be used from C++.
    const descriptor process(
        require(static_cast<int>(::syscall(SYS_pidfd_open, id, 0)), "pidfd_open"));
    std::array<pollfd, 3> polled{
        {{process.number, POLLIN, 0}, {output, POLLIN, 0}, {interrupted.descriptor(), POLLIN, 0}}};
    while (true) {
        const int ready = ::poll(polled.data(), polled.size(), milliseconds_until(begin, limit_s));
        if (ready < 0 && errno != EINTR) {
            require(ready, "poll");
        }
        if (ready > 0 && polled[0].revents != 0) {
            end.seconds = seconds();
            read_some(output, end.output);
            return;
        }
        if (ready > 0 && polled[1].revents != 0 && !read_some(output, end.output)) {
            polled[1].fd = -1;  // closed by the program
        }
        if (seconds() >= limit_s || (!end.is_stopped && interrupted.signal() != 0)) {
            ::kill(-id, end.is_stopped ? SIGKILL : SIGTERM);
            limit_s =
                end.is_stopped ? std::numeric_limits<double>::infinity() : seconds() + k_grace_s;
            end.is_stopped = true;
            polled[2].fd = -1;
        }
    }
}

}  // namespace

interruption::interruption() {
    sigset_t mine;
    ::sigemptyset(&mine);
    for (const int each : k_signals) {
        struct sigaction how {};
        ::sigaction(each, nullptr, &how);
        if (how.sa_handler != SIG_IGN) {
            ::sigaddset(&mine, each);
        }
    }
    m_descriptor = require(::signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
    ::sigprocmask(SIG_BLOCK, &mine, &m_before);
}

interruption::~interruption() {
    signal();  // else one that has arrived would end this process now
    ::sigprocmask(SIG_SETMASK, &m_before, nullptr);
    ::close(m_descriptor);
}

int interruption::signal() {
    signalfd_siginfo arrived{};
    while (::read(m_descriptor, &arrived, sizeof arrived) == sizeof arrived) {
        if (m_signal == 0) {
            m_signal = static_cast<int>(arrived.ssi_signo);
            m_is_from_terminal = arrived.ssi_code == SI_KERNEL;
        }
    }
    return m_signal;
}

child_end run_child(const program_words& program, double limit_s, interruption& interrupted) {
    std::array<int, 2> ends{};
    require(::pipe2(ends.data(), O_CLOEXEC), "pipe2");
    const descriptor reading(ends[0]);
    descriptor writing(ends[1]);
    require(::fcntl(reading.number, F_SETFL, O_NONBLOCK), "fcntl");
    child_end end;
    pid_t id = 0;
    if (const int error = spawn(program, writing.number, interrupted.mask_before(), id)) {
        end.failure = fmt::format("cannot be started: {}", std::strerror(error));
        return end;
    }
    writing.close();
    wait_for(id, reading.number, limit_s, interrupted, end);
    if (end.is_stopped) {
        ::kill(-id, SIGKILL);  // what the program started; the group has its id until it is reaped
    }
    int status = 0;
    while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    end.failure = end.is_stopped ? "" : failure_of(status);
    end.output.erase(0, end.output.size() - std::min(end.output.size(), k_kept_output));
    return end;
}

}  // namespace quern::tool
