// SPDX-License-Identifier: BSL-1.0
// Statistics of sites while the program runs. A site is the place in the source that creates a kind
// of task: task_attributes::site and name. Called by whatever decides by kind of task; a recording
// (trace/) knows more, and only while it runs. How the sample is taken:
// docs/design/0023-seams.md, section "Sites".
#pragma once

#include <quern/scheduler/runtime.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// Of one site, everything since the runtimes began. Calls and time are estimates from a sample,
/// without bias. Their errors are standard deviations: 0 where every task was timed, as long ones
/// are, else about the value divided by the square root of `samples`.
struct site_statistics {
    std::string name;      ///< the task's name, or that of the function that creates it
    std::string location;  ///< "heat.cpp:42", or empty
    /// "name@heat.cpp:42": the same in every run and build that leaves the line where it is.
    /// Without debug information "name@libheat.so+0x1f40": the same in every run.
    std::string id;
    const void* site = nullptr;  ///< the address in this run, or the token of register_site()
    double calls = 0;            ///< tasks that have begun
    double calls_error = 0;
    double exclusive_ns = 0;  ///< in their functions, without the tasks that they run meanwhile,
                              ///< the runtime's own work, and waits
    double exclusive_error_ns = 0;
    std::uint64_t samples = 0;      ///< stretches of user code that were timed
    std::uint64_t suspensions = 0;  ///< exact: times that such a task gave up its worker
    std::uint64_t inlined = 0;  ///< exact: tasks that launch::adaptive ran in their parent's place

    double mean_ns() const noexcept { return calls > 0 ? exclusive_ns / calls : 0; }
};

/// All sites of a runtime of which a task has been sampled or has suspended, the largest time
/// first. There is room for 4095 sites in a process; the rest is counted together, as "(other
/// sites)". Of fork_join and scope the children that were stolen are counted apart, as a site of
/// their own; the others are a part of their parent. A coroutine is counted where it starts; its
/// time after it has been resumed is in. Empty when the library is built without counters
/// (counts_sites()).
///
/// Thread safety: any thread, also a task, while tasks run. Cost: some 50 ns for each site and
/// worker; a site that is read for the first time takes about a millisecond, for its name. Throws
/// std::bad_alloc.
///
///     for (const auto& one : quern::site_statistics_of(rt))
///         std::printf("%s: %.0f tasks of %.0f ns\n", one.id.c_str(), one.calls, one.mean_ns());
std::vector<site_statistics> site_statistics_of(const runtime& of);

/// The same of all runtimes of the process that have not ended.
std::vector<site_statistics> all_sites();

/// False: the library was built without counters, and no site ever shows a number.
bool counts_sites() noexcept;

/// A place in the source of another language. What is unknown stays empty.
struct foreign_site {
    std::string_view language{};
    std::string_view function{};
    std::string_view file{};
    int line = 0;  ///< 0: unknown
};

/// A token for task_attributes::site. Statistics, profiles and reports of waits, hangs and crashes
/// print the place in the stead of a code address: "relax (Python) at solver.py:42". The same place
/// gives the same token, which lives as long as the process. Room for 4095 places; further ones
/// share one token, which says so. Thread safe; some 0.3 us. Throws std::invalid_argument for a
/// place without function and file, or with a line below 0; std::bad_alloc.
///
///     static const void* const relax =
///         quern::register_site({.language = "Python", .function = "relax",
///                               .file = "solver.py", .line = 42});
///     quern::post({.site = relax}, [] { call_python(); });
const void* register_site(const foreign_site& place);

}  // namespace quern
