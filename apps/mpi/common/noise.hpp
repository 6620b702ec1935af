// SPDX-License-Identifier: BSL-1.0
// Noise as of an operating system: a thread beside a run that now and then takes processor time.
// Source: the thesis on OmpSs, 7.2.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <thread>

namespace apps::mpi {

/// Pauses and bursts have exponentially distributed lengths; no burst is longer than ten times the
/// mean.
struct noise_options {
    double pause = 0;     ///< mean, seconds; 0: no noise
    double burst = 0.05;  ///< mean, seconds of processor time
    std::uint32_t seed = 1;
};

/// Makes noise while it lives. The same options and `stream` give the same pauses and bursts.
class noise {
public:
    noise(const noise_options& how, std::uint32_t stream);
    ~noise();
    noise(const noise&) = delete;
    noise& operator=(const noise&) = delete;

private:
    void make();
    bool pauses_for(double seconds);  ///< false: it has been told to end

    const noise_options m_how;
    std::mt19937 m_random;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_ends = false;  // guarded by m_mutex
    std::thread m_thread;
};

}  // namespace apps::mpi
