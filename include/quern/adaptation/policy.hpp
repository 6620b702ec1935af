// SPDX-License-Identifier: BSL-1.0
// Policies: functions of a program or of a layer above that read counters and set knobs while the
// program runs. An event triggers a policy, or it is called at intervals. Policies run on the
// thread for time, so they never delay a task by more than the processor time that they use.
#pragma once

#include <quern/adaptation/decisions.hpp>
#include <quern/adaptation/policy_event.hpp>
#include <quern/counters/counter.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/trace/events.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace quern::adaptation {

namespace detail {
class policy_state;
struct policy_call;
}  // namespace detail

/// What a policy is given at each call. Valid during the call, only for its thread.
class policy_context {
public:
    /// The event; null for a call at an interval.
    const policy_event* event() const noexcept;
    /// The value of the event: of a sample or custom event, else 0.
    double value() const noexcept;

    /// The pool that the policy acts on: that of its options, else the first pool of the oldest
    /// runtime alive. It lives until the call ends: the end of a runtime waits for the call. Throws
    /// std::logic_error without a runtime.
    pool_ref pool() const;
    /// Whether there is one.
    bool has_pool() const noexcept;

    /// The value of a counter of the pool's runtime, over the time since the previous call of this
    /// policy; in the first call that names it, since the runtime started. It becomes an input of
    /// the decisions of this call. Throws std::runtime_error with the reason for a counter that has
    /// no value now, std::invalid_argument for a name that does not stand for one counter,
    /// std::logic_error without a runtime. Where the counter has no value yet
    /// (source_state::not_yet), a policy that lets the exception pass is not ended: this call is
    /// over, and the next one tries again. Cost: as counter_set::evaluate, once a call.
    double counter(std::string_view name);
    /// The same; a counter without a value says why instead of throwing.
    counters::counter_value try_counter(std::string_view name);

    /// Adds to the inputs of the decisions that follow in this call: "queue 12 tasks".
    void add_input(std::string text);

    /// A knob of the pool, as pool_ref::knob; throws what pool() throws, and std::invalid_argument
    /// for an unknown name.
    unsigned get(std::string_view knob) const;

    /// Sets a knob of the pool, clamped to its range, and logs a decision with the inputs of this
    /// call. Returns the knob's value afterwards. A value that the knob already has is not logged.
    ///
    /// In mode dry_run the decision is logged as not applied, once for each value in a row, and
    /// nothing changes.
    ///
    /// The first policy that sets a knob of a pool owns it until the policy ends: the call of
    /// another one throws std::logic_error that names the owner. In mode dry_run it throws nothing,
    /// since there is nothing to own: that another one owns the knob is logged once. The knob keeps
    /// its last value afterwards. A value that the program has set since the owner's last one
    /// stays: this is logged once, and the owner's calls have no effect from then on.
    ///
    /// Throws also std::invalid_argument for an unknown knob, and std::logic_error without a pool.
    unsigned set(std::string_view knob, unsigned value, std::string why);

    /// The same for a value that is only set to be measured: its decision is marked as a trial. The
    /// set() that follows is logged also if it keeps the value of the trial.
    unsigned set_trial(std::string_view knob, unsigned value, std::string why);

    /// This call is the last one.
    void stop() noexcept;

    policy_context(const policy_context&) = delete;
    policy_context& operator=(const policy_context&) = delete;

private:
    friend class detail::policy_state;
    explicit policy_context(detail::policy_call& of) noexcept : m_call(&of) {}
    ~policy_context() = default;
    unsigned set_for(std::string_view knob, unsigned value, std::string why, bool is_trial);

    detail::policy_call* m_call;
};

struct policy_options {
    /// The pool that it acts on. After the end of the pool's runtime the policy is not called any
    /// more. None: the first pool of the oldest runtime alive at each call.
    std::optional<pool_ref> pool{};
    /// A policy of which one call takes longer is ended. Processor time of the call, so that other
    /// programs end no policy; a call that waits delays only its own next one.
    std::chrono::nanoseconds budget = std::chrono::milliseconds(100);
    /// Events that may wait for their calls; further ones are dropped, counted and logged once.
    std::size_t queue = 1024;
};

/// A registered policy. Destruction ends it. One thread at a time, and the policy itself, may call
/// its functions. In the child of a fork() the policy never runs, and the functions have no effect.
class [[nodiscard]] policy_handle {
public:
    policy_handle() noexcept = default;
    explicit policy_handle(std::shared_ptr<detail::policy_state> of) noexcept;
    policy_handle(policy_handle&&) noexcept = default;
    policy_handle& operator=(policy_handle&& from) noexcept;
    ~policy_handle() { stop(); }

    /// When it has returned, no call is in progress and none will come, and its knobs have no
    /// owner. Waits for a call in progress, unless that call is the caller. Requires: the caller
    /// is no function of a trace::listener, and holds no lock that the policy takes.
    void stop() noexcept;

    /// The policy stays until the process ends: exit() stops it before the destructors of objects
    /// that were made before this call.
    void release();

    /// False after stop(), and when the policy has ended itself, thrown, or overrun its budget.
    bool is_active() const noexcept;

private:
    std::shared_ptr<detail::policy_state> m_state;
};

/// Calls `f` for each event of these kinds, in the order in which they were queued. The function
/// runs later than the event, never in a task, and never twice at the same time; different policies
/// may run at the same time. What it does itself does not trigger it.
///
/// A policy that throws, or that overruns its budget, is ended, with a message on stderr and in the
/// log; the program continues. In mode off it is not called, and its events are left out.
///
/// Thread safe; plain threads and tasks may call it, policies too. Throws std::invalid_argument for
/// an empty set of kinds, an empty name, no function, or a queue of no events; std::logic_error if
/// the pool's runtime has ended, or in a function of a listener; std::system_error without a
/// thread. Cost for the program: that of a listener (trace::listen) and about 50 ns an event; a
/// first event after a pause wakes the thread for time, some us.
///
///     auto kept = quern::adaptation::on(
///         quern::trace::event_kind::runtime_start, "lazy",
///         [](quern::adaptation::policy_context& now) { now.set("spin-us", 0, "a shared machine");
///         });
[[nodiscard]] policy_handle on(trace::event_mask events, std::string name,
                               std::function<void(policy_context&)> f, policy_options how = {});

/// The same for one custom event, which must live as long as the policy.
///
///     static const quern::trace::custom_event converged("converged");
///     auto kept = quern::adaptation::on(converged, "last-steps",
///         [](quern::adaptation::policy_context& now) {
///             now.set("active-workers", now.value() < 1e-6 ? 1 : 2, "the grid is coarse");
///         });
[[nodiscard]] policy_handle on(const trace::custom_event& which, std::string name,
                               std::function<void(policy_context&)> f, policy_options how = {});

/// Calls `f` every `period`, first after one. A call that is late by whole periods leaves these
/// out. The rest as on(); throws std::invalid_argument also for a period that is not positive.
///
///     auto kept = quern::adaptation::every(100ms, "shrink",
///         [](quern::adaptation::policy_context& now) {
///             const auto idle = now.try_counter("/threads/starvation-rate");  // 0.01 %
///             if (idle.ok() && idle.value > 5000) {
///                 now.set("active-workers", now.get("active-workers") - 1, "half of them idle");
///             }
///         });
[[nodiscard]] policy_handle every(std::chrono::nanoseconds period, std::string name,
                                  std::function<void(policy_context&)> f, policy_options how = {});

}  // namespace quern::adaptation
