// SPDX-License-Identifier: BSL-1.0
// Dilated messages: after each message of S bytes another one of f * S bytes goes from a dummy
// buffer of the sender to one of the receiver, so that the network seems slower by 1 + f. The
// applications do not know of it: the linker sends their calls here (--wrap), from where they come
// to the layer mpi. Source: the thesis on OmpSs, 7.3.
//
// A blocking call sends or receives both messages one after the other, with the same peer, tag and
// communicator. A request gets a second one, which the functions that wait for the first one wait
// for before.
#include "disturbances.hpp"

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

// The linker's names.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
int __real_MPI_Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);
int __real_MPI_Recv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
int __real_MPI_Sendrecv(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int,
                        int, MPI_Comm, MPI_Status*);
int __real_MPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int __real_MPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int __real_MPI_Wait(MPI_Request*, MPI_Status*);
int __real_MPI_Waitall(int, MPI_Request*, MPI_Status*);
int __real_MPI_Test(MPI_Request*, int*, MPI_Status*);
int __real_MPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm);
int __real_MPI_Ibcast(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Request*);
int __real_MPI_Reduce(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
int __real_MPI_Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
int __real_MPI_Allgatherv(const void*, int, MPI_Datatype, void*, const int*, const int*,
                          MPI_Datatype, MPI_Comm);
int __real_MPI_Alltoall(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
}

namespace apps::mpi {

namespace {

bool is_on() { return disturbances::of_process().dilation() > 0; }

/// A dummy buffer for the second message of `count` elements.
class dummy {
public:
    dummy(int count, MPI_Datatype type) {
        int size = 0;
        PMPI_Type_size(type, &size);
        const double bytes =
            disturbances::of_process().dilation() * static_cast<double>(count) * size;
        if (bytes > INT_MAX) {
            fmt::print(stderr,
                       "--dilate: a message of {} bytes would get {:.0f} more; MPI counts "
                       "up to {}\n",
                       static_cast<double>(count) * size, bytes, INT_MAX);
            MPI_Abort(MPI_COMM_WORLD, k_usage);
        }
        m_bytes = static_cast<int>(bytes);
        m_data = std::make_unique<char[]>(static_cast<std::size_t>(m_bytes) + 1);
    }

    void* data() { return m_data.get(); }
    int bytes() const { return m_bytes; }

private:
    int m_bytes = 0;
    std::unique_ptr<char[]> m_data;
};

/// The second messages of requests. Several requests may have the same handle at a time if they
/// have ended: then it does not matter which gets which second one.
class second_requests {
public:
    struct second {
        MPI_Request request = MPI_REQUEST_NULL;
        dummy buffer;
    };

    /// post(buffer, request) begins the second message. Returns its code.
    template <class Post>
    int add(MPI_Request to, int count, MPI_Datatype type, const Post& post) {
        second made{MPI_REQUEST_NULL, dummy(count, type)};
        const int code = post(made.buffer, &made.request);
        if (code == MPI_SUCCESS) {
            put(to, std::move(made));
        }
        return code;
    }

    void put(MPI_Request to, second made) {
        const std::scoped_lock lock(m_mutex);
        m_all.emplace(to, std::move(made));
    }

    std::optional<second> take(MPI_Request of) {
        const std::scoped_lock lock(m_mutex);
        const auto found = m_all.find(of);
        if (found == m_all.end()) {
            return std::nullopt;
        }
        second one = std::move(found->second);
        m_all.erase(found);
        return one;
    }

private:
    std::mutex m_mutex;
    std::unordered_multimap<MPI_Request, second> m_all;  // guarded by m_mutex
};

second_requests& seconds() {
    static second_requests all;
    return all;
}

bool has_second(int code) { return code == MPI_SUCCESS && is_on(); }

}  // namespace

}  // namespace apps::mpi

using apps::mpi::dummy;
using apps::mpi::has_second;
using apps::mpi::is_on;
using apps::mpi::seconds;

extern "C" {

int __wrap_MPI_Send(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm in) {
    const int code = __real_MPI_Send(from, count, type, to, tag, in);
    if (!has_second(code)) {
        return code;
    }
    dummy more(count, type);
    return __real_MPI_Send(more.data(), more.bytes(), MPI_BYTE, to, tag, in);
}

int __wrap_MPI_Recv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm in,
                    MPI_Status* status) {
    MPI_Status found;
    MPI_Status* const got = status == MPI_STATUS_IGNORE ? &found : status;
    const int code = __real_MPI_Recv(to, count, type, from, tag, in, got);
    if (!has_second(code) || from == MPI_PROC_NULL) {
        return code;
    }
    dummy more(count, type);
    return __real_MPI_Recv(more.data(), more.bytes(), MPI_BYTE, got->MPI_SOURCE, got->MPI_TAG, in,
                           MPI_STATUS_IGNORE);
}

int __wrap_MPI_Sendrecv(const void* from, int sent, MPI_Datatype type, int to, int tag, void* into,
                        int received, MPI_Datatype type_in, int source, int tag_in, MPI_Comm in,
                        MPI_Status* status) {
    MPI_Status found;
    MPI_Status* const got = status == MPI_STATUS_IGNORE ? &found : status;
    const int code = __real_MPI_Sendrecv(from, sent, type, to, tag, into, received, type_in, source,
                                         tag_in, in, got);
    if (!has_second(code)) {
        return code;
    }
    dummy out(sent, type);
    dummy back(received, type_in);
    const bool has_source = source != MPI_PROC_NULL;
    return __real_MPI_Sendrecv(out.data(), out.bytes(), MPI_BYTE, to, tag, back.data(),
                               back.bytes(), MPI_BYTE, has_source ? got->MPI_SOURCE : source,
                               has_source ? got->MPI_TAG : tag_in, in, MPI_STATUS_IGNORE);
}

int __wrap_MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm in,
                     MPI_Request* request) {
    const int code = __real_MPI_Isend(from, count, type, to, tag, in, request);
    return !has_second(code)
               ? code
               : seconds().add(*request, count, type, [&](dummy& more, MPI_Request* second) {
                     return __real_MPI_Isend(more.data(), more.bytes(), MPI_BYTE, to, tag, in,
                                             second);
                 });
}

