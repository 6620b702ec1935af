// SPDX-License-Identifier: BSL-1.0
// How a task is started: launch policy, priority, stack, name, preferred worker or node, pool.
// Passed by value to async, post, dataflow and then.
#pragma once

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/queued_task.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/work.hpp>
#include <quern/task/detail/inlining.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <utility>

namespace quern {

/// When and where a task starts. A bitmask type like std::launch, with two of HPX's policies and
/// one that decides by itself. If
/// several policies are named, Quern takes the first of them in this order. If none is named,
/// starting a task throws std::invalid_argument.
///
///     auto f = quern::async(quern::launch::async | quern::launch::deferred, g);   // async
enum class launch : std::uint8_t {
    async = 1,     ///< queued; run by a worker or by the first waiter
    fork = 4,      ///< starts at once in place of its creator, which resumes when a worker is free
    deferred = 2,  ///< run by the first waiter on its stack; queued by `then` and dataflow
    sync = 8,      ///< run at once, before the call returns
    /// A child task: queued, or run at once on a stack of its own while its creator waits, which
    /// continues when the child has ended or suspends. A rule decides, for each place in the source
    /// that makes tasks (docs/inlining.md). A place whose task has suspended when it was run at
    /// once, for another reason than to wait for a task, is queued from then on. `then` and
    /// dataflow decide when the last input arrives. Outside a worker as async.
    adaptive = 16,
};

constexpr launch operator&(launch a, launch b) noexcept {
    return static_cast<launch>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
constexpr launch operator|(launch a, launch b) noexcept {
    return static_cast<launch>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr launch operator^(launch a, launch b) noexcept {
    return static_cast<launch>(static_cast<unsigned>(a) ^ static_cast<unsigned>(b));
}
constexpr launch operator~(launch a) noexcept {
    return a ^ (launch::async | launch::fork | launch::deferred | launch::sync | launch::adaptive);
}
constexpr launch& operator&=(launch& a, launch b) noexcept { return a = a & b; }
constexpr launch& operator|=(launch& a, launch b) noexcept { return a = a | b; }
constexpr launch& operator^=(launch& a, launch b) noexcept { return a = a ^ b; }

/// Tells tasks of one site apart: the address of an object, or a number from 0 on.
///
///     auto f = quern::async({.how = quern::launch::adaptive, .instance = &x}, norm, x);
class task_instance {
public:
    constexpr task_instance() noexcept = default;  ///< none
    task_instance(const void* object) noexcept
        : m_value(reinterpret_cast<std::uintptr_t>(object)) {}
    template <std::integral Number>
    constexpr task_instance(Number number) noexcept
        : m_value(~static_cast<std::uint64_t>(number)) {}

    /// 0: none.
    constexpr std::uint64_t value() const noexcept { return m_value; }

private:
    std::uint64_t m_value = 0;  ///< numbers from the upper end: no address is there
};

/// Options of a task. Every field has a default:
///
///     auto f = quern::async({.name = "norm", .urgency = quern::priority::high}, norm, x);
struct task_attributes {
    launch how = launch::async;
    /// Shown by reports and profiles. Must outlive the task: usually a literal.
    const char* name = nullptr;
    priority urgency = priority::normal;
    /// Of the ready tasks of one urgency those with the larger rank are taken first: above 0 before
    /// the usual ones, below 0 after them. Within a rank the oldest first. Exact on one worker;
    /// each of several takes the best of its own tasks and of one other worker's. A task keeps its
    /// rank when it has waited. The same under every policy. Other ready tasks get their turns.
    std::int16_t rank = 0;
    /// The least stack that the task is started on. A recursion through the runtime needs none: it
    /// continues on fresh stacks of that class.
    stack_class stack = stack_class::small;
    /// Rank of the worker whose queue gets the task, modulo the number of workers, or -1. A hint:
    /// an idle worker may steal the task where the policy steals. Applies only to normal priority.
    int worker = -1;
    /// NUMA node, or -1. Such tasks are distributed round-robin over its workers. A hint like
    /// `worker`, which takes precedence. A node without workers of the pool maps, modulo, to one of
    /// those that have some. Ignored in a pool on one node or with unbound workers.
    int numa_node = -1;
    /// The pool that runs it. Null: the creator's pool, or outside of tasks the default runtime's
    /// first.
    detail::pool* pool = nullptr;
    /// Code address that created the task, for reports. Null: the address that called async, post
    /// and so on. A library may pass the address of its own caller.
    const void* site = nullptr;
    /// If its stop is requested before the task begins, the task is dropped and its future holds
    /// task_cancelled. Once running, the task can poll it (this_task::stop_requested()).
    std::stop_token stop{};
    /// With launch::adaptive: each instance is measured and decided about separately, instead of
    /// all tasks of the site together. There is room for 16 thousand; further ones count together.
    task_instance instance{};
    /// The task passes messages. Only for tasks of async, post and of a quern::domain. Where the
    /// setting mpi-mechanism is thread, such tasks run on a worker of their own, the only one of
    /// the pool "communication", in the order in which they become ready: rank, urgency and hints
    /// do not count there, and MPI calls block that worker. With mpi-serialise those of a domain
    /// run one after the other in the order of their creation. Else they are as all other tasks.
    bool communication = false;
    // The last three are for tasks of a quern::domain; others refuse them.
    /// False: spawn() returns when the function has returned; with `wait`, after its children too.
    bool deferred = true;
    /// The task's children run at once, in the place of their creation, in that order.
    bool final = false;
    /// The task releases none of its accesses before all its children have ended.
    bool wait = false;
};

namespace detail {

/// The policy used when several are named. Throws std::invalid_argument.
constexpr launch one_of(launch named) {
    for (const launch each :
         {launch::async, launch::fork, launch::deferred, launch::sync, launch::adaptive}) {
        if ((named & each) == each) {
            return each;
        }
    }
    throw std::invalid_argument(
        "quern: a launch policy that names none of async, fork, deferred, sync and adaptive");
}

/// The attributes of a task of a domain: fills in `site` unless it is set.
QUERN_ALWAYS_INLINE task_attributes dependent_at(const void* site, task_attributes wanted) {
    wanted.site = wanted.site != nullptr ? wanted.site : site;
    return wanted;
}

/// Throws std::invalid_argument: such a task cannot have these attributes.
[[noreturn]] QUERN_COLD void refuse_attributes(const task_attributes& wanted);
/// Throws std::invalid_argument unless it is launch::async.
QUERN_COLD void require_async_for_communication(launch how);

/// Reduces the attributes to one policy and fills in `site` unless it is set. Throws
/// std::invalid_argument.
QUERN_ALWAYS_INLINE task_attributes made_at(const void* site, task_attributes wanted) {
    if (!wanted.deferred || wanted.final || wanted.wait || wanted.communication) [[unlikely]] {
        refuse_attributes(wanted);
    }
    if (!std::has_single_bit(static_cast<unsigned>(wanted.how))) [[unlikely]] {
        wanted.how = one_of(wanted.how);
    }
    if (wanted.how == launch::async && decides_always()) [[unlikely]] {
        wanted.how = launch::adaptive;
    }
    wanted.site = wanted.site != nullptr ? wanted.site : site;
    return wanted;
}

/// The same for async and post, whose tasks may pass messages.
QUERN_ALWAYS_INLINE task_attributes queued_at(const void* site, task_attributes wanted) {
    if (!std::exchange(wanted.communication, false)) [[likely]] {
        return made_at(site, wanted);
    }
    require_async_for_communication(wanted.how);
    wanted = made_at(site, wanted);
    wanted.how = launch::async;
    wanted.communication = true;
    return wanted;
}

inline pool& pool_of(const task_attributes& wanted) {
    if (wanted.pool == nullptr) {
        return current_pool().get();
    }
    wanted.pool->require_not_inherited();
    return *wanted.pool;
}

inline void apply_attributes(const task_attributes& wanted, runnable& item) noexcept {
    item.name = wanted.name;
    item.last_as({.urgency = wanted.urgency, .stack = wanted.stack, .rank = wanted.rank});
    item.home = wanted.worker >= 0      ? wanted.worker
                : wanted.numa_node >= 0 ? runnable::k_first_node + wanted.numa_node
                                        : runnable::k_anywhere;
    item.site = wanted.site;
}

}  // namespace detail
}  // namespace quern
