// SPDX-License-Identifier: BSL-1.0
// hpx::launch with its priority, stack size and hint. Becomes quern::task_attributes.
#pragma once

#include <quern/task/attributes.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace hpx::threads {

enum class thread_priority : std::int8_t {
    unknown = -1,
    default_,
    low,
    normal,
    high_recursive,
    boost,
    high,
    bound,
    initially_bound
};
enum class thread_stacksize : std::int8_t {
    unknown = -1,
    default_,
    small_,
    medium,
    large,
    huge,
    nostack,
    current,
    minimal = small_,
    maximal = huge
};
enum class thread_schedule_hint_mode : std::int8_t { none, thread, numa };
enum class thread_placement_hint : std::int8_t {
    none,
    depth_first,
    breadth_first,
    depth_first_reverse,
    breadth_first_reverse
};

/// A preferred place of a task. The placement is HPX's and has no effect here.
struct thread_schedule_hint {
    constexpr thread_schedule_hint() noexcept = default;
    constexpr explicit thread_schedule_hint(std::int16_t worker) noexcept
        : mode(thread_schedule_hint_mode::thread), hint(worker) {}
    constexpr thread_schedule_hint(thread_schedule_hint_mode m, std::int16_t h,
                                   thread_placement_hint = thread_placement_hint::none) noexcept
        : mode(m), hint(h) {}
    friend bool operator==(const thread_schedule_hint&, const thread_schedule_hint&) = default;

    thread_schedule_hint_mode mode = thread_schedule_hint_mode::none;
    std::int16_t hint = -1;
};

inline constexpr thread_priority thread_priority_default = thread_priority::default_;
inline constexpr thread_priority thread_priority_low = thread_priority::low;
inline constexpr thread_priority thread_priority_normal = thread_priority::normal;
inline constexpr thread_priority thread_priority_high = thread_priority::high;
inline constexpr thread_stacksize thread_stacksize_default = thread_stacksize::default_;
inline constexpr thread_stacksize thread_stacksize_small = thread_stacksize::small_;
inline constexpr thread_stacksize thread_stacksize_medium = thread_stacksize::medium;
inline constexpr thread_stacksize thread_stacksize_large = thread_stacksize::large;
inline constexpr thread_stacksize thread_stacksize_huge = thread_stacksize::huge;
inline constexpr auto thread_schedule_hint_mode_thread = thread_schedule_hint_mode::thread;
inline constexpr auto thread_schedule_hint_mode_numa = thread_schedule_hint_mode::numa;

constexpr quern::priority to_quern(thread_priority wanted) noexcept {
    switch (wanted) {
        case thread_priority::low:
            return quern::priority::low;
        case thread_priority::high_recursive:
        case thread_priority::boost:
        case thread_priority::high:
            return quern::priority::high;
        default:
            return quern::priority::normal;
    }
}

constexpr quern::stack_class to_quern(thread_stacksize wanted) noexcept {
    switch (wanted) {
        case thread_stacksize::medium:
            return quern::stack_class::medium;
        case thread_stacksize::large:
        case thread_stacksize::huge:
            return quern::stack_class::large;
        default:
            return quern::stack_class::small;
    }
}

inline void apply(const thread_schedule_hint& hint, quern::task_attributes& to) noexcept {
    if (hint.mode == thread_schedule_hint_mode::thread) {
        to.worker = hint.hint;
    } else if (hint.mode == thread_schedule_hint_mode::numa) {
        to.numa_node = hint.hint;
    }
}

}  // namespace hpx::threads

namespace hpx {

/// A policy is a value: the way to start a task, and its attributes. A set of ways, such as
/// `async | deferred`, starts by the first permitted one, async before the others.
class launch {
public:
    static const launch async, fork, sync, deferred, apply, all, sync_policies, async_policies;
    using async_policy = launch;
    using fork_policy = launch;
    using sync_policy = launch;
    using deferred_policy = launch;
    using apply_policy = launch;

    constexpr launch() noexcept = default;

