// SPDX-License-Identifier: BSL-1.0
// The entries of MPI 4's functions: those with large counts, and MPI_Comm_dup_with_info, which has
// a non-blocking twin since then.
#include "call_table.hpp"

namespace quern_test {

#if MPI_VERSION < 4

void add_large(std::vector<call_entry>&) {}

#else

namespace {

void send_few(call_frame& f) { MPI_Send_c(f.in(), k_few, MPI_INT, f.peer, 7, f.comm); }
void receive_few(call_frame& f) {
    MPI_Recv_c(f.out(), k_few, MPI_INT, f.peer, 7, f.comm, MPI_STATUS_IGNORE);
}
void receive_many(call_frame& f) {
    MPI_Recv_c(f.out(), k_many, MPI_INT, f.peer, 7, f.comm, MPI_STATUS_IGNORE);
}

#    define QUERN_NAMED(NAME) #    NAME "_c"
#    define QUERN_MADE(NAME) QUERN_CALL(NAME##_c)

void add_large_messages(std::vector<call_entry>& to) {
#    include "point_to_point.inc"
}

void add_large_collectives(std::vector<call_entry>& to) {
    using call_count = MPI_Count;
    using call_at = MPI_Aint;
#    include "collectives.inc"
}

}  // namespace

void add_large(std::vector<call_entry>& to) {
    add_large_messages(to);
    add_large_collectives(to);
    to.push_back(same_call("Comm_dup_with_info", []<bool Plain>(call_frame& f) {
        f.code = QUERN_CALL(Comm_dup_with_info)(f.comm, MPI_INFO_NULL, &f.made);
        f.note(f.made != MPI_COMM_NULL ? 1 : 0);
    }));
    to.back().finish = [](call_frame& f) { MPI_Comm_free(&f.made); };
}

#endif

}  // namespace quern_test
