// SPDX-License-Identifier: BSL-1.0
// What any thread may do with a domain: its tasks end and fail, a holder cancels it, and
// reports read it. Tasks know their domain as this type. What only its owner may do is in
// domain_core, which extends it and uses the protected functions on itself.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/relaxed.hpp>
#include <quern/dependences/detail/access_checks.hpp>
#include <quern/dependences/detail/domain_list.hpp>
#include <quern/dependences/detail/failing.hpp>
#include <quern/scheduler/detail/external_event.hpp>
#include <quern/task/detail/group_count.hpp>
#include <quern/task/stop.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <utility>

namespace quern::detail {

/// What continues when the last task of a domain has ended.
struct domain_waiter {
    context* task = nullptr;           ///< the owner, suspended; or
    dependent_task* parent = nullptr;  ///< the owner, whose function has returned; or
    external_event thread;             ///< the owner, a thread outside
};

/// For reports: tasks whose functions have returned and that are held. There is room for a few, of
/// which most is for tasks for which another one waited by then.
class held_notes {
public:
    static constexpr std::size_t k_most = 12;

    /// By the task, while it is held. False: there is no room.
    bool add(const dependent_task& task, bool has_successors) noexcept;
    /// When its holds have been dropped.
    void remove(const dependent_task& task) noexcept;
    /// Any thread. The task may be gone.
    const dependent_task* at(std::size_t i) const noexcept {
        return m_tasks[i].load(std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t k_without_successors = 4;  ///< the first ones

    std::array<std::atomic<const dependent_task*>, k_most> m_tasks{};
};

class domain_shared : public listed_domain {
public:
    pool& home_pool() const noexcept { return m_pool; }
    /// The task whose children these are, or null.
    const dependent_task* parent() const noexcept { return m_parent; }
    /// The domain that is not of a dependent task.
    domain_shared& root() noexcept { return *m_root; }
    domain_shared& outer() const noexcept;
    /// Of a root: what check-accesses knows, or null.
    access_checks* checks() const noexcept { return m_checks.get(); }
    /// Of a root: what the recording has called it.
    std::uint64_t& recording_number() noexcept { return m_recording_number; }

    // -- errors -------------------------------------------------------------------------------

    void cancel() noexcept { raise(); }
    bool is_stopped() const noexcept {
        return m_root->m_any_stopped.load(std::memory_order_relaxed) && m_signal.is_asked();
    }
    const stop_signal& signal() const noexcept { return m_signal; }

    /// A task of the domain has thrown.
    void fail(std::exception_ptr error) noexcept;
    // What fail_outwards() needs.
    failing_words<std_atomics>& failing() noexcept { return m_failing; }
    void raise() noexcept;
    void place(const std::exception_ptr& error) noexcept { m_error = error; }
    static void report(std::exception_ptr error) noexcept;
    /// The first error, or null. Requires: every task has ended.
    std::exception_ptr error() const noexcept {
        return m_failing.failed.load(std::memory_order_acquire) ? m_error : nullptr;
    }
    /// A task has failed or was dropped, and no taskwait() has thrown that. Any thread, after that
    /// task has released an access.
    bool has_failed() const noexcept {
        // acquire: pairs with fail_outwards. What was dropped has seen only the signal.
        return m_failing.failed.load(std::memory_order_acquire) || is_stopped();
    }
    bool has_parent_ended() const noexcept {
        return m_failing.parent_ended.load(std::memory_order_relaxed);
    }

    // -- its tasks ----------------------------------------------------------------------------

    /// A task of the domain is complete. Returns its parent if that is complete now.
    dependent_task* task_ended() noexcept;
    held_notes& held() noexcept { return m_held; }
    /// What is left in the count; for reports on copies of the domain's bytes too.
    std::int64_t outstanding() const noexcept { return m_count.outstanding(); }
    /// Tasks that have not ended; already out of date.
    std::uint64_t live_from_outside() const noexcept {
        const std::int64_t left = m_count.outstanding();
        const std::int64_t now = left > m_nothing_ended / 2 ? live() : left;  // the owner waits
        return static_cast<std::uint64_t>(std::max<std::int64_t>(now, 0));
    }

protected:
    using task_count = group_count<std_atomics, domain_waiter>;

    explicit domain_shared(pool& where) noexcept;
    explicit domain_shared(dependent_task& parent) noexcept;
    ~domain_shared() = default;

    /// An error that no taskwait() has thrown goes to the handler. Requires: every task has ended.
    void report_unobserved() noexcept;
    /// The function of its parent has returned: from now on errors go to the parent's domain.
    /// Before accesses of the parent are released, so that no successor misses an error.
    void parent_ends() noexcept;

    dependent_task* own_parent() const noexcept { return m_parent; }
    task_count& own_count() noexcept { return m_count; }
    /// Tasks since the last wait for all. Written by the owner.
    relaxed<std::int64_t>& own_spawned() noexcept { return m_spawned; }
    std::int64_t spawned() const noexcept { return m_spawned; }
    /// Tasks that have not ended. Exact for the owner.
    std::int64_t live() const noexcept {
        return m_spawned - (m_nothing_ended - m_count.outstanding());
    }
    void set_checks(access_checks_of_domain checks) noexcept { m_checks = std::move(checks); }
    /// The first error, which the owner throws; all is as if none had failed. Requires: every task
    /// has ended.
    std::exception_ptr take_error() noexcept;

private:
    pool& m_pool;
    dependent_task* const m_parent = nullptr;
    domain_shared* const m_root;  ///< the domain that is not of a dependent task
    failing_words<std_atomics> m_failing;
    stop_signal m_signal;
    std::atomic<bool> m_any_stopped{false};  ///< in the root: this or an inner one was stopped once
    std::exception_ptr m_error;
    task_count m_count;
    const std::int64_t m_nothing_ended = m_count.outstanding();
    held_notes m_held;
    access_checks_of_domain m_checks;  ///< of a root, while check-accesses is on
    std::uint64_t m_recording_number = 0;
    /// In a line with the members of the owner.
    alignas(k_cache_line) relaxed<std::int64_t> m_spawned = 0;
};

}  // namespace quern::detail
