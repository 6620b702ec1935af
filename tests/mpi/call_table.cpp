// SPDX-License-Identifier: BSL-1.0
// Frames and outcomes, and the entries of messages between two ranks.
#include "call_table.hpp"

#include <algorithm>

namespace quern_test {

namespace {

void add_status(std::vector<int>& to, const MPI_Status& from) {
    // A copy: MPICH's functions take no constant status.
    MPI_Status status = from;
    int count = 0;
    int cancelled = 0;
    PMPI_Get_count(&status, MPI_INT, &count);
    PMPI_Test_cancelled(&status, &cancelled);
    to.insert(to.end(), {status.MPI_SOURCE, status.MPI_TAG, count, cancelled});
}

MPI_Status untouched_status() {
    MPI_Status status{};
    status.MPI_SOURCE = k_untouched;
    status.MPI_TAG = k_untouched;
    return status;
}

void send_few(call_frame& f) { MPI_Send(f.in(), k_few, MPI_INT, f.peer, 7, f.comm); }
void receive_few(call_frame& f) {
    MPI_Recv(f.out(), k_few, MPI_INT, f.peer, 7, f.comm, MPI_STATUS_IGNORE);
}
void receive_many(call_frame& f) {
    MPI_Recv(f.out(), k_many, MPI_INT, f.peer, 7, f.comm, MPI_STATUS_IGNORE);
}

}  // namespace

call_frame make_frame(MPI_Comm comm, MPI_Comm graph, int early) {
    call_frame f;
    f.comm = comm;
    f.graph = graph;
    MPI_Comm_rank(comm, &f.rank);
    f.peer = 1 - f.rank;
    f.early = early;
    f.late = 1 - early;
    f.sent.resize(k_many);
    for (std::size_t i = 0; i < f.sent.size(); ++i) {
        f.sent[i] = 1'000'000 * (f.rank + 1) + static_cast<int>(i);
    }
    f.received.assign(k_many, k_untouched);
    f.status = untouched_status();
    f.statuses.fill(untouched_status());
    return f;
}

call_outcome outcome_of(const call_frame& frame) {
    call_outcome result;
    result.error_class = frame.code;
    if (frame.code != k_untouched) {
        PMPI_Error_class(frame.code, &result.error_class);
    }
    result.received = frame.received;
    result.noted = frame.noted;
    for (const MPI_Status& each : {frame.status, frame.statuses[0], frame.statuses[1]}) {
        if (each.MPI_SOURCE != k_untouched) {
            add_status(result.statuses, each);
        }
    }
    return result;
}

std::ostream& operator<<(std::ostream& out, const call_outcome& one) {
    out << "error class " << one.error_class << "; received";
    for (int i = 0; i < 2 * k_few; ++i) {
        out << ' ' << one.received[static_cast<std::size_t>(i)];
    }
    out << "...; statuses";
    for (const int each : one.statuses) {
        out << ' ' << each;
    }
    out << "; noted";
    for (const int each : one.noted) {
        out << ' ' << each;
    }
    return out;
}

std::ostream& operator<<(std::ostream& out, const call_entry& one) {
    return out << one.name << (one.variant.empty() ? "" : ", ") << one.variant;
}

void add_point_to_point(std::vector<call_entry>& to) {
#define QUERN_NAMED(NAME) #NAME
#define QUERN_MADE(NAME) QUERN_CALL(NAME)
#include "point_to_point.inc"
#undef QUERN_NAMED
#undef QUERN_MADE
}

const std::vector<call_entry>& call_table() {
    static const std::vector<call_entry> table = [] {
        std::vector<call_entry> made;
        add_point_to_point(made);
        add_waits(made);
        add_collectives(made);
        add_large(made);
        return made;
    }();
    return table;
}

}  // namespace quern_test
