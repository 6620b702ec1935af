// SPDX-License-Identifier: BSL-1.0
// One policy, from its registration to its end: what triggers it, its calls, and how it stops. The
// README of the layer says which thread does what, and why stop() cannot race with a call. Used
// by policy.cpp and policy_context.cpp.
#pragma once

#include "policies/event_queue.hpp"
#include "runtimes/runtime_registry.hpp"

#include <quern/adaptation/policy.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/periodic_call.hpp>
#include <quern/trace/listener.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace quern::adaptation::detail {

/// A counter has no value yet. A policy that lets it pass is called again at the next event or
/// period.
class no_value_yet final : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// While it lives, what the call in progress does is not counted against the policy's budget: for
/// work of Quern that only the first call has, such as finding the names of sites.
class off_budget {
public:
    off_budget() noexcept;
    ~off_budget();
    off_budget(const off_budget&) = delete;
    off_budget& operator=(const off_budget&) = delete;

private:
    std::chrono::nanoseconds m_begun;
};

/// Its counters, read together once a call. Of the thread that calls the policy.
class policy_counters {
public:
    /// The values since the last call of this are those that value() gives. Another runtime than
    /// before: without counters, from its start.
    void begin_call(const std::shared_ptr<living_runtime>& of);
    /// Requires: there is a runtime. Throws std::invalid_argument.
    counters::counter_value value(std::string_view name);

private:
    const counters::counter_value& add(std::string_view name);
    const counters::counter_value* known(std::string_view name) const noexcept;

    std::shared_ptr<living_runtime> m_of;
    std::optional<counters::counter_set> m_set;
    std::vector<std::string> m_names;  ///< as the policy says them, in order of the set
    std::vector<counters::counter_value> m_values;  ///< of this call
};

struct policy_description {
    std::string name;
    std::function<void(policy_context&)> work;
    policy_options how;
    trace::event_mask events{};                  ///< none: periodic
    const trace::custom_event* which = nullptr;  ///< of custom events, the only one
    std::chrono::nanoseconds period{};
};

class policy_state final : public trace::listener,
                           public std::enable_shared_from_this<policy_state> {
public:
    /// Throws as on() and every().
    explicit policy_state(policy_description what);

    /// Begins to call. Throws as on(); then stop() is to be called.
    void start();
    /// As policy_handle::stop().
    void stop() noexcept;
    /// No call begins after the present one. Any thread.
    void end() noexcept { m_has_ended.store(true, std::memory_order_relaxed); }

    bool has_ended() const noexcept { return m_has_ended.load(std::memory_order_relaxed); }
    bool inherited() const noexcept { return m_generation != quern::detail::fork_generation(); }
    /// A runtime may have brought another mode. Any thread.
    void hurry() noexcept;

    const std::string& name() const noexcept { return m_what.name; }
    const policy_description& what() const noexcept { return m_what; }
    policy_counters& of_calls() noexcept { return m_counters; }

private:
    using clock = quern::detail::periodic_call::clock;

    clock::time_point due();
    void call(const policy_event* event);
    void run(policy_call& now);
    void fail(const std::string& why) noexcept;
    void listen_as_mode_says();
    void stop_listening() noexcept;
    void log_dropped() noexcept;
    void add(const policy_event& one) noexcept;

    void on_made(const trace::task_event& e) noexcept override;
    void on_start(const trace::task_event& e) noexcept override;
    void on_stop(const trace::task_event& e) noexcept override;
    void on_suspend(const trace::task_event& e) noexcept override;
    void on_resume(const trace::task_event& e) noexcept override;
    void on_worker_start(const trace::worker_event& e) noexcept override;
    void on_worker_stop(const trace::worker_event& e) noexcept override;
    void on_park(const trace::worker_event& e) noexcept override;
    void on_unpark(const trace::worker_event& e) noexcept override;
    void on_runtime_start(const trace::runtime_event& e) noexcept override;
    void on_runtime_stop(const trace::runtime_event& e) noexcept override;
    void on_sample(std::string_view name, double value) noexcept override;
    void on_mark(std::string_view author, std::string_view what) noexcept override;
    void on_message(const trace::task_event& by, const trace::message_info& what) noexcept override;
    void on_edge(const trace::task_event& by, const trace::edge_info& what) noexcept override;
    void on_custom(const trace::task_event& by, const trace::custom_event& what,
                   double value) noexcept override;

    const policy_description m_what;
    const unsigned m_generation = quern::detail::fork_generation();
    const std::shared_ptr<living_runtime> m_bound;  ///< of the pool of its options
    event_queue m_queue;
    std::atomic<bool> m_has_ended{false};
    std::atomic<std::uint64_t> m_dropped{0};

    // Of the thread that calls the policy.
    policy_counters m_counters;
    clock::time_point m_due{};
    bool m_dropped_is_logged = false;

    /// Guards the two below against each other's starts and stops; never held while one of them
    /// waits.
    std::mutex m_parts;
    std::optional<trace::listening> m_listening;
    std::unique_ptr<quern::detail::periodic_call> m_call;
};

/// What a policy_context refers to.
struct policy_call {
    policy_state& of;
    const policy_event* event = nullptr;
    const runtime_hold& runtime;
    std::vector<std::string> inputs{};
};

/// For the observer of runtimes: every policy looks at the mode.
void mode_may_have_changed() noexcept;

}  // namespace quern::adaptation::detail
