// SPDX-License-Identifier: BSL-1.0
#include "simulation.hpp"

#include <algorithm>

namespace virtual_time {

run_figures simulation::run(const std::function<void(fork_place)>& body) {
    for (const auto& w : m_pool.workers) {
        m_machine.add_core([this, &body, &host = *w] {
            host.begin();
            if (host.rank() != 0) {
                worker::loop(host.first);
            }
            body(place_in(host.first));
        });
    }
    m_machine.run();
    for (const auto& w : m_pool.workers) {
        m_figures.stolen += w->counted.stolen;
        m_figures.parks += w->counted.parks;
        m_figures.suspensions += w->counted.suspensions;
    }
    return m_figures;
}

void simulation::begin_timing() noexcept {
    static_cast<void>(m_turn.load());  // others have done what they do until now
    m_pool.epoch = m_machine.now();
    m_before = m_machine.counted();
    m_vain_before = 0;
    for (const auto& w : m_pool.workers) {
        m_vain_before += w->counted.vain;
    }
}

run_figures simulation::end_timing() noexcept {
    static_cast<void>(m_turn.load());
    m_figures.took = m_machine.now() - m_pool.epoch;
    m_figures.took_part = 1;
    m_figures.all_at_work = 0;
    m_figures.vain_wakes = 0;
    for (const auto& w : m_pool.workers) {
        m_figures.vain_wakes += w->counted.vain;
        if (w->counted.first_item >= m_pool.epoch && w->rank() != 0) {
            ++m_figures.took_part;
            m_figures.all_at_work =
                std::max(m_figures.all_at_work, w->counted.first_item - m_pool.epoch);
        }
    }
    m_figures.vain_wakes -= m_vain_before;
    const machine::figures& all = m_machine.counted();
    m_figures.counted = {all.accesses - m_before.accesses, all.transfers - m_before.transfers,
                         all.wakes - m_before.wakes, all.barriers - m_before.barriers};
    return m_figures;
}

}  // namespace virtual_time
