// SPDX-License-Identifier: BSL-1.0
// The rendezvous of programs and clients: a private folder of this user, with a socket per process,
// named by its process id.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace quern::detail {

/// The folder in that runtime directory; empty if the path is not absolute or too long for a
/// socket.
std::string live_folder_in(const char* runtime_dir);
/// The folder of that user without a runtime directory.
std::string live_folder_of(uid_t user);

/// The setting live-folder of this process; may be empty.
std::string chosen_live_folder();
/// Whether a socket in that folder can have a name.
bool is_live_folder(const std::string& path);

/// The folders that a program may have chosen, by preference: $XDG_RUNTIME_DIR/quern if set and
/// short enough for a socket, and /tmp/quern-<uid>. Only live-folder if it is set.
std::vector<std::string> live_folders();

/// The fault of a folder. Empty if it exists, belongs to that user, and no other user may enter.
/// Another user's folder could give false answers or record requests.
std::string fault_of_folder(const std::string& folder, uid_t owner);

/// The first of live_folders() without a fault, created if missing; empty: none.
std::string make_live_folder();

enum class socket_state : unsigned char { absent, stale, answers };

/// Whether a process listens at a socket.
socket_state probe_socket(const std::string& path) noexcept;

/// A listening socket with that name in the folder, replacing a stale one; -1 with errno.
int listen_at(const std::string& folder, const std::string& name);

/// A socket connected to the path; -1 with errno.
int connect_to(const std::string& path) noexcept;

/// Whether the peer belongs to that user.
bool is_peer(int connected, uid_t user) noexcept;

/// A socket listening at a port of 127.0.0.1; -1 with errno.
int listen_on_loopback(unsigned port) noexcept;

}  // namespace quern::detail
