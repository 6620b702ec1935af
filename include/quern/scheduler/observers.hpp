// SPDX-License-Identifier: BSL-1.0
// What looks at runtimes from the layers above: counters, traces. An observer is a static object
// that registers itself; a runtime tells it when it starts and when it ends, and knows nothing else
// of it.
#pragma once

namespace quern {

class runtime;
class settings;

/// Told of every runtime of the process. Called by the thread that makes or ends the runtime, for
/// several runtimes perhaps at the same time.
class runtime_observer {
public:
    constexpr runtime_observer() = default;
    runtime_observer(const runtime_observer&) = delete;
    runtime_observer& operator=(const runtime_observer&) = delete;

    /// Before a runtime has workers. Throws std::invalid_argument for settings that it cannot obey;
    /// the runtime is not made then.
    virtual void check(const settings& chosen) = 0;

    /// The runtime's pools are there; none of its tasks has begun.
    virtual void started(runtime& which, const settings& chosen) noexcept = 0;

    /// The runtime ends: all its ready tasks have run, and its workers are still there. When the
    /// process ends from within a task, its other tasks may still run. Not called in the child of a
    /// fork() for a runtime of the parent. First every observer is told that it stops, for a last
    /// and quick look, so that the run is over before anybody works on what was seen; then that it
    /// ends.
    virtual void stops(runtime&) noexcept {}
    virtual void ends(runtime& which) noexcept = 0;

protected:
    ~runtime_observer() = default;
};

/// From now on the observer is told of every runtime that is made; it must live as long as the
/// process. Thread safe; at most 16.
void add_observer(runtime_observer& one) noexcept;

}  // namespace quern
