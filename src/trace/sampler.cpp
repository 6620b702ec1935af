// SPDX-License-Identifier: BSL-1.0
// The looks themselves, on the sampler's own thread.
#include "sampler.hpp"

#include <quern/scheduler/pool.hpp>

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace quern::trace::detail {

namespace {

constexpr std::size_t k_most_points = 20'000;  ///< a series becomes half as long then (guessed)

/// Between two looks for what is not there yet and is expected at any moment.
constexpr std::chrono::milliseconds k_soon{1};

enum which_series : std::size_t { k_memory, k_running, k_rate };

/// Bytes, or 0 where /proc cannot be read.
double resident_memory() {
    std::FILE* const file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr) {
        return 0;
    }
    unsigned long long all = 0;
    unsigned long long resident = 0;
    const int found = std::fscanf(file, "%llu %llu", &all, &resident);
    std::fclose(file);
    return found == 2 ? static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE))
                      : 0;
}

double running_workers(const std::vector<pool_ref>& pools) {
    int count = 0;
    for (const pool_ref& each : pools) {
        const quern::detail::pool& p = each.get();
        for (std::uint32_t rank = 0; rank < p.size(); ++rank) {
            count += p.at(rank).stats.phase() == worker_phase::running ? 1 : 0;
        }
    }
    return count;
}

}  // namespace

sampler::sampler(runtime& which, std::string_view counters)
    : m_pools(which.pools()), m_chosen(which, counters) {
    m_seen = {{"resident memory", "B", {}}, {"running workers", "", {}}, {"tasks", "1/s", {}}};
    m_last_tasks = tasks();
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    try {
        m_thread = std::thread([this] { run(); });
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::uint64_t sampler::tasks() const {
    std::uint64_t sum = 0;
    for (const pool_ref& each : m_pools) {
        const quern::detail::pool& p = each.get();
        for (std::uint32_t rank = 0; rank < p.size(); ++rank) {
            sum += p.at(rank).stats.tasks.value();
        }
    }
    return sum;
}

std::uint64_t sampler::now_ns() const {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - m_start).count());
}

void sampler::run() {
    pthread_setname_np(pthread_self(), "quern/trace");
    harmless wakes_no_task(std::in_place);
    auto last = m_start;
    std::unique_lock lock(m_mutex);
    do {  // once at least: the run may be over before this thread begins
        const auto now = std::chrono::steady_clock::now();
        look(std::chrono::duration<double>(now - last).count());
        look_at_chosen(wakes_no_task, false);
        last = now;
        m_changed.wait_for(lock, m_chosen.is_expected() ? k_soon : m_interval,
                           [this] { return m_stop; });
    } while (!m_stop);
    look_at_chosen(wakes_no_task, true);  // a short run would show nothing otherwise
}

void sampler::look(double seconds) {
    const std::uint64_t at = now_ns();
    m_seen[k_memory].points.emplace_back(at, resident_memory());
    m_seen[k_running].points.emplace_back(at, running_workers(m_pools));
    const std::uint64_t now = tasks();
    if (seconds > 1e-3) {
        m_seen[k_rate].points.emplace_back(at, static_cast<double>(now - m_last_tasks) / seconds);
        m_last_tasks = now;
    }
    if (m_seen[k_memory].points.size() >= k_most_points) {
        thin_out();
    }
}

/// Code of the program's own may wake a task: until it has ended, tasks are not stuck.
void sampler::look_at_chosen(harmless& thread, bool is_last) {
    const bool calls_program = m_chosen.calls_program();
    if (calls_program) {
        thread.reset();
    }
    if (is_last) {
        m_chosen.look_last(now_ns());
    } else {
        m_chosen.look(now_ns());
    }
    if (calls_program) {
        thread.emplace();
    }
}

/// Every other point goes, and from now on they come half as often.
void sampler::thin_out() {
    for (series& each : m_seen) {
        detail::thin_out(each);
    }
    m_chosen.thin_out();
    m_interval *= 2;
}

void sampler::finish() {
    const std::scoped_lock finishing(m_finishing);
    {
        const std::scoped_lock lock(m_mutex);
        m_stop = true;
    }
    m_changed.notify_one();
    if (m_thread.joinable()) {
        m_thread.join();
    }
}

std::vector<series> sampler::stop() {
    finish();
    m_chosen.move_to(m_seen);
    return std::move(m_seen);
}

}  // namespace quern::trace::detail
