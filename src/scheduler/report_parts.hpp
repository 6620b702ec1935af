// SPDX-License-Identifier: BSL-1.0
// What a report is made of: a sighting of each that waits, collected at one moment and described
// afterwards, when those who were seen may have gone on.
#pragma once

#include <quern/base/peek.hpp>
#include <quern/scheduler/wait_reason.hpp>

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quern::detail {

class pool;

/// A task, as it is described.
struct seen_task {
    std::string name;             ///< empty: it has none
    std::uint64_t id = 0;         ///< 0: nobody has asked
    const void* site = nullptr;   ///< where it was made
    const void* entry = nullptr;  ///< what runs it, should there be no site; of a coroutine always
};

/// What a sighting is of.
enum class sighted : std::uint8_t {
    task,       ///< suspended
    coroutine,  ///< suspended
    outside,    ///< a thread outside that waits in Quern
    blocked,    ///< a task that runs on a worker whose thread sleeps in the kernel
    foreign,    ///< a thread of which Quern knows nothing
};

/// One that waits.
struct sighting {
    static constexpr int k_nobody = -1;
    static constexpr int k_outside = -2;    ///< a thread that is no worker and does not wait
    static constexpr int k_running = -3;    ///< a task that can run
    static constexpr int k_ended = -4;      ///< a task that has ended
    static constexpr int k_coroutine = -5;  ///< a coroutine; which one is not known
    static constexpr int k_other = -6;  ///< a task of another runtime than the one that was asked

    sighted what = sighted::task;
    seen_task task;
    std::vector<seen_task> outer;  ///< in whose place it runs: they wait for it, the nearest first
    std::string where;             ///< pool; empty: a thread outside
    pid_t thread = 0;              ///< 0: suspended
    std::string thread_name;       ///< of a foreign one
    std::string doing;             ///< what the thread does in the kernel; blocked and foreign ones
    std::vector<const void*> calls;   ///< the youngest first; empty: unknown
    std::uint64_t count = 1;          ///< for so many it stands
    const wait_kind* kind = nullptr;  ///< null: it was not noted
    const void* thing = nullptr;
    wait_findings found;
    double seconds = 0;
    bool is_result = false;  ///< the thing is a future, and its task is the holder
    int holder = k_nobody;   ///< index of the sighting of who holds the thing, or one of the above
    std::size_t depth =
        0;  ///< the result is of the task so deep in the holder's `outer`; 0: its own
};

/// All that wait in the process, tasks first, then these threads, of which Quern knows nothing.
/// Requires: the census is locked.
std::vector<sighting> look_around(const std::vector<pid_t>& foreign = {});

/// Threads of the process that are neither workers nor Quern's own helpers, and do not wait in
/// Quern for something that has not come: each of them may still wake a task. Nothing where the
/// system does not tell. Requires: the census is locked.
std::optional<std::vector<pid_t>> threads_that_may_act();

/// What all pools of the process have done.
struct state_of_all {
    bool quiet = true;            ///< no pool has anything to run, a timer or a poller
    bool waits_for_time = false;  ///< there are timers or pollers
    std::uint64_t begun = 0;
    std::uint64_t away = 0;
};

/// Requires: the census is locked.
state_of_all look_at_pools();

/// Says on stderr that nothing goes on, once for each state: false when it has been said already.
bool say_hang(const std::string& heading, const std::vector<sighting>& seen, std::uint64_t begun);

using pool_list = std::vector<std::unique_ptr<pool>>;

/// The suspended tasks of these pools alone. Requires: the census is locked.
std::vector<sighting> look_at(const pool_list& pools);

/// What they are in words, a line or two each; tasks are what `tasks_are` says.
std::string describe(const std::vector<sighting>& all, const char* tasks_are = "suspended");

/// Whom pools that are about to end would abandon; nobody when hang_report is off.
std::vector<sighting> who_is_left(const pool_list& ending) noexcept;
/// When they have ended, and it was so: says it on stderr.
void report_abandoned(const std::vector<sighting>& left) noexcept;

/// Writes a report to stderr, and how to be spared it.
void say_on_stderr(std::string text);

/// Of a task's name as much as a report shows.
using shown_name = std::array<char, 64>;

/// A text in memory that may be gone; empty for null.
void copy_text(const char* text, shown_name& into) noexcept;
std::string copy_text(const char* text);

}  // namespace quern::detail
