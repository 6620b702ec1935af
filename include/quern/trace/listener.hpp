// SPDX-License-Identifier: BSL-1.0
// Listeners: objects of a program or of a layer above that are called for each event of the kinds
// that they want, when it happens. For tools that keep statistics, and for policies. A recording of
// a whole run is had with less work from recorder.hpp.
#pragma once

#include <quern/trace/detail/attach.hpp>
#include <quern/trace/events.hpp>

#include <memory>
#include <string_view>

namespace quern::trace {

/// Derive from it and override what is wanted. The functions are called on the threads on which the
/// events happen, on several at the same time. They must neither block nor throw nor fork, and must
/// use neither tasks nor locks of tasks, nor begin or end listening, recording or a runtime.
/// sample(), mark() and custom events may be used, but not by functions for tasks, on_park and
/// on_unpark.
class listener {
public:
    listener() = default;
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    virtual ~listener() = default;

    /// A task is about to be queued. It has no number yet.
    virtual void on_made(const task_event&) noexcept {}
    /// A task begins. A task that its waiter has already run begins and ends at once when it leaves
    /// its queue. Forked children are tasks when another worker has stolen them.
    virtual void on_start(const task_event&) noexcept {}
    virtual void on_stop(const task_event&) noexcept {}
    /// A task waits or yields, and resumes. The duration is that since its start, its last
    /// resumption, or the end of the last task that ran in its place.
    virtual void on_suspend(const task_event&) noexcept {}
    virtual void on_resume(const task_event&) noexcept {}

    /// A worker's runtime has started, or ends; called by the thread that makes or ends it.
    virtual void on_worker_start(const worker_event&) noexcept {}
    virtual void on_worker_stop(const worker_event&) noexcept {}
    /// A worker without work begins to sleep, and wakes up.
    virtual void on_park(const worker_event&) noexcept {}
    virtual void on_unpark(const worker_event&) noexcept {}

    /// The first event of a runtime, before its first task begins, and its last one, after all its
    /// ready tasks have ended. Called by the thread that makes or ends the runtime. When a task
    /// calls exit(), other tasks of its runtime may still run.
    virtual void on_runtime_start(const runtime_event&) noexcept {}
    virtual void on_runtime_stop(const runtime_event&) noexcept {}

    /// Of sample() and mark().
    virtual void on_sample(std::string_view /*name*/, double /*value*/) noexcept {}
    virtual void on_mark(std::string_view /*who*/, std::string_view /*what*/) noexcept {}

    /// Of tell_message(), tell_edge() and custom_event::fire(): `by` is the task and the worker
    /// that call them, as far as there are any.
    virtual void on_message(const task_event& /*by*/, const message_info&) noexcept {}
    virtual void on_edge(const task_event& /*by*/, const edge_info&) noexcept {}
    virtual void on_custom(const task_event& /*by*/, const custom_event&,
                           double /*value*/) noexcept {}
};

/// Keeps a listener informed as long as it lives.
class listening {
public:
    listening() noexcept;
    ~listening();
    listening(listening&&) noexcept;
    listening& operator=(listening&&) noexcept;

    /// When it has returned, no call is in progress and none will come. Waits for calls that are in
    /// progress; so a listener's function that calls it aborts the program with a message.
    void stop() noexcept;

    struct state;

private:
    friend listening listen(listener& to, event_mask wanted);
    std::unique_ptr<state> m_state;
};

/// Tells `to` of the events of those kinds from now on, of all runtimes of the process and of those
/// that are made later. Several may listen at a time, each with its own mask. Thread safe. Throws
/// std::bad_alloc, and std::logic_error in a listener's function.
/// Cost: tasks run at full speed unless a listener wants events of tasks, on_park or on_unpark;
/// then 40 ns (only parking) to 145 ns (all) for an empty task, and the calls. Other events of a
/// wanted kind: 15 ns for a sample or mark, 25-45 ns for one with a task, and the calls.
///
///     struct counter : quern::trace::listener {
///         std::atomic<int> tasks{0};
///         void on_start(const quern::trace::task_event&) noexcept override { ++tasks; }
///     } seen;
///     const quern::trace::listening handle =
///         quern::trace::listen(seen, quern::trace::event_kind::task_start);
[[nodiscard]] listening listen(listener& to, event_mask wanted = k_all_events);

namespace detail {

void tell_sample(std::string_view name, double value) noexcept;
void tell_mark(std::string_view who, std::string_view what) noexcept;

}  // namespace detail
}  // namespace quern::trace
