// SPDX-License-Identifier: BSL-1.0
// The looks themselves. The last one is on the thread that ends the recording.
#include "record/sampler.hpp"

#include <quern/scheduler/detail/blocked_time.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/topology/detail/lost_time.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <thread>
#include <utility>

namespace quern::trace::detail {

namespace {

constexpr std::size_t k_most_points = 20'000;  ///< a series becomes half as long then (guessed)

/// Between two looks for what is not there yet and is expected at any moment.
constexpr std::chrono::milliseconds k_soon{1};

/// How long the end of a recording waits for a look that is late: longer than a busy machine leaves
/// a thread without a processor. At a load of 11 on 2 cores, 1 s was too short once.
constexpr std::chrono::seconds k_patience{10};

/// A look that is late by less was delayed otherwise, as by the hypervisor. (guessed)
constexpr double k_stop_ns = 50e6;

enum which_series : std::size_t { k_memory, k_running, k_rate, k_lost };

double process_ns() noexcept {
    timespec spent{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return 1e9 * static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec);
}

double ns_between(std::chrono::steady_clock::time_point from,
                  std::chrono::steady_clock::time_point to) {
    return std::chrono::duration<double, std::nano>(to - from).count();
}

/// In which the thread had, or waited for, a processor; 0 if that is not known.
double ready_ns(int thread) {
    const auto times = topology::detail::read_thread_schedule({}, thread);
    return times ? times->run_ns + times->wait_ns : 0.0;
}

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
            count += p.at(rank).stats().phase() == worker_phase::running ? 1 : 0;
        }
    }
    return count;
}

}  // namespace

sampler::sampler(runtime& which, std::string_view counters)
    : m_pools(which.pools()), m_chosen(which, counters) {
    m_seen = {{"resident memory", "B", {}},
              {"running workers", "", {}},
              {"tasks", "1/s", {}},
              {"workers without a processor", "", {}}};
    m_last_tasks = tasks();
    m_looks.emplace("the trace", m_start, [this] { return look(); });
}

std::uint64_t sampler::tasks() const {
    std::uint64_t sum = 0;
    for (const pool_ref& each : m_pools) {
        const quern::detail::pool& p = each.get();
        for (std::uint32_t rank = 0; rank < p.size(); ++rank) {
            sum += p.at(rank).stats().tasks.value();
        }
    }
    return sum;
}

std::uint64_t sampler::now_ns() const {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(clock::now() - m_start).count());
}

sampler::clock::time_point sampler::look() {
    look_for_stop(clock::now());
    look_at_chosen(&chosen_series::look);  // which may sleep
    m_before = {clock::now(), process_ns(), ::gettid(), ready_ns(::gettid())};
    const auto due = m_before->at + (m_chosen.is_expected() ? k_soon : m_interval);
    m_due.store(due, std::memory_order_relaxed);
    look_at_system();
    return due;
}

/// Other functions of the same thread may make a look late too, and may sleep: but meanwhile other
/// threads run, and of a stopped process none does.
void sampler::look_for_stop(clock::time_point now) {
    const double late = ns_between(m_due.load(std::memory_order_relaxed), now);
    if (!m_before || late < k_stop_ns) {
        return;
    }
    const double ready = ready_ns(m_before->thread) - m_before->thread_ns;
    const double stopped = late - std::max(ready, 0.0);
    const double others = ns_between(m_before->at, now) - stopped + k_stop_ns / 2;
    const double ran = process_ns() - m_before->process_ns;
    if (stopped >= k_stop_ns && ran <= others * std::max(1U, std::thread::hardware_concurrency())) {
        m_stopped_ns += stopped;
    }
}

/// The kernel counts a wait when it ends.
void sampler::look_at_losses(std::uint64_t at, double seconds) {
    double waited = 0;
    for (const pool_ref& each : m_pools) {
        for (unsigned rank = 0; rank < each.workers(); ++rank) {
            const auto one = quern::detail::look_at_thread(each.get().at(rank));
            if (!one) {
                m_seen[k_lost].why = one.reason();
                return;
            }
            waited += one->waited_ns;
        }
    }
    if (const auto before = std::exchange(m_last_waited_ns, waited)) {
        const double since = std::max(waited - *before, 0.0);
        m_seen[k_lost].points.emplace_back(at, since / (1e9 * seconds));
    }
}

void sampler::look_at_system() {
    const auto time = clock::now();
    const double seconds =
        std::chrono::duration<double>(time - std::exchange(m_last, time)).count();
    const std::uint64_t at = now_ns();
    m_seen[k_memory].points.emplace_back(at, resident_memory());
    m_seen[k_running].points.emplace_back(at, running_workers(m_pools));
    const std::uint64_t now = tasks();
    if (seconds > 1e-3) {
        m_seen[k_rate].points.emplace_back(at, static_cast<double>(now - m_last_tasks) / seconds);
        m_last_tasks = now;
        look_at_losses(at, seconds);
    }
    if (m_seen[k_memory].points.size() >= k_most_points) {
        thin_out();
    }
}

/// Code of the program's own may take long, and may wake a task: until it has ended, tasks are not
/// stuck.
void sampler::look_at_chosen(void (chosen_series::*how)(std::uint64_t at_ns)) {
    const quern::detail::off_the_clock at_the_program(m_chosen.calls_program());
    (m_chosen.*how)(now_ns());
}

/// Every other point goes, and from now on they come half as often.
void sampler::thin_out() {
    for (series& each : m_seen) {
        detail::thin_out(each);
    }
    m_chosen.thin_out();
    m_interval *= 2;
}

/// When the process was stopped near the end of the run, the thread of the looks has perhaps not
/// had a processor since; other threads cannot tell how long it has waited for one.
void sampler::await_late_look() const {
    const auto end = clock::now() + k_patience;
    for (auto now = clock::now(); now < end; now = clock::now()) {
        if (ns_between(m_due.load(std::memory_order_relaxed), now) < k_stop_ns) {
            return;
        }
        std::this_thread::sleep_for(k_soon);
    }
}

void sampler::finish() {
    const std::scoped_lock finishing(m_finishing);
    if (!m_looks) {
        return;
    }
    if (!m_looks->inherited()) {
        await_late_look();
    }
    m_looks.reset();
    if (m_last == m_start) {
        look();  // the run was over before the first
    }
    look_at_chosen(&chosen_series::look_last);  // a short run would show nothing otherwise
}

std::vector<series> sampler::stop() {
    finish();
    m_chosen.move_to(m_seen);
    return std::move(m_seen);
}

}  // namespace quern::trace::detail
