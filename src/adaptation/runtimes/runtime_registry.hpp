// SPDX-License-Identifier: BSL-1.0
// Which runtimes live, for policies: a call of a policy holds its runtime, and the end of the
// runtime waits for the call. Written by the layer's observer of runtimes (attach_adaptation.cpp),
// read by policies. Never calls code of the program.
#pragma once

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/runtime.hpp>

#include <condition_variable>
#include <memory>
#include <vector>

namespace quern::adaptation::detail {

/// A runtime from its start to its end. The lock `adaptation` guards what changes.
struct living_runtime {
    explicit living_runtime(runtime& one) : which(&one), pools(one.pools()) {}

    bool has(const pool_ref& one) const;
    /// False in the child of a fork(), for a runtime of the parent.
    bool is_here() const noexcept { return generation == quern::detail::fork_generation(); }

    runtime* const which;
    const std::vector<pool_ref> pools;
    const unsigned generation = quern::detail::fork_generation();
    int holders = 0;               ///< calls of policies in progress
    bool has_ended = false;        ///< no further call may hold it
    bool ended_by_a_call = false;  ///< the function of its holder has ended it
    std::condition_variable left;  ///< a call holds it no longer
};

/// The second call for a runtime does nothing: the observer of traces may come first.
void runtime_starts(runtime& which) noexcept;
/// Waits until no call of another thread holds it. Its knobs have no owners afterwards.
void runtime_ends(runtime& which) noexcept;

/// Throws std::logic_error if no living runtime has the pool.
std::shared_ptr<living_runtime> runtime_of(const pool_ref& one);
/// Null if none lives.
std::shared_ptr<living_runtime> oldest_runtime();

/// Keeps a runtime from ending, for the call of a policy on this thread.
class runtime_hold {
public:
    /// Holds nothing if it is null or has ended.
    explicit runtime_hold(std::shared_ptr<living_runtime> one) noexcept;
    ~runtime_hold();
    runtime_hold(const runtime_hold&) = delete;
    runtime_hold& operator=(const runtime_hold&) = delete;

    /// Null if it holds nothing, or the thread itself has ended the runtime.
    living_runtime* get() const noexcept;
    const std::shared_ptr<living_runtime>& shared() const noexcept { return m_held; }

private:
    std::shared_ptr<living_runtime> m_held;
};

}  // namespace quern::adaptation::detail
