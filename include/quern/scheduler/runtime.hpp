// SPDX-License-Identifier: BSL-1.0
// A runtime: pools of workers chosen for the machine, started by its constructor and ended by its
// destructor. Programs either make one, or use the default one that starts with the first task. A
// process may have several; none installs a signal handler or owns main.
#pragma once

#include <quern/context/stack_memory.hpp>
#include <quern/scheduler/policy.hpp>
#include <quern/scheduler/worker_stats.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

namespace detail {

/// From now on the settings of the scheduler are known. Later calls do nothing. Thread safe. Always
/// true.
bool add_scheduler_settings();

inline const bool k_scheduler_settings_are_added = add_scheduler_settings();

class default_runtime;
class hang_detector;
class pool;
}  // namespace detail

/// The workers of a pool and how they share work. In the first pool of a runtime empty members come
/// from the settings (settings.hpp), in other pools from the defaults. Only the command line
/// overrides a value given here.
struct pool_options {
    std::string name = "default";
    /// Number of workers. 0: as many as the affinity mask, the cpuset, the CPU quota and the
    /// binding allow; for a list, at most its length.
    std::optional<unsigned> workers{};
    /// A name of scheduling_policies().
    std::optional<std::string> policy{};
    /// Where workers run: none, compact, scatter, balanced, numa-balanced, or within a list of CPUs
    /// "0,2-5", of cores "cores:0-3", or of NUMA nodes "node:1", one CPU each. Pools may share
    /// CPUs; their workers then compete for them.
    std::optional<std::string> binding{};
    /// Stack class of tasks that do not choose one.
    std::optional<stack_class> stacks{};
    /// Number of workers that may take work at first: pool_ref::set_active_workers().
    std::optional<unsigned> active_workers{};
    /// Microseconds that a worker without work searches before it sleeps.
    std::optional<unsigned> spin_us{};
    /// Number of ready tasks that a thief takes at once; 0: the policy decides.
    std::optional<unsigned> steal_batch{};
};

/// The pools of a runtime; tasks that name no pool run in the first.
struct runtime_options {
    std::vector<pool_options> pools{pool_options{}};

    /// One pool.
    static runtime_options with_workers(unsigned count, std::optional<std::string> policy = {});

    /// One pool for each NUMA node of this machine on which the process may run: "node0" …, bound
    /// there, with as many workers as the node has CPUs. Data and the tasks that use it stay on one
    /// node.
    ///
    ///     quern::runtime rt(quern::runtime_options::per_numa_node());
    ///     auto f = quern::async(rt.pool("node1"), [] { return 1; });
    static runtime_options per_numa_node();
};

/// A handle to a pool of a living runtime; cheap to copy.
class pool_ref {
public:
    explicit pool_ref(detail::pool& p) noexcept : m_pool(&p) {}

    unsigned workers() const noexcept;
    std::string_view name() const noexcept;
    std::string_view policy() const noexcept;
    /// The NUMA node number of a bound worker, otherwise nothing.
    std::optional<unsigned> numa_node_of(unsigned rank) const;

    /// Totals of its workers since the pool began. Thread safe; about 100 ns per worker.
    worker_totals totals() const noexcept;
    worker_totals worker(unsigned rank) const;

    /// The number of its workers that may take work (the knob active-workers). The others sleep
    /// after their present task; active workers take their queued work. Clamped to 1..workers().
    /// Thread safe; returns the value set.
    unsigned set_active_workers(unsigned count) const noexcept;
    unsigned active_workers() const noexcept;

    /// A number, by name, that may change while the pool runs: "active-workers", "spin-us",
    /// "steal-batch", "spare-threads", or a registered one (knobs.hpp). set_knob clamps the value
    /// to the knob's range and returns the value set. Both throw std::invalid_argument for an
    /// unknown name. Thread safe.
    ///
    ///     rt.default_pool().set_knob("spin-us", 0);  // idle workers sleep at once
    unsigned knob(std::string_view name) const;
    unsigned set_knob(std::string_view name, unsigned value) const;

    /// Throws std::logic_error in the child of a fork(), where the pool has no workers.
    detail::pool& get() const;

private:
    detail::pool* m_pool;
};

/// Workers that run tasks.
///
///     quern::runtime rt(quern::runtime_options::with_workers(2));
///     int answer = quern::async(rt, [] { return 42; }).get();
///
/// It becomes the default runtime if there is none (default_instance()); calls outside of any task
/// then run on it too.
///
/// The destructor waits until every ready task has run, and every task that a timer will resume:
/// one that sleeps, or waits with a limit, and make_ready_future_after(). It also waits until no
/// operation of a poller is outstanding (pollers.hpp). When nothing has begun for two seconds, a
/// message on stderr says what it waits for. Tasks that remain suspended, waiting for an event that
/// has not happened, are abandoned. They keep their memory, a later wake-up has no effect, and a
/// hang report on stderr lists them. Functions that were to start later (`then` of an open promise)
/// must not be started any more.
///
/// If threads other than its maker have used it as the default runtime, its workers keep running,
/// idle, until the program ends. In a task that calls exit(), the destructor of a static runtime
/// returns at once and the workers keep running until the process ends. It also returns at once in
/// the child of a fork(). Start and end cost about 0.2 ms with two workers.
class runtime {
public:
    /// Throws std::invalid_argument for an option or setting that is not accepted, with its origin,
    /// for two pools of one name, and for no pool; std::system_error when a thread cannot be made.
    explicit runtime(const runtime_options& options = {});
    ~runtime();
    runtime(const runtime&) = delete;
    runtime& operator=(const runtime&) = delete;

    /// All pools, in the order of the options.
    std::vector<pool_ref> pools() const;
    /// The first pool. These five throw std::logic_error in the child of a fork(), where a runtime
    /// of the parent has no workers.
    pool_ref default_pool() const;
    /// Throws std::out_of_range that lists the existing pools.
    pool_ref pool(std::string_view name) const;

    unsigned workers() const { return default_pool().workers(); }
    worker_totals totals() const { return default_pool().totals(); }

    /// The runtime of tasks that are created outside of any task. A runtime made while there is no
    /// default one becomes the default, for all threads, until its destructor begins. Else one is
    /// started at the first use, from the settings, and ended with the program, in the order of
    /// static objects; a message on stderr says so if a runtime of the program's own is idle then.
    /// A call after that, or in the child of a fork(), starts another one. The reference is valid
    /// as long as that runtime. Thread safe; throws as the constructor does. Details:
    /// docs/processes.md.
    static runtime& default_instance();

private:
    friend class detail::default_runtime;
    struct as_default {};
    struct as_holder {};

    /// The default runtime, made by the library.
    explicit runtime(as_default);
    /// Holds pools that keep running after their runtime has ended.
    runtime(as_holder, std::vector<std::unique_ptr<detail::pool>>&& pools) noexcept;

    void start(const runtime_options& options);
    bool cannot_end_here() const noexcept;
    void wait_until_quiet() noexcept;
    /// Leaks the pools.
    static void abandon(std::vector<std::unique_ptr<detail::pool>>& pools) noexcept;

    std::vector<std::unique_ptr<detail::pool>> m_pools;
    bool m_is_holder = false;
    std::unique_ptr<detail::hang_detector>
        m_hang_detector;  ///< with the setting hang-report=seconds
};

/// The pool of the calling task, or the default runtime's first pool. Thread safe.
pool_ref current_pool();

/// The rank, within its pool, of the worker that runs the caller; -1 outside. May change whenever
/// the task waits.
int current_worker_rank() noexcept;

}  // namespace quern
