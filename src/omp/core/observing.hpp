// SPDX-License-Identifier: BSL-1.0
// Tells recordings (trace, profile, report) and live views of regions, tasks and waits. Members run
// these on their own stacks, within one item that never ends, so the pool's loop does not see them.
// Without a recording each place is one branch. Protocol: ../README.md, section "Observing".
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>
#include <quern/scheduler/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace quern::detail {
class worker;
}  // namespace quern::detail

namespace quern::omp {

struct member;
struct task;
struct deferred_task;

/// Whether the settings ask for a recording or a live view. Set before the first crew is made.
extern constinit std::atomic<bool> g_is_observed;

QUERN_ALWAYS_INLINE bool is_observed() noexcept {
    return g_is_observed.load(std::memory_order_relaxed);
}

/// The pool of a crew within a runtime, which recordings know; null if nothing is to be observed.
/// Throws what the constructor of a runtime throws.
std::unique_ptr<runtime> make_observed_runtime(unsigned workers);

/// Names that reports complete by the function of the site: "task in solve".
inline constexpr const char* k_task_name = "task in";
inline constexpr const char* k_region_name = "region in";

/// The place of a function: an address within it.
inline const void* place_of(void (*body)(void*)) noexcept {
    return reinterpret_cast<const char*>(body) + 1;
}

/// In an entry point: the call of it in the program's code.
#define QUERN_OMP_CALLER (static_cast<const char*>(__builtin_return_address(0)) - 1)

/// Where the program makes the task, if that is observed.
void note_made_at(deferred_task& made, const void* site) noexcept;
QUERN_ALWAYS_INLINE void note_site(deferred_task* made, const void* site) noexcept {
    if (is_observed() && made != nullptr) [[unlikely]] {
        note_made_at(*made, site);
    }
}

/// Calls `body(argument)` as a task inside the present one.
QUERN_COLD void call_observed_task(void (*body)(void*), void* argument) noexcept;

/// The same for one that has been in a queue, and ends it: what its end makes ready has been made
/// ready by it.
QUERN_COLD void run_observed_task(member& here, deferred_task& next, task* before) noexcept;

/// Runs the member's part of its region as a task inside the present one.
QUERN_COLD void run_observed_member(member& one) noexcept;

/// The task has been put into a queue, or is about to be.
QUERN_COLD void tell_ready(member& here, deferred_task& made) noexcept;

/// While it lives, the task that runs here waits: its worker has nothing to do.
class noted_wait {
public:
    /// `why`: null for a member between two regions, which is no wait of a task.
    explicit noted_wait(const detail::wait_reason* why) noexcept {
        if (is_observed()) [[unlikely]] {
            begin(why);
        }
    }
    noted_wait(const noted_wait&) = delete;
    noted_wait& operator=(const noted_wait&) = delete;
    ~noted_wait() {
        if (m_on != nullptr) [[unlikely]] {
            end();
        }
    }

private:
    QUERN_COLD void begin(const detail::wait_reason* why) noexcept;
    QUERN_COLD void end() noexcept;

    detail::worker* m_on = nullptr;
    const detail::wait_reason* m_why = nullptr;
    detail::tick_count m_since = 0;
};

}  // namespace quern::omp
