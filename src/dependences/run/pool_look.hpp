// SPDX-License-Identifier: BSL-1.0
// What a creator that waits at a limit can see of its pool: whether anything runs that could end a
// task. It reads what workers publish anyway, so tasks pay nothing. An answer may be wrong: it
// costs memory, never progress.
#pragma once

#include <quern/scheduler/detail/pool.hpp>

#include <cstdint>
#include <memory>

namespace quern::detail {

class pool_look {
public:
    explicit pool_look(pool& of) noexcept : m_pool(of) {}

    /// Nothing but the caller runs in the pool.
    bool nothing_runs() const noexcept;

    /// Since the last call no task has ended, and each worker that was busy has changed to another
    /// task: those that run are resumed and suspend themselves again, as by yield() in a loop.
    bool only_polls() noexcept;

private:
    pool& m_pool;
    std::unique_ptr<std::uint64_t[]> m_activations;  ///< of each worker, at the last call
    std::uint64_t m_ended = 0;
};

}  // namespace quern::detail
