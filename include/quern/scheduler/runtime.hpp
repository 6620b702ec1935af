// SPDX-License-Identifier: BSL-1.0
// A runtime: pools of workers chosen for the machine, started by its constructor and ended by its
// destructor. Programs either make one, or use the default one that starts with the first task.
// Several may live in one process; none installs a signal handler or owns main.
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
class default_runtime;
class patience;
class pool;
}  // namespace detail

/// Which workers a pool has and how they share work. What is left empty comes from the settings
/// (settings.hpp) in the first pool of a runtime, and is the default in others; what is said here
/// yields to the command line alone.
struct pool_options {
    std::string name = "default";
    /// Workers; 0 means as many as the affinity mask, the cpuset, the CPU quota and the binding
    /// allow: of a list, no more than it has.
    std::optional<unsigned> workers{};
    /// A name of scheduling_policies().
    std::optional<std::string> policy{};
    /// Where workers run: none, compact, scatter, balanced, numa-balanced, or within a list of CPUs
    /// "0,2-5", of cores "cores:0-3", or of NUMA nodes "node:1", one CPU each. Pools may share
    /// CPUs: their workers then compete there, as threads do.
    std::optional<std::string> binding{};
    /// Stack of tasks that do not ask for another class.
    std::optional<stack_class> stacks{};
    /// How many workers may take work at first: pool_ref::set_active_workers().
    std::optional<unsigned> active_workers{};
    /// Microseconds that a worker without work searches before it sleeps.
    std::optional<unsigned> spin_us{};
    /// How many ready tasks a thief takes at once; 0: as the policy says.
    std::optional<unsigned> steal_batch{};
};

/// The pools of a runtime; the first one gets the tasks that name no other.
struct runtime_options {
    std::vector<pool_options> pools{pool_options{}};

    /// The usual case: one pool.
    static runtime_options with_workers(unsigned count, std::optional<std::string> policy = {});

    /// One pool for each NUMA node of this machine on which the process may run: "node0" …, bound
    /// there, with as many workers as it has CPUs. Data and the tasks on it stay on one node.
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
    /// The number of the NUMA node of a worker that is bound, otherwise nothing.
    std::optional<unsigned> numa_node_of(unsigned rank) const;

    /// Totals of its workers since the pool began. Thread safe; about 100 ns a worker.
    worker_totals totals() const noexcept;
    worker_totals worker(unsigned rank) const;

    /// How many of its workers may take work (the knob active_workers). The others sleep after
    /// their present task; their queued work is taken by the rest. Clamped to 1..workers().
    /// Thread safe; returns what was set.
    unsigned set_active_workers(unsigned count) const noexcept;
    unsigned active_workers() const noexcept;

    /// A number that may be changed while the pool runs, by name: "active_workers", "spin_us",
    /// "steal_batch", "spare_threads". set_knob brings the value into the knob's range and returns
    /// what was set. Both throw std::invalid_argument for an unknown name. Thread safe.
    ///
    ///     rt.default_pool().set_knob("spin_us", 0);  // idle workers sleep at once
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
/// It is the default runtime if there is none (default_instance()), so that what is called outside
/// of any task runs on it too.
///
/// The destructor waits until every ready task has run, and every task that a timer will resume:
/// one that sleeps, or waits with a limit, and make_ready_future_after(). When nothing has begun
/// for two seconds it says on stderr for what it waits. Tasks that are suspended then, waiting for
/// something that has not come, are abandoned: they keep their memory, and who wakes them later
/// does so in vain; a hang report on stderr names them. Functions that were to start later (`then`
/// of a promise that is still open) must not be started any more. Where threads other than its
/// maker have used it as the default one, its workers go on, idle, until the program ends. In a
/// task that calls exit(), the destructor of a static runtime returns at once and the workers go on
/// until the process ends; it returns at once in the child of a fork() too. Start and end cost
/// about 0.2 ms at two workers.
class runtime {
public:
    /// Throws std::invalid_argument for an option or a setting that is not accepted, with its
    /// origin; for two pools of one name, or no pool; std::system_error when a thread cannot be
    /// made.
    explicit runtime(const runtime_options& options = {});
    ~runtime();
    runtime(const runtime&) = delete;
    runtime& operator=(const runtime&) = delete;

    /// All of them, in the order of the options.
    std::vector<pool_ref> pools() const;
    /// The first pool. These five throw std::logic_error in the child of a fork(), where a runtime
    /// of the parent has no workers.
    pool_ref default_pool() const;
    /// Throws std::out_of_range that names the pools there are.
    pool_ref pool(std::string_view name) const;

    unsigned workers() const { return default_pool().workers(); }
    worker_totals totals() const { return default_pool().totals(); }

    /// The runtime of tasks that are made outside of any. A runtime that is made while there is
    /// none is the default one, for all threads, until its destructor begins. Else one is started
    /// at the first use, as the settings say, and ended when the program ends, in the order of
    /// static objects; a message on stderr says so if a runtime of the program's own is idle then.
    /// One who calls it later still, or in the child of a fork(), gets another. The reference is
    /// valid as long as that runtime. Thread safe; throws as the constructor does. In all detail:
    /// docs/processes.md.
    static runtime& default_instance();

private:
    friend class detail::default_runtime;
    struct as_default {};
    struct as_holder {};

    /// The default runtime that no one has made.
    explicit runtime(as_default);
    /// For pools whose runtime has ended and which go on.
    runtime(as_holder, std::vector<std::unique_ptr<detail::pool>>&& pools) noexcept;

    void start(const runtime_options& options);
    bool cannot_end_here() const noexcept;
    void wait_until_quiet() noexcept;
    /// They are not destroyed.
    static void abandon(std::vector<std::unique_ptr<detail::pool>>& pools) noexcept;

    std::vector<std::unique_ptr<detail::pool>> m_pools;
    bool m_is_holder = false;
    std::unique_ptr<detail::patience> m_patience;  ///< with the setting hang_report=seconds
};

/// The pool that runs the calling task, or the default runtime's first pool. Thread safe.
pool_ref current_pool();

/// The rank of the worker that runs the caller within its pool, or -1 outside. May change whenever
/// the task waits.
int current_worker_rank() noexcept;

}  // namespace quern
