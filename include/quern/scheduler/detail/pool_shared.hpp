// SPDX-License-Identifier: BSL-1.0
// What the workers of a pool share: the gate of the idle, the shared queues, knobs, timers and
// pollers, spare stacks, hooks; and the wake-ups. Thread safe.
#pragma once

#include <quern/scheduler/detail/context_store.hpp>
#include <quern/scheduler/detail/hooks.hpp>
#include <quern/scheduler/detail/idle_gate.hpp>
#include <quern/scheduler/detail/pool_status.hpp>
#include <quern/scheduler/detail/pool_time.hpp>
#include <quern/scheduler/detail/ready_queue.hpp>
#include <quern/scheduler/detail/rest_signal.hpp>
#include <quern/scheduler/detail/spare_threads.hpp>
#include <quern/scheduler/detail/suspended_coroutines.hpp>
#include <quern/scheduler/detail/throttled_workers.hpp>
#include <quern/scheduler/knobs.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace quern::detail {

class pool_shared : public pool_status {
public:
    worker_shared& at(std::uint32_t rank) noexcept { return *workers()[rank]; }
    using pool_status::at;

    idle_gate<std_atomics>& gate() noexcept { return m_gate; }
    const idle_gate<std_atomics>& gate() const noexcept { return m_gate; }
    /// Items from outside threads and timers, for any worker.
    ready_queue& injector() noexcept { return m_injector; }
    detail::knobs& knobs() noexcept { return m_knobs; }
    const detail::knobs& knobs() const noexcept { return m_knobs; }
    pool_time& time() noexcept { return m_time; }
    suspended_coroutines& coroutines() noexcept { return m_coroutines; }
    const suspended_coroutines& coroutines() const noexcept { return m_coroutines; }
    spare_threads& spares() noexcept { return m_spares; }
    context_store& contexts() noexcept { return m_contexts; }

    /// What the tracing layer has installed, or null.
    const detail::hooks* hooks(std::memory_order how = std::memory_order_acquire) const noexcept {
        return m_hooks.load(how);
    }
    void set_hooks(const detail::hooks* installed) noexcept {
        m_hooks.store(installed, std::memory_order_release);  // pairs with the loads in the loop
    }

    /// Whether there has ever been an item of another than normal priority, or with a rank: else no
    /// worker looks at the queues of these.
    bool has_placed() const noexcept { return m_has_placed.load(std::memory_order_relaxed); }
    /// Before such an item is put into its queue.
    void note_placed() noexcept {
        if (!has_placed()) {
            m_has_placed.store(true, std::memory_order_relaxed);
        }
    }

    /// Whether a worker may keep items for itself: others can take them over, or there are none.
    bool has_barrier() const noexcept { return m_has_barrier; }
    /// Whether workers that find nothing to do are to end.
    bool must_end(std::memory_order how) const noexcept { return m_stop.load(how); }
    throttled_workers& throttled() noexcept { return m_throttled; }
    /// Whether a worker has private items in its deque; may be out of date.
    bool keeps_private() noexcept;
    /// So many workers sleep now: wakes who waits for the end if all do.
    void notify_quiet(std::uint32_t sleeping) noexcept;

    /// Wakes one sleeping worker if there is one, nearest to `near` first.
    bool wake_one(std::uint32_t near) noexcept;

    /// Something has been put into the queues of `holder`: wakes it, or one who may take it.
    bool wake_for(worker_shared& holder) noexcept;

    /// Whether there is work that every worker may take. seq_cst.
    bool has_shared_work() noexcept;

    bool all_asleep() const noexcept;
    /// Whether every worker searches, sleeps or is throttled; may be out of date.
    bool all_idle() const noexcept;
    /// Suspended tasks, as contexts that are left and as coroutines. Exact when quiet.
    std::uint64_t away() const noexcept { return contexts_away() + coroutines_away(); }
    std::uint64_t coroutines_away() const noexcept;
    /// Ready tasks in queues of the policy that several workers share; what it was a moment ago.
    std::size_t queued_by_policy() const noexcept;

protected:
    explicit pool_shared(pool_description& of);
    ~pool_shared();

    /// Tells the workers to end when they find nothing to do.
    void tell_to_end() noexcept;
    void wake_all() noexcept;
    rest_signal& rest() noexcept { return m_rest; }
    std::unique_ptr<policy_queues>& kept_by_policy() noexcept { return m_policy_queues; }

private:
    idle_gate<std_atomics> m_gate;
    ready_queue m_injector;
    detail::knobs m_knobs;
    pool_time m_time;
    suspended_coroutines m_coroutines;
    spare_threads m_spares{m_knobs.spare_threads};
    context_store m_contexts;
    rest_signal m_rest;
    std::atomic<const detail::hooks*> m_hooks{nullptr};
    std::atomic<bool> m_stop{false};
    std::atomic<bool> m_has_placed{false};
    const bool m_has_barrier;
    throttled_workers m_throttled;
    std::unique_ptr<policy_queues> m_policy_queues;
};

}  // namespace quern::detail
