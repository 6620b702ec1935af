// SPDX-License-Identifier: BSL-1.0
// The parts of a report: a sighting of each waiter, collected at one moment and described later,
// when the waiters may have resumed.
#pragma once

#include <quern/base/detail/peek.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quern::detail {

class pool;

struct seen_task {
    std::string name;             ///< empty: unnamed
    std::uint64_t id = 0;         ///< 0: never requested
    const void* site = nullptr;   ///< where it was created
    const void* entry = nullptr;  ///< the function that runs it, used without a site; always set
                                  ///< for a coroutine
};

enum class sighted : std::uint8_t {
    task,       ///< suspended
    coroutine,  ///< suspended
    outside,    ///< an outside thread that waits in Quern
    blocked,    ///< a task that runs on a worker whose thread sleeps in the kernel
    foreign,    ///< a thread unknown to Quern
    poller,     ///< a poller with outstanding operations
};

struct sighting {
    static constexpr int k_no_holder = -1;
    static constexpr int k_outside = -2;    ///< a thread that is not a worker and does not wait
    static constexpr int k_running = -3;    ///< a task that can run
    static constexpr int k_ended = -4;      ///< a task that has ended
    static constexpr int k_coroutine = -5;  ///< an unidentified coroutine
    static constexpr int k_other = -6;      ///< a task of another runtime than the requested one

    sighted what = sighted::task;
    seen_task task;
    std::vector<seen_task> outer;  ///< the tasks inside which it runs inline, innermost first: they
                                   ///< wait for it
    bool is_inlined = false;       ///< the last of them, or itself, began in its parent's place
    std::string where;             ///< pool; empty: an outside thread
    pid_t thread = 0;              ///< 0: suspended
    std::string thread_name;       ///< of a foreign one
    std::string doing;  ///< of a thread: its system call; of a poller: its outstanding operations
    std::vector<const void*> calls;   ///< youngest first; empty: unknown
    std::uint64_t count = 1;          ///< the number of waiters that it represents
    const wait_kind* kind = nullptr;  ///< null: not noted
    const void* thing = nullptr;
    wait_findings found;
    explanations more;  ///< of the thing, then of the task
    double seconds = 0;
    bool is_result = false;    ///< the thing is a future, and its task is the holder
    int holder = k_no_holder;  ///< index of the sighting of the thing's holder, or one of the above
    std::size_t depth =
        0;  ///< index + 1 in the holder's `outer` of the task that makes the result; 0: the holder
};

/// All waiters in the process, tasks first, then these foreign threads, and pollers with
/// outstanding operations.
/// Requires: the process registry is locked.
std::vector<sighting> collect_waits(const std::vector<pid_t>& foreign = {});

/// Threads of the process that may still wake a task: neither workers nor Quern's own helpers, nor
/// waiting in Quern for something that has not happened. Nothing if the system does not report its
/// threads. Requires: the process registry is locked.
std::optional<std::vector<pid_t>> threads_that_may_act();

struct state_of_all {
    bool quiet = true;        ///< no pool has anything to run, a timer or an outstanding operation
    bool has_timer = false;   ///< of any pool
    std::uint64_t begun = 0;  ///< items, and progress of pollers
    std::uint64_t away = 0;
};

/// Requires: the process registry is locked.
state_of_all look_at_pools();

/// Reports a hang on stderr, once for each state. False: already reported.
bool say_hang(const std::string& heading, const std::vector<sighting>& seen, std::uint64_t begun);

using pool_list = std::vector<std::unique_ptr<pool>>;

/// The suspended tasks and the pollers of these pools only. Requires: the process registry is
/// locked.
std::vector<sighting> look_at(const pool_list& pools);

/// The sightings in words, a line or two each; `tasks_are` describes the state of tasks.
std::string describe(const std::vector<sighting>& all, const char* tasks_are = "suspended");

/// The waiters that ending pools would abandon; empty when hang_report is off.
std::vector<sighting> who_is_left(const pool_list& ending) noexcept;
/// Reports the abandoned tasks on stderr after the pools have ended.
void report_abandoned(const std::vector<sighting>& left) noexcept;

/// Writes a report to stderr, and how to turn it off.
void say_on_stderr(std::string text);

/// The part of a task's name that a report shows.
using shown_name = std::array<char, 64>;

/// Copies a text whose memory may be unmapped; empty for null.
void copy_text(const char* text, shown_name& into) noexcept;
std::string copy_text(const char* text);

}  // namespace quern::detail
