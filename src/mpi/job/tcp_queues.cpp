// SPDX-License-Identifier: BSL-1.0
// Reads /proc/self/fd and /proc/self/net/tcp.
#include "job/tcp_queues.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>

namespace quern::mpi::detail {

namespace {

namespace fs = std::filesystem;

constexpr unsigned k_listens = 0x0a;  ///< TCP_LISTEN; its queues are of connections
constexpr unsigned k_first_closing = 4;
constexpr unsigned k_established = 1;

/// The inodes of the open sockets: the links read "socket:[12345]".
bool read_sockets(std::set<std::string>& inodes) {
    constexpr std::string_view k_prefix = "socket:[";
    std::error_code failed;
    for (fs::directory_iterator each("/proc/self/fd", failed), end; !failed && each != end;
         each.increment(failed)) {
        std::error_code is_gone;
        const std::string target = fs::read_symlink(each->path(), is_gone).string();
        if (!is_gone && target.starts_with(k_prefix)) {
            inodes.insert(target.substr(k_prefix.size(), target.size() - k_prefix.size() - 1));
        }
    }
    return !failed;
}

/// A line is "sl local remote state tx:rx timer:when retransmits uid timeout inode ...".
bool has_no_bytes(const std::string& line, const std::set<std::string>& inodes) {
    std::istringstream words(line);
    std::string skipped;
    std::string queues;
    std::string inode;
    unsigned state = 0;
    words >> skipped >> skipped >> skipped >> std::hex >> state >> queues >> skipped >> skipped >>
        skipped >> skipped >> inode;
    if (!words || !inodes.contains(inode) || state == k_listens) {
        return true;
    }
    const bool connects = state != k_established && state < k_first_closing;
    return !connects && queues == "00000000:00000000";
}

}  // namespace

bool tcp_queues_are_empty() {
    std::set<std::string> inodes;
    if (!read_sockets(inodes)) {
        return false;
    }
    for (const char* const table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
        std::ifstream in(table);  // without IPv6 the second one is not there
        std::string line;
        std::getline(in, line);  // the heading
        while (std::getline(in, line)) {
            if (!has_no_bytes(line, inodes)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace quern::mpi::detail
