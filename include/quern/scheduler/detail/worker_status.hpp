// SPDX-License-Identifier: BSL-1.0
// What reports read of a worker: its place, its thread, what it runs, and what it has counted. Any
// thread may read it at any time. Only the worker's own thread, or the guest in its
// place, writes it, by the protected functions, which `worker` uses on itself.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/relaxed.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/site_counts.hpp>
#include <quern/scheduler/detail/worker_queues.hpp>
#include <quern/scheduler/worker_stats.hpp>

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace quern::detail {

class pool;

class alignas(k_cache_line) worker_status : protected worker_queues {
public:
    pool& home() const noexcept { return m_pool; }
    std::uint32_t rank() const noexcept { return m_rank; }
    /// As the kernel numbers it; 0 before the thread has begun and after its end.
    pid_t thread_id() const noexcept { return m_thread_id.load(std::memory_order_relaxed); }

    const worker_stats& stats() const noexcept { return m_stats; }
    /// What it has counted of each site; null without counters.
    const site_counts* sites() const noexcept { return m_sites.get(); }

    /// What runs now, if anything; it lives as long as the pool, and may run elsewhere by now.
    context* running(std::memory_order how = std::memory_order_acquire) const noexcept {
        return m_running.load(how);
    }

    /// How often it has looked in vain since it ran out of work; 0 while it has some. And how many
    /// items it has begun in turn since it last had none.
    std::uint64_t searched_in_vain() const noexcept {
        return m_stats.phase() == worker_phase::idle ? m_stats.misses.value() - m_dry_misses : 0;
    }
    std::uint64_t begun_in_turn() const noexcept {
        return m_stats.phase() == worker_phase::idle
                   ? 0
                   : m_stats.activations.value() - m_dry_activations;
    }

    /// Contexts that left here less those that came back here; the same of coroutines.
    const single_writer_counter& contexts_away() const noexcept { return m_contexts_away; }
    const single_writer_counter& coroutines_away() const noexcept { return m_coroutines_away; }

protected:
    worker_status(pool& home, std::uint32_t rank);
    ~worker_status() = default;

    worker_stats& own_stats() noexcept { return m_stats; }
    site_counts* own_sites() noexcept { return m_sites.get(); }
    single_writer_counter& own_contexts_away() noexcept { return m_contexts_away; }
    single_writer_counter& own_coroutines_away() noexcept { return m_coroutines_away; }
    void set_running(context* now, std::memory_order how) noexcept { m_running.store(now, how); }
    void set_thread_id(pid_t id) noexcept { m_thread_id.store(id, std::memory_order_relaxed); }
    /// It has run out of work.
    void note_dry() noexcept {
        m_dry_misses = m_stats.misses.value();
        m_dry_activations = m_stats.activations.value();
    }

private:
    worker_stats m_stats;
    pool& m_pool;
    const std::uint32_t m_rank;
    std::atomic<pid_t> m_thread_id{0};
    std::unique_ptr<site_counts> m_sites;
    /// In a line of their own: written at each switch.
    alignas(k_cache_line) std::atomic<context*> m_running{nullptr};
    relaxed<std::uint64_t> m_dry_misses = 0;  ///< when it ran out of work, or began
    relaxed<std::uint64_t> m_dry_activations = 0;
    single_writer_counter m_contexts_away;
    single_writer_counter m_coroutines_away;
};

}  // namespace quern::detail