/// Requires: not from MPI_ANY_SOURCE or with MPI_ANY_TAG.
int __wrap_MPI_Irecv(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm in,
                     MPI_Request* request) {
    const int code = __real_MPI_Irecv(to, count, type, from, tag, in, request);
    return !has_second(code)
               ? code
               : seconds().add(*request, count, type, [&](dummy& more, MPI_Request* second) {
                     return __real_MPI_Irecv(more.data(), more.bytes(), MPI_BYTE, from, tag, in,
                                             second);
                 });
}

int __wrap_MPI_Wait(MPI_Request* request, MPI_Status* status) {
    if (is_on()) {
        if (auto second = seconds().take(*request)) {
            __real_MPI_Wait(&second->request, MPI_STATUS_IGNORE);
        }
    }
    return __real_MPI_Wait(request, status);
}

int __wrap_MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    for (int i = 0; is_on() && i < count; ++i) {
        if (auto second = seconds().take(requests[i])) {
            __real_MPI_Wait(&second->request, MPI_STATUS_IGNORE);
        }
    }
    return __real_MPI_Waitall(count, requests, statuses);
}

int __wrap_MPI_Test(MPI_Request* request, int* has_ended, MPI_Status* status) {
    if (is_on()) {
        if (auto second = seconds().take(*request)) {
            const int code = __real_MPI_Test(&second->request, has_ended, MPI_STATUS_IGNORE);
            if (code != MPI_SUCCESS || *has_ended == 0) {
                seconds().put(*request, std::move(*second));
                return code;
            }
        }
    }
    return __real_MPI_Test(request, has_ended, status);
}

int __wrap_MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm in) {
    const int code = __real_MPI_Bcast(data, count, type, root, in);
    if (!has_second(code)) {
        return code;
    }
    dummy more(count, type);
    return __real_MPI_Bcast(more.data(), more.bytes(), MPI_BYTE, root, in);
}

int __wrap_MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm in,
                      MPI_Request* request) {
    const int code = __real_MPI_Ibcast(data, count, type, root, in, request);
    return !has_second(code)
               ? code
               : seconds().add(*request, count, type, [&](dummy& more, MPI_Request* second) {
                     return __real_MPI_Ibcast(more.data(), more.bytes(), MPI_BYTE, root, in,
                                              second);
                 });
}

int __wrap_MPI_Reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm in) {
    const int code = __real_MPI_Reduce(from, to, count, type, op, root, in);
    if (!has_second(code)) {
        return code;
    }
    dummy more(count, type);
    dummy sum(count, type);
    return __real_MPI_Reduce(more.data(), sum.data(), more.bytes(), MPI_BYTE, MPI_BOR, root, in);
}

int __wrap_MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm in) {
    const int code = __real_MPI_Allreduce(from, to, count, type, op, in);
    if (!has_second(code)) {
        return code;
    }
    dummy more(count, type);
    return __real_MPI_Allreduce(MPI_IN_PLACE, more.data(), more.bytes(), MPI_BYTE, MPI_BOR, in);
}

int __wrap_MPI_Allgatherv(const void* from, int sent, MPI_Datatype type, void* to,
                          const int* counts, const int* places, MPI_Datatype type_in, MPI_Comm in) {
    const int code = __real_MPI_Allgatherv(from, sent, type, to, counts, places, type_in, in);
    if (!has_second(code)) {
        return code;
    }
    int ranks = 0;
    PMPI_Comm_size(in, &ranks);
    int rank = 0;
    PMPI_Comm_rank(in, &rank);
    std::vector<int> more_counts;
    std::vector<int> more_places;
    int all = 0;
    for (int i = 0; i < ranks; ++i) {
        more_places.push_back(all);
        more_counts.push_back(dummy(counts[i], type_in).bytes());
        all += more_counts.back();
    }
    std::vector<char> buffer(static_cast<std::size_t>(all) + 1);
    return __real_MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, buffer.data(), more_counts.data(),
                                 more_places.data(), MPI_BYTE, in);
}

int __wrap_MPI_Alltoall(const void* from, int sent, MPI_Datatype type, void* to, int received,
                        MPI_Datatype type_in, MPI_Comm in) {
    const int code = __real_MPI_Alltoall(from, sent, type, to, received, type_in, in);
    if (!has_second(code)) {
        return code;
    }
    int ranks = 0;
    PMPI_Comm_size(in, &ranks);
    dummy more(received, type_in);
    std::vector<char> buffer(
        static_cast<std::size_t>(more.bytes()) * static_cast<std::size_t>(ranks) + 1);
    return __real_MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, buffer.data(), more.bytes(), MPI_BYTE,
                               in);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
