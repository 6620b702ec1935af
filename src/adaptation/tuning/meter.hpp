// SPDX-License-Identifier: BSL-1.0
// Measures a part of a program for a tuner: its wall time, and what the active workers did in it.
#pragma once

#include <quern/adaptation/region.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/trace/detail/lost_time.hpp>

#include <chrono>
#include <optional>

namespace quern::adaptation::detail {

class meter {
public:
    /// Begins. `sees`: what of the losses, at its price; nothing: none of them.
    meter(pool_ref of, std::optional<trace::detail::lost_time_parts> sees);

    struct reading {
        measured result;  ///< seconds for each unit of work; `lost` 0: not looked at
        entry_times took{};
    };

    /// From the beginning until now.
    reading read(double work) const;

private:
    using clock = std::chrono::steady_clock;
    worker_totals active_totals() const;

    pool_ref m_pool;
    unsigned m_active;
    std::optional<trace::detail::lost_time_since> m_losses{};
    worker_totals m_before;
    clock::time_point m_begin;
};

}  // namespace quern::adaptation::detail
