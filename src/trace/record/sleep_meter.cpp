// SPDX-License-Identifier: BSL-1.0
// Computes the sleep between two readings of the thread's clock.
#include "record/sleep_meter.hpp"

#include <quern/scheduler/detail/blocked_time.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/topology/detail/lost_time.hpp>

#include <algorithm>
#include <exception>

namespace quern::trace::detail {

namespace {

/// Shorter pieces are not measured: a reading takes 1 % of this.
constexpr double k_long_ns = 50'000;
/// A smaller difference is not sleep: clocks differ, and a wake-up takes time. (guessed)
constexpr double k_sleep_ns = 20'000;

double waited_ns(pid_t thread) noexcept try {
    const auto times = topology::detail::read_thread_schedule({}, thread);
    return times ? times->wait_ns : 0.0;
} catch (const std::exception&) {
    return 0.0;
}

}  // namespace

void sleep_meter::look_first() noexcept {
    if (const quern::detail::worker* const here = quern::detail::current_worker()) {
        const pid_t thread = here->thread_id();
        m_parked = 0;
        m_last = {quern::detail::ticks(), quern::detail::thread_run_ns(thread), waited_ns(thread)};
    }
}

piece_losses sleep_meter::piece(std::uint32_t rank, tick_count begin, tick_count end) noexcept {
    const double length = quern::detail::ns_per_tick() * static_cast<double>(end - begin);
    const quern::detail::worker* const here = quern::detail::current_worker();
    if (length < k_long_ns || here == nullptr || here->rank() != rank || m_last.at == 0) {
        return {};
    }
    const pid_t thread = here->thread_id();
    const look before = m_last;
    m_last = {quern::detail::ticks(), quern::detail::thread_run_ns(thread), before.wait_ns};
    const double parked = quern::detail::ns_per_tick() * static_cast<double>(m_parked);
    m_parked = 0;
    const double wall = quern::detail::ns_per_tick() * static_cast<double>(m_last.at - before.at);
    const double missing = wall - (m_last.run_ns - before.run_ns) - parked;
    if (missing < k_sleep_ns) {
        return {};
    }
    m_last.wait_ns = waited_ns(thread);
    const double waited = std::max(m_last.wait_ns - before.wait_ns, 0.0);
    const double lost = std::min({waited, missing, length});
    // The thread may have waited after it was woken from its sleep, or in what was before.
    const double before_piece = std::max(wall - length, 0.0);
    const double surely = std::clamp(waited - before_piece, 0.0, lost);
    return {std::clamp(missing - waited, 0.0, length), lost, lost - surely};
}

}  // namespace quern::trace::detail
