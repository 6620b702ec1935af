// SPDX-License-Identifier: BSL-1.0
// HPL beside noise: a thread on each rank takes 50 ms of processor time now and then. Size: the
// pause between two bursts, on average, in ms. Source: the thesis on OmpSs, figures 7.1 and 7.2.
#include "../../apps/mpi/common/noise.hpp"
#include "../hpl/hpl_app.hpp"

#include <cstdint>
#include <memory>

namespace bench::mpi_noise {

namespace {

constexpr std::size_t k_equations = 2048;

/// Value: seconds beside noise. All contenders have the same noise in their repetition n. Figures:
/// seconds without it, and what part of them the noise adds.
contender disturbed(const char* name, void (hpl_app::*steps)(), ranks::stage where) {
    return {"mpi_noise", name, [steps, where](const arguments& a) {
                return ranks::together([app = std::make_shared<hpl_app>(k_equations), a, steps,
                                        where, repetition = std::make_shared<std::uint32_t>(0)] {
                    const double quiet = ranks::seconds_of(*app, steps, a, where);
                    const apps::mpi::noise beside(
                        {.pause = static_cast<double>(a.size) / 1e3},
                        ++*repetition * 4096 + static_cast<std::uint32_t>(ranks::rank()));
                    const double noisy = ranks::seconds_of(*app, steps, a, where);
                    return measurement{noisy, 1, {{"quiet", quiet}, {"loss", noisy / quiet - 1}}};
                });
            }};
}

const contender pure = disturbed("pure", &hpl_app::pure, ranks::alone);
const contender look_ahead = disturbed("look_ahead", &hpl_app::look_ahead, ranks::alone);
const contender fork_join = disturbed("fork_join", &hpl_app::fork_join, ranks::beside_runtime);
const contender tasks = disturbed("tasks", &hpl_app::tasks, ranks::as_task);

}  // namespace

}  // namespace bench::mpi_noise
