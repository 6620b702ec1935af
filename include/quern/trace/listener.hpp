// SPDX-License-Identifier: BSL-1.0
// Being told of what happens as it happens: tasks that are made, begin, wait, go on and end,
// samples and marks. For tools that keep statistics of their own or pass events on to others. A
// recording of a whole run is had with less work from recorder.hpp.
#pragma once

#include <quern/trace/attach.hpp>

#include <cstdint>
#include <memory>
#include <string_view>

namespace quern::trace {

/// A task to which something happens.
struct task_event {
    std::uint64_t task = 0;      ///< as this_task::id() says; 0 where it has none yet
    std::uint64_t parent = 0;    ///< who made it, or 0
    const char* name = nullptr;  ///< as the user named it, or null
    const void* site = nullptr;  ///< where it was made, or null
    std::uint32_t worker = 0;    ///< its rank within its pool
};

/// Derive from it and override what is wanted. Called on the threads to which it happens, on
/// several at the same time; must neither block nor throw, nor use tasks, locks of tasks or this
/// layer.
class listener {
public:
    listener() = default;
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;
    virtual ~listener() = default;

    /// A task is about to be queued. It has no number yet.
    virtual void on_made(const task_event&) noexcept {}
    /// A task begins. One that its waiter has already run comes out of its queue too: it begins and
    /// ends at once. Forked children are tasks when another worker has stolen them.
    virtual void on_start(const task_event&) noexcept {}
    virtual void on_stop(const task_event&) noexcept {}
    /// A task waits or yields, and goes on.
    virtual void on_suspend(const task_event&) noexcept {}
    virtual void on_resume(const task_event&) noexcept {}
    /// Of sample() and mark().
    virtual void on_sample(std::string_view /*name*/, double /*value*/) noexcept {}
    virtual void on_mark(std::string_view /*who*/, std::string_view /*what*/) noexcept {}
};

/// Keeps a listener informed as long as it lives.
class listening {
public:
    listening() noexcept;
    ~listening();
    listening(listening&&) noexcept;
    listening& operator=(listening&&) noexcept;

    /// When it has returned, no call is going on and none will come.
    void stop() noexcept;

    struct state;

private:
    friend listening listen(listener& to);
    std::unique_ptr<state> m_state;
};

/// Tells `to` of everything that happens from now on in all runtimes of the process, and in those
/// that are made later. Several may listen at a time. Thread safe. Throws std::bad_alloc.
/// Cost: while anybody listens, about 40 ns for each piece of a task, and the calls.
///
///     struct counter : quern::trace::listener {
///         std::atomic<int> tasks{0};
///         void on_start(const quern::trace::task_event&) noexcept override { ++tasks; }
///     } seen;
///     const quern::trace::listening handle = quern::trace::listen(seen);
[[nodiscard]] listening listen(listener& to);

namespace detail {

void tell_sample(std::string_view name, double value) noexcept;
void tell_mark(std::string_view who, std::string_view what) noexcept;

}  // namespace detail
}  // namespace quern::trace
