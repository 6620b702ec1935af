// SPDX-License-Identifier: BSL-1.0
// What a report is made of: a sighting of each that waits, collected at one moment and described
// afterwards, when those who were seen may have gone on.
#pragma once

#include <quern/scheduler/wait_reason.hpp>

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
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

/// One that waits.
struct sighting {
    static constexpr int k_nobody = -1;
    static constexpr int k_outside = -2;    ///< a thread that is no worker and does not wait
    static constexpr int k_running = -3;    ///< a task that is not suspended
    static constexpr int k_ended = -4;      ///< a task that has ended
    static constexpr int k_coroutine = -5;  ///< a coroutine; which one is not known
    static constexpr int k_other = -6;  ///< a task of another runtime than the one that was asked

    seen_task task;
    std::vector<seen_task> outer;  ///< in whose place it runs: they wait for it, the nearest first
    std::string where;             ///< pool; empty: a thread outside
    pid_t thread = 0;              ///< of a thread outside
    bool is_coroutine = false;
    std::uint64_t count = 1;          ///< for so many it stands
    const wait_kind* kind = nullptr;  ///< null: it was not noted
    const void* thing = nullptr;
    wait_findings found;
    double seconds = 0;
    bool is_result = false;  ///< the thing is a future, and its task is the holder
    int holder = k_nobody;   ///< index of the sighting of who holds the thing, or one of the above
};

/// All that wait in the process, tasks first. Requires: the census is locked.
std::vector<sighting> look_around();

using pool_list = std::vector<std::unique_ptr<pool>>;

/// The suspended tasks of these pools alone. Requires: the census is locked.
std::vector<sighting> look_at(const pool_list& pools);

/// What they are in words, a line or two each; tasks are what `tasks_are` says.
std::string describe(const std::vector<sighting>& all, const char* tasks_are = "suspended");

/// Whom pools that are about to end would abandon; nobody when hang_report is off.
std::vector<sighting> who_is_left(const pool_list& ending) noexcept;
/// When they have ended, and it was so: says it on stderr.
void report_abandoned(const std::vector<sighting>& left) noexcept;

/// Copies memory that may be gone: false then.
bool copy_if_there(void* to, const void* from, std::size_t bytes) noexcept;

/// Of a task's name as much as a report shows.
using shown_name = std::array<char, 64>;

/// A text in memory that may be gone; empty for null.
void copy_text(const char* text, shown_name& into) noexcept;
std::string copy_text(const char* text);

}  // namespace quern::detail
