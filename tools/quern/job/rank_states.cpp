// SPDX-License-Identifier: BSL-1.0
// Receives the datagrams of ranks, reads their states, and writes the report when the job hangs.
#include "job/rank_states.hpp"

#include "live/json_reader.hpp"

#include <quern/mpi/detail/job_channel.hpp>

#include <fmt/format.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace quern::tool {

namespace {

using mpi::detail::job_bell;

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

bool rank_states::take_bells() {
    job_bell bell{};
    bool is_new = false;
    while (::recv(m_receiver, &bell, sizeof bell, 0) == sizeof bell) {
        if (bell.what == job_bell::kind::aborts) {
            if (!m_abortion) {
                m_abortion = {bell.rank, static_cast<int>(bell.version)};
            }
            continue;
        }
        is_new = true;
        m_told.erase(bell.rank);  // its file is another one now
        if (bell.what == job_bell::kind::runs) {
            m_still.erase(bell.rank);
            continue;
        }
        m_still[bell.rank] = bell.version;
        if (bell.what == job_bell::kind::told) {
            m_told.insert(bell.rank);
        }
    }
    return is_new;
}

std::optional<bool> rank_states::has_finalised(int rank) const {
    if (!std::ifstream(fmt::format("{}/{}", m_folder, mpi::detail::joined_file_of(rank)))) {
        return std::nullopt;
    }
    std::ifstream in(fmt::format("{}/{}", m_folder, mpi::detail::state_file_of(rank)));
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    try {
        return !text.empty() && read_state(text).is_finalised;
    } catch (const json_error&) {
        return std::nullopt;  // a folder without room
    }
}

void rank_states::read(bool is_wanted) {
    if (!take_bells() || !is_wanted || m_still.size() != m_count) {
        return;
    }
    if (m_still != m_judged) {
        m_judged = m_still;
        m_is_asked = false;
        judge();
    } else if (m_is_asked && m_told.size() == m_expected) {
        judge();
    }
}

/// At first from states without words; when all ranks have answered, from those with words. In
/// between each rank has looked at itself once more.
void rank_states::judge() {
    try {
        const std::vector<rank_state> all = all_states();
        if (all.size() != m_count || !hangs(all)) {
            return;
        }
        if (!m_is_asked) {
            m_expected = static_cast<std::size_t>(std::count_if(
                all.begin(), all.end(), [](const rank_state& each) { return !each.is_finalised; }));
            ask();
            return;
        }
        m_is_asked = false;
        const std::string text = describe(all);
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
    } catch (const json_error&) {
        return;  // a folder without room: there is no report then
    }
}

void rank_states::ask() {
    m_is_asked = true;
    m_told.clear();
    const std::string path = fmt::format("{}/{}", m_folder, mpi::detail::k_question_file);
    std::ofstream(path + ".new") << ++m_questions;
    std::rename((path + ".new").c_str(), path.c_str());
}

/// Empty if a state is missing or not the one that was announced.
std::vector<rank_state> rank_states::all_states() const {
    std::vector<rank_state> all;
    for (const auto& [rank, version] : m_still) {
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

}  // namespace quern::tool
