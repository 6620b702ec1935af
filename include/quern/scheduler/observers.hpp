// SPDX-License-Identifier: BSL-1.0
// How the layers above observe runtimes: counters, traces. An observer is a static object that
// registers itself. A runtime calls it at start and end, and knows nothing else about it.
#pragma once

namespace quern {

class runtime;
class settings;

/// Called for every runtime of the process, by the thread that makes or ends the runtime, possibly
/// for several runtimes at the same time.
class runtime_observer {
public:
    constexpr runtime_observer() = default;
    runtime_observer(const runtime_observer&) = delete;
    runtime_observer& operator=(const runtime_observer&) = delete;

    /// Before a runtime has workers. Throws std::invalid_argument for settings that it cannot obey;
    /// then the runtime is not made.
    virtual void check(const settings& chosen) = 0;

    /// The runtime's pools exist; none of its tasks has begun.
    virtual void started(runtime& which, const settings& chosen) noexcept = 0;

    /// The runtime ends: all its ready tasks have run, and its workers still exist. When a task
    /// ends the process, other tasks may still run. Not called in the child of a fork() for a
    /// runtime of the parent. stops(): cheap final sample, first for every observer. ends(): slow
    /// work such as writing files.
    virtual void stops(runtime&) noexcept {}
    virtual void ends(runtime& which) noexcept = 0;

protected:
    ~runtime_observer() = default;
};

/// From now on the observer is called for every new runtime; it must live as long as the process.
/// Thread safe; at most 16.
void add_observer(runtime_observer& one) noexcept;

}  // namespace quern
