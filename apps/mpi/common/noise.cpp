// SPDX-License-Identifier: BSL-1.0
#include "noise.hpp"

#include <algorithm>
#include <chrono>

#include <time.h>

namespace apps::mpi {

namespace {

constexpr double k_longest_burst = 10;  // times the mean: 0.5 s with the default, as in the thesis

double thread_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void burn(double seconds) {
    const double until = thread_seconds() + seconds;
    while (thread_seconds() < until) {
    }
}

}  // namespace

noise::noise(const noise_options& how, std::uint32_t stream) : m_how(how) {
    std::seed_seq seeds{how.seed, stream};
    m_random.seed(seeds);
    if (m_how.pause > 0) {
        m_thread = std::thread([this] { make(); });
    }
}

noise::~noise() {
    if (!m_thread.joinable()) {
        return;
    }
    {
        const std::scoped_lock lock(m_mutex);
        m_ends = true;
    }
    m_changed.notify_one();
    m_thread.join();
}

void noise::make() {
    std::exponential_distribution<double> pauses(1 / m_how.pause);
    std::exponential_distribution<double> bursts(1 / m_how.burst);
    while (pauses_for(pauses(m_random))) {
        burn(std::min(bursts(m_random), k_longest_burst * m_how.burst));
    }
}

bool noise::pauses_for(double seconds) {
    std::unique_lock lock(m_mutex);
    return !m_changed.wait_for(lock, std::chrono::duration<double>(seconds),
                               [this] { return m_ends; });
}

}  // namespace apps::mpi
