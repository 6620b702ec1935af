// SPDX-License-Identifier: BSL-1.0
// Writes the state of this rank as JSON: waits, open requests, arrived messages, communicators.
#include "job/job_state.hpp"

#include "messages/open_requests.hpp"
#include "notes/watched_job.hpp"
#include "progress/engine.hpp"

#include <quern/base/detail/json.hpp>
#include <quern/scheduler/detail/still_process.hpp>

#include <unistd.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quern::mpi::detail {

namespace {

using quern::detail::json;
using way = shared_note::way;

constexpr std::size_t k_most_probed = 64;  ///< communicators

struct seen_wait {
    const void* thing;
    bool is_any;
    std::vector<shared_note> parts;
};

struct arrived_message {
    std::uint64_t comm;
    int source;  ///< rank of MPI_COMM_WORLD
    int tag;
    std::int64_t bytes;
};

/// All that needs MPI.
struct seen_calls {
    std::vector<seen_wait> waits;
    std::vector<shared_note> open;
    std::vector<arrived_message> arrived;
    std::vector<std::pair<known_comm, std::string>> comms;  ///< with their names
};

using comms_by_handle = std::unordered_map<MPI_Comm, const known_comm*>;

/// By its handle: another thread may have freed the communicator.
shared_note share(const call_note& note, const comms_by_handle& comms) noexcept {
    const auto on = comms.find(note.comm);
    return share(note, on != comms.end() ? on->second : nullptr);
}

bool has_ended(MPI_Request request) {
    int is_done = 0;
    return PMPI_Request_get_status(request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
           is_done != 0;
}

shared_note of_request(MPI_Request request, const call_note& waiting) {
    const auto known = open_requests::of_process().get(request);
    return known && known->call ? *known->call : shared_note{.call = waiting.kind->name};
}

std::vector<shared_note> parts_of(const operation& one, const comms_by_handle& comms) {
    std::vector<shared_note> parts;
    const call_note& note = one.note;
    if (note.handles != nullptr) {
        for (int i = 0; i < std::max(note.requests, 1); ++i) {
            const MPI_Request each = note.handles[i];
            if (each != MPI_REQUEST_NULL && !has_ended(each)) {
                parts.push_back(of_request(each, note));
            }
        }
    } else {
        parts.push_back(share(note, comms));
        if (parts.front().how == way::other && one.request != MPI_REQUEST_NULL) {
            parts.front() = of_request(one.request, note);
        }
        if (note.also != nullptr) {
            parts.push_back(share(*note.also, comms));
        }
    }
    if (parts.empty()) {
        parts.push_back({.call = note.kind->name});  // it is about to end
    }
    return parts;
}

/// The first message from each source that has come and that no receive has taken.
void probe(const known_comm& on, std::vector<arrived_message>& into) {
    const std::vector<int>& members = *on.where.peers;
    int is_there = 0;
    MPI_Status status;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, on.handle, &is_there, &status);
    for (std::size_t i = 0; is_there != 0 && i < members.size(); ++i) {
        int is_from = 0;
        if (PMPI_Iprobe(static_cast<int>(i), MPI_ANY_TAG, on.handle, &is_from, &status) ==
                MPI_SUCCESS &&
            is_from != 0) {
            MPI_Count bytes = 0;
            PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
            into.push_back({on.where.context, members[i], status.MPI_TAG, bytes});
        }
    }
}

std::string name_of(MPI_Comm comm) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    PMPI_Comm_get_name(comm, name, &length);
    return name;
}

