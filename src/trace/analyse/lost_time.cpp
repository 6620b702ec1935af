// SPDX-License-Identifier: BSL-1.0
// The same looks as of a recording (taken_time.cpp), without one.
#include <quern/trace/detail/lost_time.hpp>

#include "analyse/taken_time.hpp"

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <cstdint>
#include <vector>

namespace quern::trace::detail {

namespace {

lost_time_look look_at(const std::vector<std::int32_t>& threads) {
    return look_at_lost_time(threads);
}

std::vector<std::int32_t> threads_of(pool_ref of) {
    std::vector<std::int32_t> threads;
    for (unsigned rank = 0; rank < of.workers(); ++rank) {
        threads.push_back(of.get().at(rank).thread_id());
    }
    return threads;
}

}  // namespace

struct lost_time_since::state {
    std::vector<std::int32_t> threads;
    lost_time_look before;
};

lost_time_since::lost_time_since(pool_ref of) : m_state(std::make_unique<state>()) {
    m_state->threads = threads_of(of);
    m_state->before = look_at(m_state->threads);
}
lost_time_since::~lost_time_since() = default;
lost_time_since::lost_time_since(lost_time_since&&) noexcept = default;
lost_time_since& lost_time_since::operator=(lost_time_since&&) noexcept = default;

double lost_time_since::ns() const {
    const taken_time taken = between(m_state->before, look_at(m_state->threads));
    return taken.by_programs_ns.value_or(0.0) + taken.by_hypervisor_ns.value_or(0.0) +
           taken.by_quota_ns.value_or(0.0);
}

}  // namespace quern::trace::detail
