// SPDX-License-Identifier: BSL-1.0
// The bodies of child_program.hpp. Output goes to a file without a name rather than a pipe, so that
// nobody has to read while the program runs and its time is its own.
#include "child_program.hpp"

#include "command.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace quern::tool {

namespace {

constexpr off_t k_kept_output = 64 * 1024;  // bytes; more than anybody reads

// Written by the signal handler.
std::atomic<pid_t> running_child{0};
std::atomic<bool> was_interrupted{false};
static_assert(std::atomic<pid_t>::is_always_lock_free);

extern "C" void note_interruption(int) {
    was_interrupted = true;
    if (const pid_t child = running_child; child > 0) {
        ::kill(child, SIGTERM);
    }
}

void set_handler(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = handler == SIG_DFL ? 0 : static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction before {};
        ::sigaction(signal, nullptr, &before);
        if (before.sa_handler != SIG_IGN) {  // nohup, a script's background
            ::sigaction(signal, &action, nullptr);
        }
    }
}

using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::vector<std::string> changed_environment(const environment_changes& changes) {
    std::vector<std::string> result;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('='));
        bool kept = true;
        for (const auto& [changed, value] : changes) {
            kept = kept && changed != name;
        }
        if (kept) {
            result.emplace_back(text);
        }
    }
    for (const auto& [name, value] : changes) {
        if (!value.empty()) {
            result.push_back(fmt::format("{}={}", name, value));
        }
    }
    return result;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> result;
    result.reserve(words.size() + 1);
    for (std::string& word : words) {
        result.push_back(word.data());
    }
    result.push_back(nullptr);
    return result;
}

/// A program of that name beside this one is what the user of an uninstalled build means.
std::string hint_for(const std::string& program) {
    std::error_code ignored;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
    const auto beside = self.parent_path() / program;
    if (ignored || program.find('/') != std::string::npos || ::access(beside.c_str(), X_OK) != 0) {
        return "";
    }
    return fmt::format("; did you mean '{}'?", beside.string());
}

pid_t start(std::vector<std::string> words, std::vector<std::string> variables, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, words[0].c_str(), &actions, nullptr,
                                     pointers(words).data(), pointers(variables).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        throw usage_error(fmt::format("quern grain: cannot run '{}': {}{}", words[0],
                                      std::strerror(error), hint_for(words[0])));
    }
    return child;
}

/// Waits until it has ended, and lets the signal handler know before its number can be anybody's.
void wait_for(pid_t child, child_outcome& outcome, std::chrono::steady_clock::time_point begin) {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    outcome.wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    running_child = 0;
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    outcome.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
        outcome.cpu_s += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }
}

std::string end_of(std::FILE* output) {
    const int descriptor = ::fileno(output);
    const off_t size = ::lseek(descriptor, 0, SEEK_END);
    const off_t from = size > k_kept_output ? size - k_kept_output : 0;
    std::string text(static_cast<std::size_t>(size > from ? size - from : 0), '\0');
    const ssize_t got = ::pread(descriptor, text.data(), text.size(), from);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

}  // namespace

std::string child_outcome::how_it_ended() const {
    return signal != 0 ? fmt::format("signal {} ({})", signal, ::strsignal(signal))
                       : fmt::format("exit status {}", exit_status);
}

child_outcome run_child(const std::vector<std::string>& words, const environment_changes& changes) {
    const file output(std::tmpfile(), &std::fclose);
    if (!output) {
        throw std::runtime_error(fmt::format("no temporary file: {}", std::strerror(errno)));
    }
    child_outcome outcome;
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = start(words, changed_environment(changes), ::fileno(output.get()));
    running_child = child;
    if (was_interrupted) {  // just before: the handler has not known the child
        ::kill(child, SIGTERM);
    }
    wait_for(child, outcome, begin);
    outcome.output = end_of(output.get());
    return outcome;
}

interruption::interruption() { set_handler(&note_interruption); }
interruption::~interruption() { set_handler(SIG_DFL); }
bool interruption::asked() noexcept { return was_interrupted; }

}  // namespace quern::tool
