// SPDX-License-Identifier: BSL-1.0
// many_blocked: a great many tasks wait for one event; when the last one waits, the event releases
// them. Value: seconds for the whole run; growth_kib has the memory of the waiting tasks. Size: the
// tasks.
#pragma once

#include "../harness/harness.hpp"

#include <atomic>

namespace bench::many_blocked {

/// Counts the tasks that have resumed, and notes the times.
class crowd {
public:
    explicit crowd(long size) : m_size(size) {}

    void all_wait() { m_all_wait = now(); }
    void one_resumed() noexcept { m_gone_on.fetch_add(1, std::memory_order_relaxed); }

    /// Called after all tasks have ended.
    measurement result() const {
        const double end = now();
        expect_equal("the number of tasks that went on", m_gone_on.load(std::memory_order_relaxed),
                     m_size);
        return {end - m_start,
                1,
                {{"until_all_wait", m_all_wait - m_start}, {"release", end - m_all_wait}}};
    }

private:
    long m_size;
    double m_start = now();
    double m_all_wait = 0;
    std::atomic<long> m_gone_on{0};
};

}  // namespace bench::many_blocked
