// SPDX-License-Identifier: BSL-1.0
// Sums over all ranks, one after the other: by MPI_Allreduce of a task, and by a communicator of
// localities. The value is the time of one, in microseconds. Size: doubles of the vector that is
// added element by element.
#include "../harness/mpi.hpp"
#include "../harness/quern.hpp"
#include "../harness/session.hpp"

#include <quern/localities/communicator.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace bench::all_reduce {

namespace {

constexpr double k_bytes = 1e8;  // of a repetition, at most; and at most k_sums
constexpr long k_sums = 5'000;

using numbers = std::vector<double>;

long sums_of(long size) {
    return std::clamp(static_cast<long>(k_bytes / static_cast<double>(sizeof(double) * size)), 50L,
                      k_sums);
}

/// Halved after each sum, so that with two ranks it stays as it is.
template <class Sum>
measurement repeat(long size, Sum sum) {
    const long sums = sums_of(size);
    numbers own(static_cast<std::size_t>(size), 1.0);
    const double begun = now();
    for (long i = 0; i < sums; ++i) {
        own = sum(std::move(own));
        for (double& each : own) {
            each /= ranks::size();
        }
    }
    const double us = 1e6 * (now() - begun) / static_cast<double>(sums);
    expect_equal("the sum of all numbers", std::accumulate(own.begin(), own.end(), 0.0),
                 static_cast<double>(size));
    return {us, static_cast<int>(sums), {}};
}

measurement by_messages(long size) {
    return repeat(size, [](numbers own) {
        MPI_Allreduce(MPI_IN_PLACE, own.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        return own;
    });
}

measurement by_communicator(long size) {
    const quern::localities::communicator all("sums");
    const auto add = [](numbers a, const numbers& b) {
        std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>());
        return a;
    };
    return repeat(size, [&](numbers own) { return all.all_reduce(std::move(own), add).get(); });
}

const contender messages{
    "all_reduce", "messages", [](const arguments& a) {
        return ranks::together(quern_job(a, [size = a.size] { return by_messages(size); }));
    }};

const contender communicators{"all_reduce", "communicator", [](const arguments& a) {
                                  return ranks::together(ranks::in_session(
                                      a, [size = a.size] { return by_communicator(size); }));
                              }};

}  // namespace

}  // namespace bench::all_reduce
