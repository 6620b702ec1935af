// SPDX-License-Identifier: BSL-1.0
// A tool as mpiP is one: a shared library that defines some of MPI's functions, counts and calls
// the library by its PMPI_ names. It also follows requests: each one that it has seen begin must
// end in a call that it sees.
#include <mpi.h>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace {

std::mutex g_lock;

auto& all_counts() {
    static std::map<std::string, int, std::less<>> counts;
    return counts;
}

auto& open_requests() {
    static std::multiset<MPI_Request> open;
    return open;
}

void count(const char* name) {
    const std::lock_guard guard(g_lock);
    ++all_counts()[name];
}

int begun(const char* name, const MPI_Request* made, int code) {
    count(name);
    const std::lock_guard guard(g_lock);
    if (code == MPI_SUCCESS) {
        open_requests().insert(*made);
    }
    return code;
}

/// A call that may end requests, which MPI sets to null.
template <class Call>
int ends(const char* name, int number, MPI_Request* requests, Call call) {
    count(name);
    const std::vector<MPI_Request> before(requests, requests + number);
    const int code = call();
    const std::lock_guard guard(g_lock);
    for (int i = 0; i < number; ++i) {
        const auto found = open_requests().find(before[static_cast<std::size_t>(i)]);
        if (requests[i] == MPI_REQUEST_NULL && found != open_requests().end()) {
            open_requests().erase(found);
        }
    }
    return code;
}

}  // namespace

extern "C" {

/// How often a function was called.
int counting_tool_calls_of(const char* name) {
    const std::lock_guard guard(g_lock);
    const auto found = all_counts().find(name);
    return found != all_counts().end() ? found->second : 0;
}

/// How many requests it has seen begin and not end.
int counting_tool_open_requests() {
    const std::lock_guard guard(g_lock);
    return static_cast<int>(open_requests().size());
}

int MPI_Send(const void* from, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    count("MPI_Send");
    return PMPI_Send(from, n, type, to, tag, comm);
}

int MPI_Recv(void* to, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* s) {
    count("MPI_Recv");
    return PMPI_Recv(to, n, type, from, tag, comm, s);
}

int MPI_Sendrecv(const void* from, int n, MPI_Datatype type, int dest, int tag, void* to, int m,
                 MPI_Datatype other, int source, int other_tag, MPI_Comm comm, MPI_Status* s) {
    count("MPI_Sendrecv");
    return PMPI_Sendrecv(from, n, type, dest, tag, to, m, other, source, other_tag, comm, s);
}

int MPI_Allreduce(const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    count("MPI_Allreduce");
    return PMPI_Allreduce(from, to, n, type, op, comm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
    count("MPI_Comm_split");
    return PMPI_Comm_split(comm, color, key, made);
}

int MPI_Init_thread(int* argc, char*** argv, int wanted, int* provided) {
    count("MPI_Init_thread");
    return PMPI_Init_thread(argc, argv, wanted, provided);
}

int MPI_Isend(const void* from, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* made) {
    return begun("MPI_Isend", made, PMPI_Isend(from, n, type, to, tag, comm, made));
}

int MPI_Irecv(void* to, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* made) {
    // A tool may ask MPI, by its usual names too.
    int rank = -1;
    MPI_Comm_rank(comm, &rank);
    return begun("MPI_Irecv", made, PMPI_Irecv(to, n, type, from, tag, comm, made));
}

int MPI_Iallreduce(const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* made) {
    return begun("MPI_Iallreduce", made, PMPI_Iallreduce(from, to, n, type, op, comm, made));
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* s) {
    return ends("MPI_Test", 1, request, [&] { return PMPI_Test(request, flag, s); });
}

int MPI_Testall(int n, MPI_Request* all, int* flag, MPI_Status* s) {
    return ends("MPI_Testall", n, all, [&] { return PMPI_Testall(n, all, flag, s); });
}

int MPI_Testany(int n, MPI_Request* all, int* which, int* flag, MPI_Status* s) {
    return ends("MPI_Testany", n, all, [&] { return PMPI_Testany(n, all, which, flag, s); });
}

int MPI_Testsome(int n, MPI_Request* all, int* ended, int* which, MPI_Status* s) {
    return ends("MPI_Testsome", n, all, [&] { return PMPI_Testsome(n, all, ended, which, s); });
}

int MPI_Wait(MPI_Request* request, MPI_Status* s) {
    return ends("MPI_Wait", 1, request, [&] { return PMPI_Wait(request, s); });
}

int MPI_Waitall(int n, MPI_Request* all, MPI_Status* s) {
    return ends("MPI_Waitall", n, all, [&] { return PMPI_Waitall(n, all, s); });
}

}  // extern "C"
