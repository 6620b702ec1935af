// SPDX-License-Identifier: BSL-1.0
#include "rank_states.hpp"

#include "json_reader.hpp"

#include <quern/mpi/detail/job_channel.hpp>

#include <fmt/format.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace quern::tool {

namespace {

using mpi::detail::job_bell;

/// From the last word of a rank until the report: each rank looks at itself once more at least
/// (k_interval of src/mpi/job_watch.cpp).
constexpr std::chrono::milliseconds k_confirmation{200};

int require(int result, const char* what) {
    if (result < 0) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    return result;
}

}  // namespace

rank_states::rank_states(unsigned ranks, std::string folder)
    : m_count(ranks),
      m_folder(std::move(folder)),
      m_receiver(
          require(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = fmt::format("{}/{}", m_folder, mpi::detail::k_bells_file);
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    require(::bind(m_receiver, reinterpret_cast<const sockaddr*>(&address), sizeof address),
            "bind");
}

rank_states::~rank_states() { ::close(m_receiver); }

void rank_states::read() {
    job_bell bell{};
    bool is_new = false;
    while (::recv(m_receiver, &bell, sizeof bell, 0) == sizeof bell) {
        is_new = true;
        if (bell.what == job_bell::kind::waits) {
            m_versions[bell.rank] = bell.version;
        } else {
            m_versions.erase(bell.rank);
        }
    }
    if (is_new) {
        m_due.reset();
        if (m_versions.size() == m_count && !is_told()) {
            m_due = clock::now() + k_confirmation;
        }
    }
}

/// Empty if a state is missing or not the one that was announced.
std::vector<rank_state> rank_states::all_states() const {
    std::vector<rank_state> all;
    for (const auto& [rank, version] : m_versions) {
        std::ifstream in(fmt::format("{}/{}", m_folder, mpi::detail::state_file_of(rank)));
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        rank_state state = read_state(text);
        if (state.rank != static_cast<int>(all.size()) || state.version != version) {
            return {};
        }
        all.push_back(std::move(state));
    }
    return all;
}

void rank_states::look(bool is_wanted) {
    m_due.reset();
    if (!is_wanted) {
        return;
    }
    try {
        const std::vector<rank_state> all = all_states();
        if (all.size() != m_count || !hangs(all)) {
            return;
        }
        m_told = m_versions;
        const std::string text = describe(all);
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
    } catch (const json_error&) {
        return;  // not written completely: there is no report then
    }
}

}  // namespace quern::tool
