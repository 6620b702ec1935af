// SPDX-License-Identifier: BSL-1.0
#include "known_comms.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

namespace quern::mpi::detail {

namespace {

/// Mixes two numbers (the finaliser of splitmix64). Never 0.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t x = a * 0x9e3779b97f4a7c15U + b + 1;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return (x ^ (x >> 31U)) | 1U;
}

/// Ranks of MPI_COMM_WORLD; empty for an intercommunicator.
std::vector<int> members_of(MPI_Comm comm) {
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter != 0) {
        return {};
    }
    MPI_Group here = MPI_GROUP_NULL;
    MPI_Group world = MPI_GROUP_NULL;
    int size = 0;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_group(comm, &here);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    std::vector<int> own(static_cast<std::size_t>(size));
    std::iota(own.begin(), own.end(), 0);
    std::vector<int> members(own.size());
    PMPI_Group_translate_ranks(here, size, own.data(), world, members.data());
    PMPI_Group_free(&here);
    PMPI_Group_free(&world);
    return members;
}

}  // namespace

known_comms& known_comms::of_process() noexcept {
    static known_comms& the_one = *new known_comms;  // NOLINT(bugprone-unhandled-exception-at-new)
    return the_one;
}

known_comm* known_comms::find(MPI_Comm comm) noexcept {
    const auto found = m_all.find(number_of(comm));
    return found == m_all.end() ? nullptr : &found->second;
}

void known_comms::begin() {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    known_comm world{.handle = MPI_COMM_WORLD, .id = 1, .members = members_of(MPI_COMM_WORLD)};
    known_comm self{.handle = MPI_COMM_SELF,
                    .id = mixed(2, static_cast<std::uint64_t>(rank)),
                    .members = {rank}};
    const std::scoped_lock lock(m_lock);
    m_all.emplace(number_of(MPI_COMM_WORLD), std::move(world));
    m_all.emplace(number_of(MPI_COMM_SELF), std::move(self));
}

/// All members of the child were in the call on the parent, so they agree on its number there.
void known_comms::made(MPI_Comm parent, MPI_Comm child) {
    std::uint64_t id = 0;
    {
        const std::scoped_lock lock(m_lock);
        if (known_comm* const from = find(parent)) {
            id = mixed(from->id, ++from->children);
        }
    }
    if (id == 0 || child == MPI_COMM_NULL) {
        return;
    }
    known_comm one{.handle = child, .id = id, .members = members_of(child)};
    if (one.members.empty()) {
        return;
    }
    // Those that one call has split off from each other differ in their members.
    one.id = mixed(
        id, static_cast<std::uint64_t>(*std::min_element(one.members.begin(), one.members.end())));
    const std::scoped_lock lock(m_lock);
    m_all.insert_or_assign(number_of(child), std::move(one));
}

void known_comms::freed(MPI_Comm comm) noexcept {
    const std::scoped_lock lock(m_lock);
    m_all.erase(number_of(comm));
}

void known_comms::begins(call_note& note) noexcept {
    collective_call call{
        .name = note.kind->name, .root = note.peer, .bytes = bytes_of_buffer(note)};
    const std::scoped_lock lock(m_lock);
    if (known_comm* const on = find(note.comm)) {
        call.place = ++on->calls;
        note.place = call.place;
        on->last[call.place % known_comm::k_kept] = call;
    }
}

/// A message has both a tag and a peer; a collective call may have a root.
shared_note known_comms::shared(const call_note& note) noexcept {
    using way = shared_note::way;
    shared_note result{.call = note.kind->name, .bytes = bytes_of_buffer(note)};
    const bool is_message = note.tag != call_note::k_none && note.peer != call_note::k_none;
    const std::scoped_lock lock(m_lock);
    const known_comm* const on = find(note.comm);
    if (on != nullptr) {
        result.comm = on->id;
    }
    if (note.is_collective) {
        result.how = way::collective;
        result.place = note.place;
        result.root = note.peer == call_note::k_none ? shared_note::k_none : note.peer;
    } else if (is_message && on != nullptr) {
        result.how = note.is_sent ? way::sent : way::received;
        result.tag = note.tag == MPI_ANY_TAG ? shared_note::k_any : note.tag;
        if (note.peer == MPI_ANY_SOURCE) {
            result.peer = shared_note::k_any;
        } else if (note.peer >= 0 && static_cast<std::size_t>(note.peer) < on->members.size()) {
            result.peer = on->members[static_cast<std::size_t>(note.peer)];
        } else {
            result.how = way::other;  // MPI_PROC_NULL
        }
    }
    return result;
}

std::vector<known_comm> known_comms::all() {
    std::vector<known_comm> found;
    const std::scoped_lock lock(m_lock);
    for (const auto& [number, each] : m_all) {
        found.push_back(each);
    }
    return found;
}

std::int64_t bytes_of_buffer(const call_note& note) noexcept {
    if (note.type == MPI_DATATYPE_NULL || note.count < 0) {
        return -1;
    }
    int size = 0;
    PMPI_Type_size(note.type, &size);
    return note.count * std::max(size, 0);
}

}  // namespace quern::mpi::detail
