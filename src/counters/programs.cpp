// SPDX-License-Identifier: BSL-1.0
// The side of those who ask.
#include <quern/counters/programs.hpp>

#include "live_place.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace quern::counters {

namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

std::string name_of(pid_t program) { return "program " + std::to_string(program); }

/// Those of the folders that are there. A folder that is not this user's alone is an error: what
/// answers there may be anybody.
std::vector<std::string> folders() {
    std::vector<std::string> all;
    for (const std::string& folder : detail::live_folders()) {
        struct stat found;
        if (::lstat(folder.c_str(), &found) != 0) {
            continue;
        }
        const std::string fault = detail::fault_of_folder(folder);
        if (!fault.empty()) {
            std::string why = "the folder '";
            throw cannot_ask(why.append(folder).append("' is not to be trusted: ").append(fault));
        }
        all.push_back(folder);
    }
    return all;
}

/// The process that a file stands for, or 0.
pid_t number_of(const fs::path& file) {
    const std::string name = file.filename();
    pid_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc{} && end == name.data() + name.size() ? number : 0;
}

/// Whose process it is, or nothing where there is none.
uid_t owner_of(pid_t program) {
    struct stat found;
    const std::string folder = "/proc/" + std::to_string(program);
    return ::stat(folder.c_str(), &found) == 0 ? found.st_uid : ::geteuid();
}

/// Whether there is a process of that number; its last socket may be stale even so.
bool is_there(pid_t program) { return ::kill(program, 0) == 0 || errno != ESRCH; }

/// No socket: why not.
[[noreturn]] void refuse_absent(pid_t program) {
    if (!is_there(program)) {
        throw cannot_ask("there is no " + name_of(program));
    }
    if (const uid_t owner = owner_of(program); owner != ::geteuid()) {
        throw cannot_ask(name_of(program) + " belongs to user " + std::to_string(owner) +
                         "; only that user can look into it");
    }
    throw cannot_ask(name_of(program) +
                     " cannot be looked into: it does not use Quern, has no runtime at present, or "
                     "the setting live is off");
}

int connect_to(pid_t program) {
    for (const std::string& folder : folders()) {
        const std::string path = folder + "/" + std::to_string(program);
        const int connected = detail::connect_to(path);
        if (connected >= 0) {
            return connected;
        }
        if (errno == ECONNREFUSED && !is_there(program)) {
            ::unlink(path.c_str());
            throw cannot_ask(name_of(program) + " has ended");
        }
        if (errno != ENOENT && errno != ECONNREFUSED) {
            throw cannot_ask(name_of(program) + " does not answer: " + std::strerror(errno));
        }
    }
    refuse_absent(program);
}

/// Waits until the socket is ready for that.
void wait_for(int socket, short event, steady_clock::time_point deadline, pid_t program) {
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
        pollfd one{socket, event, 0};
        const int ready = ::poll(&one, 1, static_cast<int>(std::max<long>(left.count(), 0)));
        if (ready > 0) {
            return;
        }
        if (ready == 0) {
            throw cannot_ask(name_of(program) +
                             " does not answer in time; it may be stopped or overloaded");
        }
        if (errno != EINTR) {
            throw std::system_error(errno, std::generic_category(), "poll");
        }
    }
}

}  // namespace

std::vector<pid_t> live_programs() {
    std::vector<pid_t> all;
    for (const std::string& folder : folders()) {
        std::error_code failed;
        for (const auto& file : fs::directory_iterator(folder, failed)) {
            const pid_t number = number_of(file.path());
            if (number == 0) {
                continue;
            }
            switch (detail::probe_socket(file.path())) {
                case detail::socket_state::answers:
                    all.push_back(number);
                    break;
                case detail::socket_state::stale:
                    if (!is_there(number)) {
                        ::unlink(file.path().c_str());
                    }
                    break;
                case detail::socket_state::absent:
                    break;
            }
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

conversation::conversation(pid_t with) : m_with(with), m_socket(connect_to(with)) {}

conversation::~conversation() { ::close(m_socket); }

std::string conversation::ask(std::string_view request, std::chrono::milliseconds patience) {
    const auto deadline = steady_clock::now() + patience;
    const std::string line = std::string(request) + "\n";
    wait_for(m_socket, POLLOUT, deadline, m_with);
    if (::send(m_socket, line.data(), line.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(line.size())) {
        throw cannot_ask(name_of(m_with) + " has ended");
    }
    std::string answer;
    std::array<char, 16'384> piece;
    while (answer.empty() || answer.back() != '\n') {
        wait_for(m_socket, POLLIN, deadline, m_with);
        const ssize_t size = ::recv(m_socket, piece.data(), piece.size(), 0);
        if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
            throw cannot_ask(name_of(m_with) + " has ended");
        }
        answer.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    }
    answer.pop_back();
    return answer;
}

std::string ask(pid_t program, std::string_view request, std::chrono::milliseconds patience) {
    return conversation(program).ask(request, patience);
}

}  // namespace quern::counters
