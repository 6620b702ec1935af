// SPDX-License-Identifier: BSL-1.0
// Where programs and those who ask them meet: a folder of this user alone, with a socket for each
// process, named by its number.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace quern::detail {

/// The folder in that runtime directory; empty where it is no absolute path or too long for a
/// socket.
std::string live_folder_in(const char* runtime_dir);
/// The one of that user, where no runtime directory is known.
std::string live_folder_of(uid_t user);

/// What the setting live-folder says for this process; empty: nothing.
std::string chosen_live_folder();
/// Whether a socket in that folder can have a name.
bool is_live_folder(const std::string& path);

/// The folders that a program may have chosen, the best first: $XDG_RUNTIME_DIR/quern where that is
/// set and short enough for a socket, and /tmp/quern-<uid>. The chosen one alone if there is one.
std::vector<std::string> live_folders();

/// What is wrong with a folder: empty when it is there, is that user's and nobody else may enter.
/// Another's folder in its place could show anything, or be shown everything.
std::string fault_of_folder(const std::string& folder, uid_t owner);

/// The first of live_folders() that is without fault, made where it is missing; empty: none.
std::string make_live_folder();

enum class socket_state : unsigned char { absent, stale, answers };

/// Whether somebody listens at a socket.
socket_state probe_socket(const std::string& path) noexcept;

/// A socket that listens in the folder under that name, instead of a stale one; -1 with errno.
int listen_at(const std::string& folder, const std::string& name);

/// A socket that is connected to the path; -1 with errno.
int connect_to(const std::string& path) noexcept;

/// Whether it is that user who listens at the other end.
bool is_peer(int connected, uid_t user) noexcept;

/// A socket that listens at a port of 127.0.0.1; -1 with errno.
int listen_on_loopback(unsigned port) noexcept;

}  // namespace quern::detail
