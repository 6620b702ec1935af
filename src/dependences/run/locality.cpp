// SPDX-License-Identifier: BSL-1.0
// Where a task of many bytes runs: at the worker that last wrote most of them, if that can begin it
// soon. Called when the task becomes ready; what it decides is the hint of the task. README.md,
// "Locality".
#include "run/locality.hpp"

#include <quern/base/detail/cache_line.hpp>
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/dependences/detail/replayed_task.hpp>
#include <quern/scheduler/detail/pool.hpp>

#include "map/overlap.hpp"
#include "run/limits.hpp"
#include "run/ready_successors.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace quern::detail {

namespace {

/// Hinted tasks of a busy worker, at most, while others have nothing to do (guessed): more of them
/// are for any worker at once.
constexpr std::size_t k_backlog = 16;

/// Tasks that last as long as a wake-up, 50 us: as many of 128 KiB come from the cache of another
/// core in that time.
constexpr std::size_t k_tasks_of_a_wake_up = 4;

/// Of a thread outside, which waits for no task.
constexpr std::size_t k_many = ~std::size_t{0} / 2;

/// Writers of the accesses of one task that are told apart; the bytes of others are not counted.
constexpr std::size_t k_writers = 8;

/// Each has a cache line of its own. Workers of different pools may share one.
struct alignas(k_cache_line) locality_counts {
    std::atomic<std::uint64_t> with_writer{0};
    std::atomic<std::uint64_t> at_writer{0};
};
constinit std::array<locality_counts, 64> g_locality_counts{};

struct share_of_writer {
    writer_rank by = k_no_writer;
    std::size_t bytes = 0;
};

worker* worker_of(const pool& where) noexcept {
    worker* const here = current_worker();
    return here != nullptr && &here->home() == &where ? here : nullptr;
}

/// Whether it has nothing to do, or will have soon, and is not slower to begin than `from`.
bool can_begin_soon(worker_shared& one, const runnable& task, const ready_from& from) noexcept {
    const bool is_idle = one.stats().phase() == worker_phase::idle && one.mailbox().empty();
    if (is_idle) {
        // This worker must not wait for another one to wake up.
        return !one.is_asleep() || (from.queued >= k_tasks_of_a_wake_up && !task.has_place());
    }
    if (task.has_place() || !(from.is_busy || from.queued != 0)) {
        return false;  // what precedes other tasks does not wait for a worker
    }
    const auto idle = one.home().gate().load();
    return one.mailbox().size() < k_backlog || idle.searching + idle.sleeping == 0;
}

}  // namespace

// -- who has written ---------------------------------------------------------------------------

void dependent_task::note_write(access_record& access) noexcept {
    const worker* const here = worker_of(home_pool());
    if (here != nullptr && access.kind != access_kind::read && !access.is_weak) {
        access.last_writer = static_cast<writer_rank>(here->rank());
    }
}

/// Those that were released early belong to the owner of the domain too.
void dependent_task::note_writes() noexcept {
    for (access_record& each : accesses()) {
        if (!each.given_up.is_set()) {
            note_write(each);
        }
    }
}

/// Of equals it is the worker at which the task became ready, else the writer of the first access:
/// so two buffers that are written in turns come to one worker.
void dependent_task::find_last_writer(const worker* here) noexcept {
    std::array<share_of_writer, k_writers> shares;
    std::size_t found = 0;
    for (const access_record& each : accesses()) {
        if (each.last_writer == k_no_writer) {
            continue;
        }
        const auto end = shares.begin() + found;
        const auto at = std::find_if(shares.begin(), end,
                                     [&](const auto& s) { return s.by == each.last_writer; });
        if (at == shares.end()) {
            continue;
        }
        found += at == end ? 1 : 0;
        at->by = each.last_writer;
        at->bytes += bytes_of(each);
    }
    const share_of_writer* most = nullptr;
    for (std::size_t i = 0; i < found; ++i) {
        const share_of_writer& each = shares[i];
        const bool is_here = here != nullptr && each.by == here->rank();
        if (most == nullptr || each.bytes > most->bytes || (each.bytes == most->bytes && is_here)) {
            most = &each;
        }
    }
    m_last_writer = most != nullptr && most->bytes >= locality_limit() ? most->by : k_no_writer;
}

