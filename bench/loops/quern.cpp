// SPDX-License-Identifier: BSL-1.0
// The fixed grains together are the exhaustive static choice.
#include "problem.hpp"

#include "../harness/quern.hpp"

namespace bench::loops {

namespace {

constexpr auto k_run = [](const arguments& a, auto f) { return quern_job(a, f); };

auto with(quern::grain grain) {
    return [grain](const arguments& a, auto f) { quern::parallel_for(0L, a.size, grain, f); };
}

const on_all_shapes by_default("default", with(quern::grain::automatic()), k_run);
const on_all_shapes by_1("grain_1", with(quern::grain::fixed(1)), k_run);
const on_all_shapes by_16("grain_16", with(quern::grain::fixed(16)), k_run);
const on_all_shapes by_256("grain_256", with(quern::grain::fixed(256)), k_run);
const on_all_shapes by_4096("grain_4096", with(quern::grain::fixed(4096)), k_run);

}  // namespace

}  // namespace bench::loops
