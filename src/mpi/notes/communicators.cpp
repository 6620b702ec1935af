// SPDX-License-Identifier: BSL-1.0
// Attributes of communicators, made where the communicators are made.
#include "notes/communicators.hpp"

#include "notes/watched_job.hpp"

#include <quern/base/detail/intrusive_list.hpp>
#include <quern/base/detail/spin_lock.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

namespace quern::mpi::detail {

namespace {

constexpr std::uint64_t k_context_mask = (std::uint64_t{1} << 48U) - 1;
constexpr std::uint64_t k_world = 1;
constexpr std::uint64_t k_unknown_origin = 2;
constexpr std::uint64_t k_between_groups = 3;

/// What MPI keeps with a communicator.
struct numbered : known_comm, quern::detail::list_link {
    numbered(channel numbers, MPI_Comm comm, std::uint64_t hash, bool is_the_same_everywhere)
        : known_comm{.where = std::move(numbers), .handle = comm},
          members(hash),
          is_certain(is_the_same_everywhere) {}

    const std::uint64_t members;  ///< a hash of them
    const bool is_certain;
    bool is_freed = false;
    std::map<std::uint64_t, std::uint32_t> made{};  ///< from this one, by members
};

int g_attribute = MPI_KEYVAL_INVALID;
/// Communicators whose origin is not known, by members.
std::map<std::uint64_t, std::uint32_t>
    g_without_origin;  // NOLINT(bugprone-throwing-static-initialization)
constinit quern::detail::intrusive_list<numbered> g_comms;
bool g_are_kept = false;  ///< what MPI drops stays in g_comms
/// For all that changes: without a runtime several threads may make communicators.
constinit quern::detail::spin_lock g_comms_lock;

/// As splitmix64 mixes.
std::uint64_t mixed(std::uint64_t so_far, std::uint64_t next) noexcept {
    std::uint64_t x = so_far * 0x9e37'79b9'7f4a'7c15U + next + 1;
    x = (x ^ x >> 30U) * 0xbf58'476d'1ce4'e5b9U;
    x = (x ^ x >> 27U) * 0x94d0'49bb'1331'11ebU;
    return x ^ x >> 31U;
}

std::uint64_t hash_of(const std::vector<int>& ranks) noexcept {
    return std::accumulate(ranks.begin(), ranks.end(), std::uint64_t{0},
                           [](std::uint64_t so_far, int rank) {
                               return mixed(so_far, static_cast<std::uint64_t>(rank));
                           });
}

/// The numbers in MPI_COMM_WORLD of a group, which it frees; below -1 for a rank of another job.
std::vector<int> world_ranks_of(MPI_Group& group) {
    int size = 0;
    PMPI_Group_size(group, &size);
    std::vector<int> here(static_cast<std::size_t>(size));
    std::vector<int> found(here.size());
    std::iota(here.begin(), here.end(), 0);
    MPI_Group world = MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, size, here.data(), world, found.data());
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    for (std::size_t i = 0; i < found.size(); ++i) {
        found[i] = found[i] == MPI_UNDEFINED ? -2 - static_cast<int>(i) : found[i];
    }
    return found;
}

std::uint32_t count_made(std::map<std::uint64_t, std::uint32_t>& made, std::uint64_t members) {
    const std::scoped_lock lock(g_comms_lock);
    return made[members]++;
}

std::uint64_t context_of(std::uint64_t origin, std::uint64_t members, std::uint32_t number) {
    return std::max<std::uint64_t>(mixed(mixed(origin, members), number) & k_context_mask, 16);
}

numbered& add(numbered* made) {
    const std::scoped_lock lock(g_comms_lock);
    g_comms.push_back(*made);
    return *made;
}

/// By MPI_Comm_dup and MPI_Comm_idup, on all ranks in the same order.
int copy_number(MPI_Comm, int, void*, void* of, void* to, int* is_copied) {
    auto& from = *static_cast<numbered*>(of);
    channel where{context_of(from.where.context, from.members, count_made(from.made, from.members)),
                  from.where.peers};
    *static_cast<void**>(to) =
        &add(new numbered(std::move(where), MPI_COMM_NULL, from.members, from.is_certain));
    *is_copied = 1;
    return MPI_SUCCESS;
}

int drop_number(MPI_Comm, int, void* number, void*) {
    const std::scoped_lock lock(g_comms_lock);
    if (!g_are_kept) {
        auto* const dropped = static_cast<numbered*>(number);
        g_comms.erase(*dropped);
        delete dropped;
    }
    return MPI_SUCCESS;
}

numbered* find_number(MPI_Comm comm) {
    void* attribute = nullptr;
    int is_known = 0;
    if (comm != MPI_COMM_NULL && g_attribute != MPI_KEYVAL_INVALID) {
        PMPI_Comm_get_attr(comm, g_attribute, &attribute, &is_known);
    }
    if (is_known == 0) {
        return nullptr;
    }
    auto* const known = static_cast<numbered*>(attribute);
    if (known->handle == MPI_COMM_NULL) {
        known->handle = comm;
    }
    return known;
}

numbered& keep(MPI_Comm comm, channel where, std::uint64_t members, bool is_certain) {
    if (g_attribute == MPI_KEYVAL_INVALID) {
        PMPI_Comm_create_keyval(copy_number, drop_number, &g_attribute, nullptr);
    }
    numbered& made = add(new numbered(std::move(where), comm, members, is_certain));
    PMPI_Comm_set_attr(comm, g_attribute, &made);
    return made;
}

/// Both sides of an intercommunicator get the same number. Where it came from differs between them.
numbered& number_between_groups(MPI_Comm comm) {
    MPI_Group local = MPI_GROUP_NULL;
    MPI_Group remote = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &local);
    PMPI_Comm_remote_group(comm, &remote);
    auto peers = std::make_shared<const std::vector<int>>(world_ranks_of(remote));
    const auto [low, high] = std::minmax({hash_of(world_ranks_of(local)), hash_of(*peers)});
    const std::uint64_t members = mixed(low, high);
    return keep(comm,
                {context_of(k_between_groups, members, count_made(g_without_origin, members)),
                 std::move(peers)},
                members, false);
}