void dependent_task::count_place() noexcept {
    if (!k_counters || m_last_writer == k_no_writer) {
        return;
    }
    if (const worker* const here = worker_of(home_pool())) {
        locality_counts& counts = g_locality_counts[here->rank() % g_locality_counts.size()];
        counts.with_writer.fetch_add(1, std::memory_order_relaxed);
        if (here->rank() == m_last_writer) {
            counts.at_writer.fetch_add(1, std::memory_order_relaxed);
        }
    }
}

locality_totals read_locality() noexcept {
    locality_totals sum;
    for (const locality_counts& each : g_locality_counts) {
        sum.with_writer += each.with_writer.load(std::memory_order_relaxed);
        sum.at_writer += each.at_writer.load(std::memory_order_relaxed);
    }
    return sum;
}

// -- where it goes -----------------------------------------------------------------------------

void dependent_task::choose_home() noexcept {
    const worker* const here = worker_of(home_pool());
    choose_home({here, true, here == nullptr ? k_many : here->queued()});
}

void dependent_task::choose_home(const ready_from& from) noexcept {
    if (!is_replayed()) {
        find_last_writer(from.here);
    }
    pool& where = home_pool();
    const writer_rank last = m_last_writer;
    if (last == k_no_writer || is_hinted() || !where.policy().steals ||
        last >= where.knobs().active_workers.load(std::memory_order_relaxed)) {
        return;
    }
    worker_shared& wanted = where.at(last);
    if (&wanted == from.here) {
        return;  // it stays
    }
    if (can_begin_soon(wanted, *this, from)) {
        runnable::home = last;
        return;
    }
    const bool is_elsewhere =
        from.here == nullptr || from.here->node_index() != wanted.node_index();
    if (where.node_count() > 1 && is_elsewhere && from.queued != 0 && !has_place()) {
        runnable::home =
            k_first_node + static_cast<std::int32_t>(where.numa_node_of(last).value_or(0));
    }
}

/// Of the tasks of the largest rank the worker continues with the oldest one whose data are here.
/// It gives away the last one only to a worker that is awake and has nothing to do.
void ready_successors::place_all() noexcept {
    dependent_task& best = dependent_task::from_item(*m_best);
    worker* const here = worker_of(best.home_pool());
    const std::size_t queued = here == nullptr ? k_many : here->queued();
    const bool is_hinted_by_user = best.is_hinted();
    const std::int16_t rank = best.rank;
    const ready_from from{here, here == nullptr, queued + m_others.size()};
    ready_batch all;
    all.add(*std::exchange(m_best, nullptr));
    while (!m_others.empty()) {
        all.add(m_others.take_first());
    }
    while (!all.empty()) {
        runnable& item = all.take_first();
        if (dependent_task::from_item(item).is_large()) {
            dependent_task::from_item(item).choose_home(from);
        }
        if (m_best == nullptr && item.rank == rank && !item.is_hinted()) {
            m_best = &item;
        } else {
            m_others.add(item);
        }
    }
    if (m_best == nullptr && queued == 0 && !is_hinted_by_user) {
        best.runnable::home = runnable::k_anywhere;
        best.choose_home({here, false, 0});
        if (!best.is_hinted()) {
            m_best = &m_others.take_first();
        }
    }
    m_has_large = false;
}

/// The same task of the next step finds its data where this one ran.
void replayed_task::tell_next_step() noexcept {
    if (m_next_step != nullptr) {
        const worker* const here = worker_of(home_pool());
        m_next_step->m_last_writer =
            here != nullptr ? static_cast<writer_rank>(here->rank()) : k_no_writer;
    }
}

}  // namespace quern::detail