    /// The same way to start with other attributes.
    constexpr launch operator()(threads::thread_priority p,
                                threads::thread_stacksize s = threads::thread_stacksize::default_,
                                threads::thread_schedule_hint h = {}) const noexcept {
        return launch(m_ways, p, s, h);
    }
    constexpr launch operator()(threads::thread_stacksize s) const noexcept {
        return launch(m_ways, m_priority, s, m_hint);
    }
    constexpr launch operator()(threads::thread_schedule_hint h) const noexcept {
        return launch(m_ways, m_priority, m_stacksize, h);
    }

    /// A policy that a function chooses at each start.
    template <class F>
    static auto select(F choose);

    constexpr threads::thread_priority priority() const noexcept { return m_priority; }
    constexpr threads::thread_stacksize stacksize() const noexcept { return m_stacksize; }
    constexpr threads::thread_schedule_hint hint() const noexcept { return m_hint; }

    constexpr explicit operator bool() const noexcept { return m_ways != 0; }
    friend constexpr bool operator==(const launch& a, const launch& b) noexcept {
        return a.m_ways == b.m_ways;
    }
    friend constexpr launch operator|(const launch& a, const launch& b) noexcept {
        return launch(a.m_ways | b.m_ways, a.m_priority, a.m_stacksize, a.m_hint);
    }
    friend constexpr launch operator&(const launch& a, const launch& b) noexcept {
        return launch(a.m_ways & b.m_ways, a.m_priority, a.m_stacksize, a.m_hint);
    }
    friend constexpr launch operator^(const launch& a, const launch& b) noexcept {
        return launch(a.m_ways ^ b.m_ways, a.m_priority, a.m_stacksize, a.m_hint);
    }
    friend constexpr launch operator~(const launch& a) noexcept {
        return launch(~a.m_ways & k_every_way, a.m_priority, a.m_stacksize, a.m_hint);
    }

    quern::task_attributes attributes() const noexcept {
        quern::task_attributes wanted{.how = how(),
                                      .urgency = threads::to_quern(m_priority),
                                      .stack = threads::to_quern(m_stacksize)};
        threads::apply(m_hint, wanted);
        return wanted;
    }

private:
    static constexpr unsigned k_async = 1, k_fork = 2, k_sync = 4, k_deferred = 8, k_apply = 16;
    static constexpr unsigned k_every_way = 31;

    constexpr explicit launch(unsigned ways, threads::thread_priority p = {},
                              threads::thread_stacksize s = {},
                              threads::thread_schedule_hint h = {}) noexcept
        : m_ways(ways), m_priority(p), m_stacksize(s), m_hint(h) {}

    constexpr quern::launch how() const noexcept {
        if ((m_ways & (k_async | k_apply)) != 0) {
            return quern::launch::async;
        }
        return (m_ways & k_fork) != 0       ? quern::launch::fork
               : (m_ways & k_sync) != 0     ? quern::launch::sync
               : (m_ways & k_deferred) != 0 ? quern::launch::deferred
                                            : quern::launch::async;
    }

    unsigned m_ways = k_async;
    threads::thread_priority m_priority = threads::thread_priority::default_;
    threads::thread_stacksize m_stacksize = threads::thread_stacksize::default_;
    threads::thread_schedule_hint m_hint{};
};

inline constexpr launch launch::async{k_async};
inline constexpr launch launch::fork{k_fork};
inline constexpr launch launch::sync{k_sync};
inline constexpr launch launch::deferred{k_deferred};
inline constexpr launch launch::apply{k_apply};
inline constexpr launch launch::all{k_async | k_fork | k_sync | k_deferred | k_apply};
inline constexpr launch launch::sync_policies{k_sync | k_deferred};
inline constexpr launch launch::async_policies{k_async | k_fork};

namespace detail {

template <class F>
class selecting_policy {
public:
    explicit selecting_policy(F choose) : m_choose(std::move(choose)) {}
    operator launch() const { return m_choose(); }

private:
    mutable F m_choose;
};

/// A policy, or one that chooses a policy; functions and executors are not.
template <class T>
concept launch_policy =
    std::convertible_to<std::add_lvalue_reference_t<const std::remove_cvref_t<T>>, launch>;

}  // namespace detail

template <class F>
auto launch::select(F choose) {
    return detail::selecting_policy<F>(std::move(choose));
}

}  // namespace hpx
