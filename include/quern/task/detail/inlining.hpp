// SPDX-License-Identifier: BSL-1.0
// The seam between tasks with launch::adaptive and the rules that decide whether such a child runs
// at once (src/adaptation/inlining*.cpp). Without rules every child is queued. An inlined child
// runs on a fresh context, never on its parent's stack: when it suspends, its parent continues, so
// it may wait for what its parent does next. Protocol: src/task/README.md, section "Inlined
// children".
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/scheduler/work.hpp>

#include <atomic>
#include <cstdint>

namespace quern::detail {

class worker;

/// A number of the rules for the tasks of one place, or of one instance of them. With k_timed_kind
/// the rules want to know how long each takes.
using child_kind = std::uint32_t;
inline constexpr child_kind k_no_kind = 0;  ///< no rule decides: queued
inline constexpr child_kind k_timed_kind = std::uint32_t{1} << 31;

/// What a layer above installs. The functions run in the middle of tasks, on any thread unless said
/// otherwise, and must not throw.
struct inlining_rules {
    /// `instance`: 0 for none.
    child_kind (*kind_of)(const void* site, const char* name, std::uint64_t instance) noexcept;
    /// Whether to inline one more; if so, it is counted. On the worker, in a task.
    bool (*inlines)(worker& here, child_kind kind) noexcept;
    /// An inlined child has left its worker before its end: for another task, or otherwise.
    void (*has_left)(child_kind kind, bool waits_for_task) noexcept;
    /// The function of a child of a timed kind took so long, waits and its own children included.
    void (*took)(child_kind kind, tick_count time) noexcept;
};

/// Replaces the rules; null: none. They must live as long as the process. `always`: tasks with
/// launch::async ask them too. Thread safe.
void install_inlining(const inlining_rules* rules, bool always) noexcept;

extern constinit std::atomic<const inlining_rules*> g_inlining_rules;
extern constinit std::atomic<bool> g_decides_always;

inline bool decides_always() noexcept { return g_decides_always.load(std::memory_order_relaxed); }

/// The kind of a child that is about to be made. Any thread. Some 3 ns.
inline child_kind kind_of_child(const void* site, const char* name,
                                std::uint64_t instance) noexcept {
    // acquire: pairs with install_inlining.
    const inlining_rules* const rules = g_inlining_rules.load(std::memory_order_acquire);
    return rules != nullptr ? rules->kind_of(site, name, instance) : k_no_kind;
}

/// Runs the child on a fresh context if the rules say so and its attributes do not ask for another
/// place. True: it has begun, and may have ended. False: the caller queues it. Requires: called on
/// `here`, a worker of the child's pool.
bool begins_in_parent(worker& here, runnable& child, child_kind kind) noexcept;

/// Stands around the function of a task: tells the rules how long it took if they want to know.
class child_timing {
public:
    QUERN_ALWAYS_INLINE explicit child_timing(child_kind kind) noexcept
        : m_kind(kind), m_begun((kind & k_timed_kind) != 0 ? ticks() : 0) {}
    child_timing(const child_timing&) = delete;
    child_timing& operator=(const child_timing&) = delete;
    QUERN_ALWAYS_INLINE ~child_timing() {
        if ((m_kind & k_timed_kind) != 0) [[unlikely]] {
            report(m_kind, m_begun);
        }
    }

private:
    QUERN_COLD static void report(child_kind kind, tick_count begun) noexcept;

    child_kind m_kind;
    tick_count m_begun;
};

}  // namespace quern::detail
