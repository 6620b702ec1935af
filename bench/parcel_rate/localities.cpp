// SPDX-License-Identifier: BSL-1.0
// One rank posts calls of a function with one number to the other: each is a parcel of 40 bytes. To
// compare: as many bytes in messages of 32 KiB, which parcels are collected into. The value is the
// time of a parcel, in nanoseconds. Size: parcels.
#include "../harness/mpi.hpp"
#include "../harness/quern.hpp"
#include "../harness/session.hpp"

#include <quern/localities/run_at.hpp>

#include <atomic>
#include <cstddef>
#include <vector>

namespace bench::parcel_rate {

namespace {

constexpr long k_parcel_bytes = 40;
constexpr int k_message_bytes = 32 * 1024;

std::atomic<long> g_sum{0};

void add(long number) { g_sum.fetch_add(number, std::memory_order_relaxed); }
long sum() { return g_sum.load(std::memory_order_relaxed); }

measurement by_messages(long parcels) {
    const long messages = (parcels * k_parcel_bytes + k_message_bytes - 1) / k_message_bytes;
    std::vector<unsigned char> bytes(static_cast<std::size_t>(k_message_bytes));
    long received = 0;
    const double begun = now();
    for (long i = 0; i < messages; ++i) {
        if (ranks::rank() == 0) {
            bytes.back() = static_cast<unsigned char>(i);
            MPI_Send(bytes.data(), k_message_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(bytes.data(), k_message_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            received += bytes.back() == static_cast<unsigned char>(i) ? 1 : 0;
        }
    }
    // The last one has come, and with it all.
    MPI_Bcast(&received, 1, MPI_LONG, 1, MPI_COMM_WORLD);
    expect_equal("the messages received", received, messages);
    return {1e9 * (now() - begun) / static_cast<double>(parcels), static_cast<int>(messages), {}};
}

measurement by_calls(long parcels) {
    namespace at = quern::localities;
    if (ranks::rank() != 0) {
        return {};
    }
    const long before = at::run_at(1, &sum).get();
    const long all = parcels * (parcels - 1) / 2;
    const double begun = now();
    for (long i = 0; i < parcels; ++i) {
        at::post_to(1, &add, i);
    }
    while (at::run_at(1, &sum).get() - before != all) {
        // Each call waits for its answer.
    }
    return {1e9 * (now() - begun) / static_cast<double>(parcels), static_cast<int>(parcels), {}};
}

const contender messages{
    "parcel_rate", "messages", [](const arguments& a) {
        return ranks::together(quern_job(a, [parcels = a.size] { return by_messages(parcels); }));
    }};

const contender calls{"parcel_rate", "calls", [](const arguments& a) {
                          return ranks::together(ranks::in_session(
                              a, [parcels = a.size] { return by_calls(parcels); }));
                      }};

}  // namespace

}  // namespace bench::parcel_rate
