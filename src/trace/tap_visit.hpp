// SPDX-License-Identifier: BSL-1.0
// How a hook comes to the lane of its worker.
#pragma once

#include "tap.hpp"

#include <quern/scheduler/worker.hpp>

namespace quern::trace::detail {

/// The lane of a worker, locked; null when the tap has left the worker's pool.
class tap::visit {
public:
    visit(self which, worker& on) noexcept : m_tap(of(which)) {
        if (on.rank() < m_tap.lanes()) {
            lane& l = *m_tap.m_lanes[on.rank()];
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
    tap& whole() const noexcept { return m_tap; }

private:
    tap& m_tap;
    lane* m_lane = nullptr;
    bool m_is_mine = false;
};

}  // namespace quern::trace::detail
