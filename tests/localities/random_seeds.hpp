// SPDX-License-Identifier: BSL-1.0
// Seeds of the random programs of a job: TEST_STRESS_SEED sets the first one, TEST_STRESS_PROGRAMS
// the number.
#pragma once

#include "mpi/world.hpp"
#include "stress/seed.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace quern_test {

/// The same at all ranks, which all call it outside of a session.
inline std::vector<std::uint64_t> seeds_of_job(int programs) {
    std::uint64_t first = this_world().rank == 0 ? stress_seed() : 0;
    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    const char* const given = std::getenv("TEST_STRESS_PROGRAMS");
    std::vector<std::uint64_t> seeds(
        static_cast<std::size_t>(given != nullptr ? std::atoi(given) : programs));
    std::iota(seeds.begin(), seeds.end(), first);
    return seeds;
}

}  // namespace quern_test
