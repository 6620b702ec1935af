// SPDX-License-Identifier: BSL-1.0
// A vector goes to the other rank and comes back: as messages of a task, and as argument and result
// of a call. The value is the time of both ways, in microseconds. Size: bytes.
#include "../harness/mpi.hpp"
#include "../harness/quern.hpp"
#include "../harness/session.hpp"

#include <quern/localities/run_at.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench::parcel_round_trip {

namespace {

constexpr double k_bytes = 2e8;  // of a repetition, at most; and at most k_trips round trips
constexpr long k_trips = 20'000;

using ball = std::vector<long>;

long trips_of(long bytes) {
    return std::clamp(static_cast<long>(k_bytes / static_cast<double>(2 * bytes)), 50L, k_trips);
}

ball made(long bytes) { return ball(static_cast<std::size_t>(bytes) / sizeof(long)); }

measurement result(double begun, long trips, const ball& at_end) {
    expect_equal("what all trips have added", at_end.back(), trips);
    return {1e6 * (now() - begun) / static_cast<double>(trips), static_cast<int>(trips), {}};
}

measurement by_messages(long bytes) {
    ball one = made(bytes);
    const long trips = trips_of(bytes);
    const auto count = static_cast<int>(one.size());
    const auto receive = [&](int from) {
        MPI_Recv(one.data(), count, MPI_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    const auto send = [&](int to) { MPI_Send(one.data(), count, MPI_LONG, to, 0, MPI_COMM_WORLD); };
    const double begun = now();
    for (long i = 0; i < trips; ++i) {
        if (ranks::rank() == 0) {
            send(1);
            receive(1);
        } else {
            receive(0);
            ++one.back();
            send(0);
        }
    }
    return result(begun, trips, one);
}

measurement by_calls(long bytes) {
    if (ranks::rank() != 0) {
        return {};
    }
    ball one = made(bytes);
    const long trips = trips_of(bytes);
    const double begun = now();
    for (long i = 0; i < trips; ++i) {
        const auto add = [](ball it) {
            ++it.back();
            return it;
        };
        one = quern::localities::run_at(1, add, std::move(one)).get();
    }
    return result(begun, trips, one);
}

const contender messages{
    "parcel_round_trip", "messages", [](const arguments& a) {
        return ranks::together(quern_job(a, [bytes = a.size] { return by_messages(bytes); }));
    }};

const contender calls{
    "parcel_round_trip", "calls", [](const arguments& a) {
        return ranks::together(ranks::in_session(a, [bytes = a.size] { return by_calls(bytes); }));
    }};

}  // namespace

}  // namespace bench::parcel_round_trip
