// SPDX-License-Identifier: BSL-1.0
// What Open MPI's non-blocking collective calls need to do as the blocking ones.
#include "calls/corrected_calls.hpp"

#include "library/interposed.hpp"

#include <cstddef>
#include <numeric>
#include <utility>

namespace quern::mpi::detail {

namespace {

/// A ring of only this rank: what comes from its lower neighbour, itself, is what it sends to its
/// upper one.
bool mistakes_neighbours() {
    constexpr int k_ranks = 1;
    constexpr int k_periodic = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    if (next::Cart_create(MPI_COMM_SELF, 1, &k_ranks, &k_periodic, 0, &ring) != MPI_SUCCESS) {
        return false;
    }
    const int sent[2] = {0, 1};
    int received[2] = {-1, -1};
    MPI_Request made = MPI_REQUEST_NULL;
    const int code = next::Ineighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, ring, &made);
    if (code == MPI_SUCCESS) {
        next::Wait(&made, MPI_STATUS_IGNORE);
    }
    next::Comm_free(&ring);
    return code == MPI_SUCCESS && received[0] == sent[0];
}

template <class T>
std::vector<T> in_order(const T* all, const std::vector<int>& order) {
    std::vector<T> changed;
    changed.reserve(order.size());
    for (const int each : order) {
        changed.push_back(all[each]);
    }
    return changed;
}

}  // namespace

std::vector<int> corrected_neighbours::order_of(MPI_Comm comm) {
    int kind = MPI_UNDEFINED;
    int dimensions = 0;
    if (next::Topo_test(comm, &kind) != MPI_SUCCESS || kind != MPI_CART ||
        next::Cartdim_get(comm, &dimensions) != MPI_SUCCESS || dimensions == 0) {
        return {};
    }
    const auto count = static_cast<std::size_t>(dimensions);
    std::vector<int> ranks(count), periodic(count), own(count);
    next::Cart_get(comm, dimensions, ranks.data(), periodic.data(), own.data());
    std::vector<int> order(2 * count);
    std::iota(order.begin(), order.end(), 0);
    bool is_changed = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (periodic[i] != 0 && ranks[i] <= 2) {
            std::swap(order[2 * i], order[2 * i + 1]);
            is_changed = true;
        }
    }
    if (!is_changed) {
        return {};
    }
    static const bool k_is_needed = mistakes_neighbours();
    return k_is_needed ? order : std::vector<int>();
}

int corrected_neighbours::alltoall(const void* from, int from_count, MPI_Datatype from_type,
                                   void* into, int into_count, MPI_Datatype into_type,
                                   MPI_Comm comm, MPI_Request* made) {
    const std::vector<int> order = order_of(comm);
    if (order.empty()) {
        return next::Ineighbor_alltoall(from, from_count, from_type, into, into_count, into_type,
                                        comm, made);
    }
    const auto extent_of = [](MPI_Datatype type) {
        MPI_Aint lower = 0;
        MPI_Aint extent = 0;
        next::Type_get_extent(type, &lower, &extent);
        return extent;
    };
    const MPI_Aint from_bytes = from_count * extent_of(from_type);
    const MPI_Aint into_bytes = into_count * extent_of(into_type);
    m_from_counts.assign(order.size(), from_count);
    m_into_counts.assign(order.size(), into_count);
    m_from_types.assign(order.size(), from_type);
    m_into_types.assign(order.size(), into_type);
    for (std::size_t i = 0; i < order.size(); ++i) {
        m_from_places.push_back(order[i] * from_bytes);
        m_into_places.push_back(static_cast<MPI_Aint>(i) * into_bytes);
    }
    return next::Ineighbor_alltoallw(from, m_from_counts.data(), m_from_places.data(),
                                     m_from_types.data(), into, m_into_counts.data(),
                                     m_into_places.data(), m_into_types.data(), comm, made);
}

int corrected_neighbours::alltoallv(const void* from, const int* from_counts,
                                    const int* from_places, MPI_Datatype from_type, void* into,
                                    const int* into_counts, const int* into_places,
                                    MPI_Datatype into_type, MPI_Comm comm, MPI_Request* made) {
    const std::vector<int> order = order_of(comm);
    if (!order.empty()) {
        m_from_counts = in_order(from_counts, order);
        m_places = in_order(from_places, order);
        from_counts = m_from_counts.data();
        from_places = m_places.data();
    }
    return next::Ineighbor_alltoallv(from, from_counts, from_places, from_type, into, into_counts,
                                     into_places, into_type, comm, made);
}

int corrected_neighbours::alltoallw(const void* from, const int* from_counts,
                                    const MPI_Aint* from_places, const MPI_Datatype* from_types,
                                    void* into, const int* into_counts, const MPI_Aint* into_places,
                                    const MPI_Datatype* into_types, MPI_Comm comm,
                                    MPI_Request* made) {
    const std::vector<int> order = order_of(comm);
    if (!order.empty()) {
        m_from_counts = in_order(from_counts, order);
        m_from_places = in_order(from_places, order);
        m_from_types = in_order(from_types, order);
        from_counts = m_from_counts.data();
        from_places = m_from_places.data();
        from_types = m_from_types.data();
    }
    return next::Ineighbor_alltoallw(from, from_counts, from_places, from_types, into, into_counts,
                                     into_places, into_types, comm, made);
}

int corrected_exchange::alltoallv(const void* from, const int* from_counts, const int* from_places,
                                  MPI_Datatype from_type, void* into, const int* into_counts,
                                  const int* into_places, MPI_Datatype into_type, MPI_Comm comm,
                                  MPI_Request* made) {
    const auto is_empty = [](MPI_Datatype type) {
        int size = 1;
        return type != MPI_DATATYPE_NULL && next::Type_size(type, &size) == MPI_SUCCESS &&
               size == 0;
    };
    const bool sends_none = from != MPI_IN_PLACE && is_empty(from_type);
    const bool gets_none = from != MPI_IN_PLACE && is_empty(into_type);
    if (sends_none || gets_none) {
        int is_inter = 0;
        int ranks = 0;
        next::Comm_test_inter(comm, &is_inter);
        is_inter != 0 ? next::Comm_remote_size(comm, &ranks) : next::Comm_size(comm, &ranks);
        m_none.assign(static_cast<std::size_t>(ranks), 0);
        from_counts = sends_none ? m_none.data() : from_counts;
        into_counts = gets_none ? m_none.data() : into_counts;
    }
    return next::Ialltoallv(from, from_counts, from_places, from_type, into, into_counts,
                            into_places, into_type, comm, made);
}

}  // namespace quern::mpi::detail
