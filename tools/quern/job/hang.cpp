// SPDX-License-Identifier: BSL-1.0
// Reads the states of ranks, and decides.
#include "job/hang.hpp"

#include "live/json_reader.hpp"

#include <algorithm>
#include <cctype>

namespace quern::tool {

namespace {

using way = job_call::way;

/// A broadcast or scatter from a root is passed on in parts; so much may be on its way without the
/// other ranks (MPI libraries send up to 64 KiB at once).
constexpr std::int64_t k_sent_at_once = 64 * 1024;

way way_of(const std::string& word) {
    return word == "sent"         ? way::sent
           : word == "received"   ? way::received
           : word == "collective" ? way::collective
                                  : way::other;
}

job_call read_call(const json_value& from) {
    job_call call;
    call.name = from.value("call", "");
    call.how = way_of(from.value("way", ""));
    call.comm = from.value("comm", std::uint64_t{0});
    call.peer = from.value("peer", job_call::k_none);
    call.tag = from.value("tag", job_call::k_none);
    call.bytes = from.value("bytes", std::int64_t{-1});
    call.root = from.value("root", job_call::k_none);
    call.place = from.value("place", std::uint64_t{0});
    return call;
}

job_comm read_comm(const json_value& from) {
    job_comm comm;
    comm.name = from.value("name", "");
    comm.calls = from.value("calls", std::uint64_t{0});
    for (const json_value& each : items_of(from, "members")) {
        comm.members.push_back(each.get<int>());
    }
    for (const json_value& each : items_of(from, "last")) {
        comm.last.push_back(read_call(each));
    }
    return comm;
}

/// Whether a message with that communicator, source and tag is one that the receive takes.
bool takes(const job_call& receive, std::uint64_t comm, int source, int tag) {
    return receive.how == way::received && receive.comm == comm &&
           (receive.peer == job_call::k_any || receive.peer == source) &&
           (receive.tag == job_call::k_any || receive.tag == tag);
}

/// Calls f with all that a rank has begun and that has not ended, until it returns true.
template <class F>
bool any_begun(const rank_state& rank, F f) {
    const auto in_wait = [&](const job_wait& each) {
        return std::any_of(each.calls.begin(), each.calls.end(), f);
    };
    return std::any_of(rank.waits.begin(), rank.waits.end(), in_wait) ||
           std::any_of(rank.open.begin(), rank.open.end(), f);
}

/// Its message may be on its way: the send has not ended, and the receive takes it.
bool may_be_received(const std::vector<rank_state>& job, int rank, const job_call& receive) {
    return std::any_of(job.begin(), job.end(), [&](const rank_state& from) {
        return any_begun(from, [&](const job_call& each) {
            return each.how == way::sent && each.peer == rank &&
                   takes(receive, each.comm, from.rank, each.tag);
        });
    });
}

bool may_be_taken(const std::vector<rank_state>& job, int rank, const job_call& send) {
    if (send.peer < 0 || static_cast<std::size_t>(send.peer) >= job.size()) {
        return true;
    }
    return any_begun(job[static_cast<std::size_t>(send.peer)],
                     [&](const job_call& each) { return takes(each, send.comm, rank, send.tag); });
}

bool differ(const job_call& one, const job_call& other) {
    return plain_name(one.name) != plain_name(other.name) || one.root != other.root;
}

bool comes_from_root(const std::string& name) {
    return name == "MPI_Bcast" || name == "MPI_Scatter" || name == "MPI_Scatterv";
}

/// All members have called the same, or a part of it may be on its way without the others.
bool may_be_complete(const std::vector<rank_state>& job, int rank, const job_call& call) {
    const auto& comms = job[static_cast<std::size_t>(rank)].comms;
    const auto on = comms.find(call.comm);
    if (on == comms.end() || call.place == 0) {
        return true;
    }
    const job_comm& comm = on->second;
    for (const int member : comm.members) {
        if (member < 0 || static_cast<std::size_t>(member) >= job.size()) {
            return true;
        }
        const job_call* const other =
            called_at(job[static_cast<std::size_t>(member)], call.comm, call.place);
        if (other != nullptr && differ(*other, call)) {
            return false;
        }
    }
    const std::vector<int> missing = missing_in(job, comm, call.comm, call.place);
    if (missing.empty()) {
        return true;
    }
    const bool is_root_known =
        call.root >= 0 && static_cast<std::size_t>(call.root) < comm.members.size();
    const int root = is_root_known ? comm.members[static_cast<std::size_t>(call.root)] : -1;
    return comes_from_root(plain_name(call.name)) &&
           (call.bytes < 0 || call.bytes > k_sent_at_once) &&
           std::find(missing.begin(), missing.end(), root) == missing.end();
}

bool may_end(const std::vector<rank_state>& job, int rank, const job_wait& wait) {
    const auto f = [&](const job_call& each) { return may_end(job, rank, each); };
    return wait.is_any ? std::any_of(wait.calls.begin(), wait.calls.end(), f)
                       : std::all_of(wait.calls.begin(), wait.calls.end(), f);
}

}  // namespace

std::string plain_name(const std::string& name) {
    constexpr std::size_t k_prefix = 4;  // "MPI_"
    std::string plain = name.ends_with("_c") ? name.substr(0, name.size() - 2) : name;
    if (plain.size() > k_prefix + 1 && plain[k_prefix] == 'I' &&
        std::islower(static_cast<unsigned char>(plain[k_prefix + 1])) != 0) {
        plain.erase(k_prefix, 1);
        plain[k_prefix] =
            static_cast<char>(std::toupper(static_cast<unsigned char>(plain[k_prefix])));
    }
    return plain;
}

rank_state read_state(const std::string& text) {
    const json_value all = json_value::parse(text);
    rank_state state;
    state.rank = all.value("rank", 0);
    state.version = all.value("version", std::uint64_t{0});
    state.is_finalised = all.value("finalised", false);
    state.unknown = all.value("unknown", "");
    state.report = all.value("report", "");
    for (const json_value& each : items_of(all, "waits")) {
        job_wait& wait = state.waits.emplace_back();
        wait.who = each.value("who", "");
        wait.is_any = each.value("any", false);
        for (const json_value& part : items_of(each, "parts")) {
            wait.calls.push_back(read_call(part));
        }
    }
    for (const json_value& each : items_of(all, "open")) {
        state.open.push_back(read_call(each));
    }
    for (const json_value& each : items_of(all, "arrived")) {
        state.arrived.push_back({each.value("comm", std::uint64_t{0}), each.value("source", -1),
                                 state.rank, each.value("tag", 0),
                                 each.value("bytes", std::int64_t{0})});
    }
    for (const json_value& each : items_of(all, "comms")) {
        state.comms.emplace(each.value("id", std::uint64_t{0}), read_comm(each));
    }
    return state;
}

const job_call* called_at(const rank_state& rank, std::uint64_t comm, std::uint64_t place) {
    const auto on = rank.comms.find(comm);
    if (on == rank.comms.end()) {
        return nullptr;
    }
    const auto& last = on->second.last;
    const auto found = std::find_if(last.begin(), last.end(),
                                    [place](const job_call& each) { return each.place == place; });
    return found == last.end() ? nullptr : &*found;
}

/// A communicator that a member does not know any more has been freed after the call.
std::vector<int> missing_in(const std::vector<rank_state>& job, const job_comm& on,
                            std::uint64_t comm, std::uint64_t place) {
    std::vector<int> missing;
    for (const int member : on.members) {
        const auto& comms = job[static_cast<std::size_t>(member)].comms;
        const auto there = comms.find(comm);
        if (there != comms.end() && there->second.calls < place) {
            missing.push_back(member);
        }
    }
    return missing;
}

bool may_end(const std::vector<rank_state>& job, int rank, const job_call& call) {
    switch (call.how) {
        case way::sent:
            return may_be_taken(job, rank, call);
        case way::received:
            return may_be_received(job, rank, call);
        case way::collective:
            return may_be_complete(job, rank, call);
        case way::other:
            break;
    }
    return true;
}

bool hangs(const std::vector<rank_state>& job) {
    bool any_waits = false;
    for (const rank_state& rank : job) {
        const bool may_act =
            !rank.unknown.empty() ||
            std::any_of(rank.waits.begin(), rank.waits.end(),
                        [&](const job_wait& each) { return may_end(job, rank.rank, each); });
        if (may_act && !rank.is_finalised) {
            return false;
        }
        any_waits = any_waits || !rank.waits.empty();
    }
    return any_waits;
}

}  // namespace quern::tool
