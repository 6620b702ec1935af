// SPDX-License-Identifier: BSL-1.0
// The setting print-counter in a session: the root prints what all localities have read.
#pragma once

#include <quern/counters/counter.hpp>
#include <quern/scheduler/runtime.hpp>

#include <optional>
#include <vector>

namespace quern::localities::detail {

class job;

class job_printing {
public:
    /// When all localities can run parcels.
    job_printing(job& of, const runtime& prints);

    /// Before the job ends: nothing at intervals any more.
    void end_intervals() noexcept;
    /// When the job has ended: the last readings go to the root, whose printer prints them when the
    /// runtime ends. Collective.
    void end();

private:
    /// Without values if some locality has never answered.
    counters::snapshot read_all();

    job& m_of;
    const runtime& m_prints;
    bool m_has_said = false;
    /// What the localities after the root have answered last; of the thread for time.
    std::vector<std::optional<std::vector<counters::counter_value>>> m_known{};
};

}  // namespace quern::localities::detail
