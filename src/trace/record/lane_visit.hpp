// SPDX-License-Identifier: BSL-1.0
// How a hook gets the lane of its worker.
#pragma once

#include "record/trace_hooks.hpp"

#include <quern/scheduler/detail/worker.hpp>

namespace quern::trace::detail {

/// The lane of a worker, locked; false if the trace hooks have left the worker's pool.
class pool_hooks::visit {
public:
    visit(self which, worker& on) noexcept : m_hooks(of(which)) {
        if (on.rank() < m_hooks.lanes()) {
            lane& l = *m_hooks.m_lanes[on.rank()];
            l.lock.lock();
            m_lane = &l;
            m_is_mine = l.owner == &on;
        }
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() {
        if (m_lane != nullptr) {
            m_lane->lock.unlock();
        }
    }

    explicit operator bool() const noexcept { return m_is_mine; }
    lane& at() const noexcept { return *m_lane; }
    pool_hooks& whole() const noexcept { return m_hooks; }

private:
    pool_hooks& m_hooks;
    lane* m_lane = nullptr;
    bool m_is_mine = false;
};

}  // namespace quern::trace::detail
