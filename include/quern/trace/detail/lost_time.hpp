// SPDX-License-Identifier: BSL-1.0
// Processor time that a pool's workers did not get since a moment. Called by layers that compare
// measurements and must know which of them were disturbed; not for users.
#pragma once

#include <quern/scheduler/runtime.hpp>

#include <cstdint>
#include <memory>

namespace quern::trace::detail {

/// What a look reads: waits in run queues, about 5 us for each worker, or also quota and steal, 100
/// us more.
enum class lost_time_parts : std::uint8_t { run_queues, all };

/// Of all workers of a pool together. Some of `ns` may be waits of workers that had no work to do,
/// or that began earlier; what is certain was lost while there was work.
struct lost_time {
    double ns = 0;
    double certain_ns = 0;
    double awake_ns = 0;  ///< in which workers did not sleep for want of work
};

class lost_time_since {
public:
    /// From now on.
    explicit lost_time_since(pool_ref of, lost_time_parts which = lost_time_parts::all);
    ~lost_time_since();
    lost_time_since(lost_time_since&&) noexcept;
    lost_time_since& operator=(lost_time_since&&) noexcept;

    /// Of all its workers together. What the system does not report counts as none. A thread that a
    /// quota stops waits in a run queue too. Costs the same.
    lost_time read() const;

private:
    struct state;
    std::unique_ptr<state> m_state;
};

}  // namespace quern::trace::detail
