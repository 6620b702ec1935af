// SPDX-License-Identifier: BSL-1.0
// The entries of collective functions.
#include "call_table.hpp"

namespace quern_test {

namespace {

void note_duplicate(call_frame& f, MPI_Comm made) {
    int how = MPI_UNEQUAL;
    if (made != MPI_COMM_NULL) {
        MPI_Comm_compare(f.comm, made, &how);
    }
    f.made = made;
    f.note(how);
}

void add_without_counts(std::vector<call_entry>& to) {
    to.push_back(same_call(
        "Barrier", []<bool Plain>(call_frame& f) { f.code = QUERN_CALL(Barrier)(f.comm); }));
    to.push_back(same_call("Comm_dup", []<bool Plain>(call_frame& f) {
        MPI_Comm made = MPI_COMM_NULL;
        f.code = QUERN_CALL(Comm_dup)(f.comm, &made);
        note_duplicate(f, made);
    }));
    to.back().finish = [](call_frame& f) { MPI_Comm_free(&f.made); };
}

}  // namespace

void add_collectives(std::vector<call_entry>& to) {
    add_without_counts(to);
    using call_count = int;
    using call_at = int;
#define QUERN_NAMED(NAME) #NAME
#define QUERN_MADE(NAME) QUERN_CALL(NAME)
#include "collectives.inc"
#undef QUERN_NAMED
#undef QUERN_MADE
}

}  // namespace quern_test
