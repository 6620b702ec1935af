// SPDX-License-Identifier: BSL-1.0
// What makes the machine of the MPI applications worse than it is, for all variants alike: messages
// that are longer, and noise. Source: the thesis on OmpSs, chapter 7.
#pragma once

#include "../../common/cli.hpp"
#include "noise.hpp"

#include <cstdint>
#include <string>

namespace apps::mpi {

class disturbances {
public:
    /// Chosen by the command line, for the whole process.
    static disturbances& of_process() {
        static disturbances the_one;
        return the_one;
    }

    void add_to(cli::command& app) {
        add_number(app, "--dilate", m_dilation, 0, 1000,
                   "bytes more that follow each byte of a message");
        add_number(app, "--noise", m_noise.pause, 0, 1e6,
                   "seconds between two bursts of noise on a rank, on average; 0: no noise");
        add_number(app, "--noise-burst", m_burst_ms, 0.001, 1e6,
                   "milliseconds of processor time of a burst, on average");
        add_count(app, "--noise-seed", m_noise.seed, 0, 0xffff'ffff, "of the noise");
    }

    /// A message of S bytes is followed by one of dilation() * S (dilation.cpp).
    double dilation() const { return m_dilation; }

    /// As long as the object lives. `round`: all variants have the same noise in a round.
    noise beside_run(int rank, int round) const {
        noise_options how = m_noise;
        how.burst = m_burst_ms / 1e3;
        return {how, static_cast<std::uint32_t>(round) * 4096 + static_cast<std::uint32_t>(rank)};
    }

    /// A line for each disturbance that there is.
    std::string text() const {
        std::string all;
        if (m_dilation > 0) {
            all +=
                fmt::format("  dilated: {} bytes more with each byte of a message\n", m_dilation);
        }
        if (m_noise.pause > 0) {
            all += fmt::format("  noise on each rank: {} ms each {} s, on average; seed {}\n",
                               m_burst_ms, m_noise.pause, m_noise.seed);
        }
        return all;
    }

private:
    double m_dilation = 0;
    double m_burst_ms = 50;
    noise_options m_noise;
};

}  // namespace apps::mpi
