// SPDX-License-Identifier: BSL-1.0
// Processor time that a pool's workers did not get since a moment. Called by layers that compare
// measurements and must know which of them were disturbed; not for users.
#pragma once

#include <quern/scheduler/runtime.hpp>

#include <memory>

namespace quern::trace::detail {

class lost_time_since {
public:
    /// From now on. About 5 us per worker and 100 us for the rest.
    explicit lost_time_since(pool_ref of);
    ~lost_time_since();
    lost_time_since(lost_time_since&&) noexcept;
    lost_time_since& operator=(lost_time_since&&) noexcept;

    /// Of all its workers together: waits in run queues, quota and steal. What the system does not
    /// report counts as none. Costs the same.
    double ns() const;

private:
    struct state;
    std::unique_ptr<state> m_state;
};

}  // namespace quern::trace::detail
