// SPDX-License-Identifier: BSL-1.0
// The client side of live inspection.
#include <quern/counters/programs.hpp>

#include "live/place.hpp"

#include <quern/topology/detail/text.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace quern::counters {

namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

std::string name_of(pid_t program) { return "program " + std::to_string(program); }

/// The process id in a file's name, or 0.
pid_t number_of(const fs::path& file) {
    return topology::detail::parse_number<pid_t>(file.filename().native()).value_or(0);
}

/// The owner of the process; this user if it does not exist.
uid_t owner_of(pid_t program) {
    struct stat found;
    const std::string folder = "/proc/" + std::to_string(program);
    return ::stat(folder.c_str(), &found) == 0 ? found.st_uid : ::geteuid();
}

/// Whether the process exists; a stale socket may remain even so.
bool is_there(pid_t program) { return ::kill(program, 0) == 0 || errno != ESRCH; }

/// The folder given to a program at its start, if its environment can be read; else empty.
std::string folder_told(pid_t program) {
    constexpr std::string_view k_variable = "XDG_RUNTIME_DIR=";
    constexpr std::string_view k_folder = "QUERN_LIVE_FOLDER=";
    std::string folder;
    std::ifstream file("/proc/" + std::to_string(program) + "/environ");
    for (std::string entry; std::getline(file, entry, '\0');) {
        if (entry.starts_with(k_folder) && entry.size() > k_folder.size()) {
            return entry.substr(k_folder.size());
        }
        if (entry.starts_with(k_variable)) {
            folder = quern::detail::live_folder_in(entry.c_str() + k_variable.size());
        }
    }
    return folder;
}

/// The folders in which programs of a user may have sockets, each once. The client may have another
/// environment, under sudo or cron.
std::vector<std::string> folders_of(uid_t owner, const std::string& told = "") {
    std::vector<std::string> all = quern::detail::live_folders();
    if (!quern::detail::chosen_live_folder().empty()) {
        if (!told.empty() && told != all.front()) {
            all.push_back(told);
        }
        return all;
    }
    const std::string usual = "/run/user/" + std::to_string(owner);
    for (const std::string& each : {told, quern::detail::live_folder_in(usual.c_str()),
                                    quern::detail::live_folder_of(owner)}) {
        if (!each.empty() && std::find(all.begin(), all.end(), each) == all.end()) {
            all.push_back(each);
        }
    }
    return all;
}

/// Whether the folder exists and belongs to that user; other folders are skipped. It is an error if
/// other users may enter it, since the answers could come from them.
bool is_usable(const std::string& folder, uid_t owner) {
    struct stat found;
    if (::lstat(folder.c_str(), &found) != 0 || found.st_uid != owner) {
        return false;
    }
    if (const std::string fault = quern::detail::fault_of_folder(folder, owner); !fault.empty()) {
        throw cannot_ask("the folder '" + folder + "' is not to be trusted: " + fault);
    }
    return true;
}

/// Reports why there is no socket.
[[noreturn]] void refuse_absent(pid_t program, const std::vector<std::string>& searched) {
    if (!is_there(program)) {
        throw cannot_ask("there is no " + name_of(program));
    }
    const uid_t self = ::geteuid();
    if (const uid_t owner = owner_of(program); owner != self && self != 0) {
        throw cannot_ask(name_of(program) + " belongs to user " + std::to_string(owner) +
                         "; only that user and root can look into it");
    }
    std::string why = name_of(program) +
                      " cannot be looked into: it does not use Quern, has no runtime at present, "
                      "or the setting live is off; searched";
    for (const std::string& folder : searched) {
        why.append(folder == searched.front() ? " " : ", ").append(folder);
    }
    throw cannot_ask(why);
}

int connect_to(pid_t program) {
    const uid_t self = ::geteuid();
    const uid_t owner = self == 0 ? owner_of(program) : self;  // root may inspect all
    const std::vector<std::string> all = folders_of(owner, folder_told(program));
    for (const std::string& folder : all) {
        const std::string path = folder + "/" + std::to_string(program);
        if (!is_usable(folder, owner)) {
            continue;
        }
        const int connected = quern::detail::connect_to(path);
        if (connected >= 0 && quern::detail::is_peer(connected, owner)) {
            return connected;
        }
        if (connected >= 0) {
            ::close(connected);
            throw cannot_ask("what answers at '" + path + "' is another user's");
        }
        if (errno == ECONNREFUSED && !is_there(program)) {
            ::unlink(path.c_str());
            throw program_ended(name_of(program) + " has ended");
        }
        if (errno != ENOENT && errno != ECONNREFUSED) {
            throw cannot_ask(name_of(program) + " does not answer: " + std::strerror(errno));
        }
    }
    refuse_absent(program, all);
}

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
    for (const std::string& folder : folders_of(::geteuid())) {
        std::error_code failed;
        if (!is_usable(folder, ::geteuid())) {
            continue;
        }
        for (const auto& file : fs::directory_iterator(folder, failed)) {
            const pid_t number = number_of(file.path());
            if (number == 0) {
                continue;
            }
            switch (quern::detail::probe_socket(file.path())) {
                case quern::detail::socket_state::answers:
                    all.push_back(number);
                    break;
                case quern::detail::socket_state::stale:
                    if (!is_there(number)) {
                        ::unlink(file.path().c_str());
                    }
                    break;
                case quern::detail::socket_state::absent:
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
        throw program_ended(name_of(m_with) + " has ended");
    }
    std::string answer;
    std::array<char, 16'384> piece;
    while (answer.empty() || answer.back() != '\n') {
        wait_for(m_socket, POLLIN, deadline, m_with);
        const ssize_t size = ::recv(m_socket, piece.data(), piece.size(), 0);
        if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
            throw program_ended(name_of(m_with) + " has ended");
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
