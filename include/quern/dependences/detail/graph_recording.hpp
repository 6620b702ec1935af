// SPDX-License-Identifier: BSL-1.0
// How a recording sees the graph of dependent tasks. While one is attached, maps keep released
// accesses, so that the graph is that of the program and not of one run. Without one, each look
// costs one load and one branch.
#pragma once

#include <quern/base/detail/config.hpp>

#include <atomic>

namespace quern::detail {

class dependent_task;
class domain_shared;
class weak_entry;

/// Is told of dependent tasks. Each function may be called by several threads at once, also shortly
/// after set_graph_recording(nullptr): a recording lives as long as the process. It must not block,
/// throw or use tasks.
class graph_recording {
public:
    graph_recording() = default;
    graph_recording(const graph_recording&) = delete;
    graph_recording& operator=(const graph_recording&) = delete;

    /// By the owner of the domain, before the task's accesses are entered.
    virtual void registers(domain_shared& home, const dependent_task& task) noexcept = 0;
    /// By the owner, after that: an access of `later` comes after one of `earlier`, which may have
    /// released it already. Perhaps several times for the same two.
    virtual void follows(const dependent_task& earlier, const dependent_task& later) noexcept = 0;
    /// By the owner of the outer domain: a part of a weak access is entered in the map of the
    /// children. What follows it follows what it follows.
    virtual void registers(const weak_entry& part) noexcept = 0;
    virtual void follows(const dependent_task& earlier, const weak_entry& later) noexcept = 0;
    virtual void follows(const weak_entry& earlier, const weak_entry& later) noexcept = 0;
    virtual void follows(const weak_entry& earlier, const dependent_task& later) noexcept = 0;
    /// By the owner: a task of a recorded step is spawned again. It is not registered.
    virtual void replays(const domain_shared& home) noexcept = 0;
    /// By the task, before its function.
    virtual void begins(const dependent_task& task) noexcept = 0;
    /// Whether maps keep released accesses for it.
    virtual bool wants_edges() const noexcept { return true; }

protected:
    ~graph_recording() = default;
};

extern std::atomic<graph_recording*> g_graph_recording;

/// The attached recording, or null. Any thread.
QUERN_ALWAYS_INLINE graph_recording* current_graph_recording() noexcept {
    return g_graph_recording.load(std::memory_order_acquire);  // pairs with set_graph_recording
}

/// One for the process; null: none. While check-accesses is on, there is another one before it. Any
/// thread.
void set_graph_recording(graph_recording* by) noexcept;

}  // namespace quern::detail
