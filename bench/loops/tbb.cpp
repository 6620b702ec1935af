// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/parallel_for.h>

namespace bench::loops {

namespace {

constexpr auto k_run = [](const arguments& a, auto f) { return tbb_job(a, f); };

template <class Partitioner>
constexpr auto k_with =
    [](const arguments& a, auto f) { tbb::parallel_for(0L, a.size, f, Partitioner()); };

/// Keeps what it has learned, as its users do.
constexpr auto k_with_affinity = [](const arguments& a, auto f) {
    static tbb::affinity_partitioner kept;
    tbb::parallel_for(0L, a.size, f, kept);
};

const on_all_shapes by_default("default", k_with<tbb::auto_partitioner>, k_run);
const on_all_shapes by_affinity("affinity", k_with_affinity, k_run);
const on_all_shapes by_equal_parts("static", k_with<tbb::static_partitioner>, k_run);

}  // namespace

}  // namespace bench::loops