void see(seen_calls& into, std::span<operation* const> with_request,
         std::span<operation* const> attempted) {
    std::vector<known_comm> known = all_known();
    comms_by_handle comms;
    for (const known_comm& each : known) {
        if (each.handle != MPI_COMM_NULL) {
            comms.emplace(each.handle, &each);
        }
    }
    for (const auto& all : {with_request, attempted}) {
        for (const operation* const one : all) {
            into.waits.push_back({one, one->note.is_any, parts_of(*one, comms)});
        }
    }
    for (const auto& [request, what] : open_requests::of_process().all()) {
        if (what.call && !has_ended(request)) {
            into.open.push_back(*what.call);
        }
    }
    std::size_t probed = 0;
    for (known_comm& each : known) {
        std::string name;
        if (each.handle != MPI_COMM_NULL) {
            name = name_of(each.handle);
            if (++probed <= k_most_probed) {
                probe(each, into.arrived);
            }
        }
        into.comms.emplace_back(std::move(each), std::move(name));
    }
}

std::string_view word_of(way how) {
    return how == way::sent         ? "sent"
           : how == way::received   ? "received"
           : how == way::collective ? "collective"
                                    : "other";
}

void write(json& out, const shared_note& note) {
    out.open('{')
        .fields("call", note.call, "way", word_of(note.how), "comm", note.comm, "peer", note.peer,
                "tag", note.tag, "bytes", note.bytes, "root", note.root, "place", note.place)
        .close();
}

void write(json& out, const known_comm& comm, const std::string& name) {
    out.open('{').fields("id", comm.where.context, "name", name, "calls", comm.calls);
    out.list("members", *comm.where.peers).open('[', "last");
    for (const collective_call& each : comm.last) {
        if (each.name != nullptr) {
            const int root = each.root == call_note::k_none ? shared_note::k_none : each.root;
            out.open('{')
                .fields("call", each.name, "root", root, "bytes", each.bytes, "place", each.place)
                .close();
        }
    }
    out.close().close();
}

json begin_state(const rank_place& at, bool is_finalised) {
    json out;
    out.open('{').fields("rank", at.rank, "process", ::getpid(), "version", at.version, "finalised",
                         is_finalised);
    if (const char* const name = g_unknown_call.load(std::memory_order_relaxed)) {
        out.field("unknown", name);
    }
    return out;
}

}  // namespace

std::optional<std::string> describe_waits(const rank_place& at, std::uint64_t ended) {
    const auto waiting =
        at.with_words ? quern::detail::collect_process_waits() : quern::detail::process_waits{};
    std::unordered_map<const void*, const std::string*> names;
    for (const auto& each : waiting.waiters) {
        names.emplace(each.thing, &each.name);
    }
    engine& all = engine::of_process();
    seen_calls seen;
    bool is_still = false;
    const bool is_inside = all.visit([&](auto with_request, auto attempted) {
        is_still = all.counts().ended == ended;  // else requests may have been freed
        if (is_still) {
            see(seen, with_request, attempted);
        }
    });
    if (!is_inside || !is_still) {
        return std::nullopt;
    }
    json out = begin_state(at, false);
    out.field("report", waiting.report).open('[', "waits");
    for (const seen_wait& each : seen.waits) {
        const auto name = names.find(each.thing);
        out.open('{').fields("who", name != names.end() ? *name->second : std::string(), "any",
                             each.is_any);
        out.open('[', "parts");
        for (const shared_note& part : each.parts) {
            write(out, part);
        }
        out.close().close();
    }
    out.close().open('[', "open");
    for (const shared_note& each : seen.open) {
        write(out, each);
    }
    out.close().open('[', "arrived");
    for (const arrived_message& each : seen.arrived) {
        out.open('{')
            .fields("comm", each.comm, "source", each.source, "tag", each.tag, "bytes", each.bytes)
            .close();
    }
    out.close().open('[', "comms");
    for (const auto& [comm, name] : seen.comms) {
        write(out, comm, name);
    }
    return out.take();
}

std::string describe_finalised(const rank_place& at) {
    json out = begin_state(at, true);
    out.open('[', "comms");
    for (const known_comm& each : all_known()) {
        write(out, each, "");
    }
    return out.take();
}

}  // namespace quern::mpi::detail
