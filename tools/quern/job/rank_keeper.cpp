// SPDX-License-Identifier: BSL-1.0
// Starts one rank and waits for it.
#include "job/rank_keeper.hpp"

#include "child/child.hpp"
#include "live/job_place.hpp"

#include <quern/mpi/detail/job_channel.hpp>
#include <quern/topology/detail/text.hpp>

#include <fmt/format.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern::tool {

namespace {

constexpr int k_not_started = 127;  // the exit status that shells give

/// -1: no starter has told it.
int own_rank() {
    for (const char* const name : k_rank_variables) {
        if (const char* const text = std::getenv(name)) {
            return topology::detail::parse_number<int>(text).value_or(-1);
        }
    }
    return -1;
}

std::vector<std::string> words_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(in, word, '\0');) {
        words.push_back(word);
    }
    if (words.size() < 2) {
        throw std::runtime_error(fmt::format("'{}': this job has ended", file));
    }
    return words;
}

/// A report that cannot be sent is dropped: `quern run` has ended then, and the job ends too.
void send(const std::string& to, const rank_report& report) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    to.copy(address.sun_path, sizeof address.sun_path - 1);
    const int sender = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sender >= 0) {
        ::sendto(sender, &report, sizeof report, MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), sizeof address);
        ::close(sender);
    }
}

/// So that the starter sees the same end; the program has left its core, this process leaves none.
[[noreturn]] void end_by(int signal) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    std::signal(signal, SIG_DFL);
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, signal);
    ::kill(::getpid(), signal);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
    ::_exit(128 + signal);
}

}  // namespace

int keep_rank(std::string_view folder) {
    const std::string reports = fmt::format("{}/{}", folder, k_reports_file);
    const std::vector<std::string> words = words_of(fmt::format("{}/{}", folder, k_command_file));
    const int rank = own_rank();
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    const started_child program =
        start_child({.words = {words.begin() + 1, words.end()},
                     .path = words[0],
                     .variables = {fmt::format("{}={}", mpi::detail::k_job_variable, folder)},
                     .signal_at_our_end = SIGKILL,
                     .signals = &before});
    if (program.error != 0) {
        send(reports, {rank_report::kind::not_started, rank, program.id, program.error});
        return k_not_started;
    }
    send(reports, {rank_report::kind::started, rank, program.id, 0});
    const int status = wait_for_child(program.id).status;
    if (WIFSIGNALED(status)) {
        send(reports, {rank_report::kind::signalled, rank, program.id, WTERMSIG(status)});
        end_by(WTERMSIG(status));
    }
    send(reports, {rank_report::kind::exited, rank, program.id, WEXITSTATUS(status)});
    return WEXITSTATUS(status);
}

}  // namespace quern::tool
