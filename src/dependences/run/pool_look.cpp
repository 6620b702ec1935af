// SPDX-License-Identifier: BSL-1.0
// Reads the published numbers of the workers of a pool.
#include "run/pool_look.hpp"

#include <quern/scheduler/detail/worker.hpp>

#include <new>
#include <utility>

namespace quern::detail {

bool pool_look::nothing_runs() const noexcept {
    const worker* const here = current_worker();
    const std::uint32_t own = here != nullptr && &here->home() == &m_pool ? 1 : 0;
    for (std::uint32_t i = 0; i < m_pool.size(); ++i) {
        if (m_pool.at(i).has_public_work()) {
            return false;
        }
    }
    const auto idle = m_pool.gate().load();
    return !m_pool.has_shared_work() &&
           idle.sleeping + idle.searching + own >=
               m_pool.knobs().active_workers.load(std::memory_order_relaxed) &&
           !m_pool.spares().any();
}

bool pool_look::only_polls() noexcept {
    bool is_known = m_activations != nullptr;
    if (!is_known) {
        m_activations.reset(new (std::nothrow) std::uint64_t[m_pool.size()]);
        if (m_activations == nullptr) {
            return false;
        }
    }
    std::uint64_t ended = 0;
    for (std::uint32_t i = 0; i < m_pool.size(); ++i) {
        const worker_stats& of = m_pool.at(i).stats();
        const std::uint64_t now = of.activations.value();
        const std::uint64_t before = std::exchange(m_activations[i], now);
        is_known = is_known && (now != before || of.phase() == worker_phase::idle);
        ended += of.tasks.value() + of.inlined.value();
    }
    return std::exchange(m_ended, ended) == ended && is_known && !m_pool.spares().any();
}

}  // namespace quern::detail
