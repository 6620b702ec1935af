// SPDX-License-Identifier: BSL-1.0
// The folder and its sockets.
#include "live/place.hpp"

#include <quern/settings/settings.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace quern::detail {

namespace {

constexpr std::size_t k_longest_name = 24;  // of a socket within its folder: a number
constexpr int k_waiting = 16;               // connections not accepted yet

bool is_short_enough(const std::string& folder) {
    return folder.size() + k_longest_name < sizeof(sockaddr_un::sun_path);
}

sockaddr_un address_of(const std::string& path) noexcept {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
}

/// A new socket on which `use` (bind or connect) has succeeded, or -1 with errno.
template <class Use>
int open_socket(const std::string& path, Use use) noexcept {
    const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) {
        return -1;
    }
    const sockaddr_un address = address_of(path);
    if (use(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const int error = errno;
        ::close(made);
        errno = error;
        return -1;
    }
    return made;
}

}  // namespace

std::string chosen_live_folder() { return current_settings().at("live-folder").text; }

bool is_live_folder(const std::string& path) {
    return path.starts_with('/') && is_short_enough(path);
}

std::string live_folder_in(const char* runtime_dir) {
    std::string folder = std::string(runtime_dir) + "/quern";
    return *runtime_dir == '/' && is_short_enough(folder) ? folder : "";
}

std::string live_folder_of(uid_t user) { return "/tmp/quern-" + std::to_string(user); }

std::vector<std::string> live_folders() {
    if (std::string chosen = chosen_live_folder(); !chosen.empty()) {
        return {std::move(chosen)};
    }
    std::vector<std::string> all;
    if (const char* const runtime_dir = ::secure_getenv("XDG_RUNTIME_DIR")) {
        all.push_back(live_folder_in(runtime_dir));
    }
    all.push_back(live_folder_of(::geteuid()));
    std::erase(all, "");
    return all;
}

std::string fault_of_folder(const std::string& folder, uid_t owner) {
    struct stat found;
    if (::lstat(folder.c_str(), &found) != 0) {
        return std::strerror(errno);
    }
    if (!S_ISDIR(found.st_mode)) {
        return "it is no folder";
    }
    if (found.st_uid != owner) {
        return "it belongs to user " + std::to_string(found.st_uid);
    }
    constexpr mode_t k_others = S_IRWXG | S_IRWXO;
    return (found.st_mode & k_others) != 0 ? "others may enter it" : "";
}

std::string make_live_folder() {
    for (const std::string& folder : live_folders()) {
        if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
            continue;
        }
        if (fault_of_folder(folder, ::geteuid()).empty()) {
            return folder;
        }
    }
    return "";
}

int listen_at(const std::string& folder, const std::string& name) {
    // Under a temporary name until it listens: a reader would take it for the socket of a dead
    // program.
    const std::string hidden = folder + "/." + name;
    ::unlink(hidden.c_str());
    const int listening = open_socket(hidden, ::bind);
    if (listening >= 0 && (::listen(listening, k_waiting) != 0 ||
                           ::rename(hidden.c_str(), (folder + "/" + name).c_str()) != 0)) {
        ::unlink(hidden.c_str());
        ::close(listening);
        return -1;
    }
    return listening;
}

int connect_to(const std::string& path) noexcept { return open_socket(path, ::connect); }

bool is_peer(int connected, uid_t user) noexcept {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == user;
}

int listen_on_loopback(unsigned port) noexcept {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) {
        return -1;
    }
    const int yes = 1;  // a restarted program need not wait for its old connections
    ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(made, k_waiting) != 0) {
        const int error = errno;
        ::close(made);
        errno = error;
        return -1;
    }
    return made;
}

socket_state probe_socket(const std::string& path) noexcept {
    const int connected = connect_to(path);
    if (connected >= 0) {
        ::close(connected);
        return socket_state::answers;
    }
    return errno == ECONNREFUSED ? socket_state::stale
           : errno == EAGAIN     ? socket_state::answers  // its queue is full
                                 : socket_state::absent;
}

}  // namespace quern::detail
