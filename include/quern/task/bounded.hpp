// SPDX-License-Identifier: BSL-1.0
// bounded: the number of ready tasks of a task_group at which run() begins to run some itself.
#pragma once

#include <cstdint>

namespace quern {

/// The bound of a task_group, for loops that create more tasks than fit into memory; see
/// task_group. With fewer than 64, other workers may lack work at times.
///
/// Thread safety: a value. Cost: none.
/// Errors: std::invalid_argument unless 1 <= tasks <= k_most.
///
///     quern::task_group group(quern::bounded(64));
///     for (long i = 0; i < 100'000'000; ++i) group.run([i] { visit(i); });
class bounded {
public:
    static constexpr long long k_most = 1'000'000'000;

    explicit bounded(long long tasks) : m_tasks(checked(tasks)) {}

    std::uint32_t tasks() const noexcept { return m_tasks; }

private:
    static std::uint32_t checked(long long tasks);

    std::uint32_t m_tasks;
};

}  // namespace quern