/// `from`: null if it is not known. Those that only some ranks make are counted apart from the
/// others: their order among these may differ between the ranks.
numbered& number(MPI_Comm comm, numbered* from, made_by whom) {
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter != 0) {
        return number_between_groups(comm);
    }
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    auto peers = std::make_shared<const std::vector<int>>(world_ranks_of(group));
    const std::uint64_t members = hash_of(*peers);
    const std::uint64_t kind = whom == made_by::all_members ? members : mixed(members, 1);
    const std::uint32_t earlier = count_made(from != nullptr ? from->made : g_without_origin, kind);
    const std::uint64_t origin = from != nullptr ? from->where.context : k_unknown_origin;
    const bool is_certain = from != nullptr && from->is_certain && whom == made_by::all_members;
    return keep(comm, {context_of(origin, kind, earlier), std::move(peers)}, members, is_certain);
}

}  // namespace

void begin_numbering() {
    int size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<int> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    const std::uint64_t members = hash_of(all);
    numbered& world =
        keep(MPI_COMM_WORLD, {k_world, std::make_shared<const std::vector<int>>(std::move(all))},
             members, true);
    number(MPI_COMM_SELF, &world, made_by::all_members);
}

void end_numbering() noexcept {
    const std::scoped_lock lock(g_comms_lock);
    g_are_kept = true;
}

int has_made(MPI_Comm from, const MPI_Comm* made, made_by whom, int code) noexcept {
    if (code == MPI_SUCCESS && *made != MPI_COMM_NULL && find_number(*made) == nullptr) {
        number(*made, find_number(from), whom);
    }
    return code;
}

int free_known(MPI_Comm* comm, int (*free)(MPI_Comm*)) {
    const bool is_predefined = *comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF;
    numbered* const known = is_watched() && !is_predefined ? find_number(*comm) : nullptr;
    if (known != nullptr) {
        const std::scoped_lock lock(g_comms_lock);
        known->is_freed = true;
    }
    return free(comm);
}

channel channel_of(MPI_Comm comm) noexcept {
    if (comm == MPI_COMM_WORLD) {
        return {k_world, nullptr};
    }
    if (comm == MPI_COMM_NULL) {
        return {};
    }
    const numbered* const known = find_number(comm);
    return known != nullptr ? known->where : number(comm, nullptr, made_by::some).where;
}

const known_comm* find_known(MPI_Comm comm) noexcept {
    const numbered* const found = find_number(comm);
    return found != nullptr && found->is_certain ? found : nullptr;
}

std::vector<known_comm> all_known() {
    std::vector<known_comm> found;
    const std::scoped_lock lock(g_comms_lock);
    for (numbered* each = g_comms.front(); each != nullptr; each = g_comms.after(*each)) {
        if (each->is_certain && !each->is_freed) {
            found.push_back(*each);
        }
    }
    return found;
}

void count_collective(call_note& note) noexcept {
    numbered* const on = find_number(note.comm);
    if (on == nullptr || !on->is_certain) {
        return;
    }
    collective_call call{
        .name = note.kind->name, .root = note.peer, .bytes = bytes_of_buffer(note)};
    const std::scoped_lock lock(g_comms_lock);
    note.place = call.place = ++on->calls;
    on->last[call.place % known_comm::k_kept] = call;
}

}  // namespace quern::mpi::detail
