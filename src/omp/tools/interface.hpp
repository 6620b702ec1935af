// SPDX-License-Identifier: BSL-1.0
// The tools interface of OpenMP 5.1 (OMPT) as a tool sees it: its types, and the numbers of events,
// kinds and states, as the specification gives them. Protocol: ../README.md, section "Tools".
#pragma once

#include <cstddef>
#include <cstdint>

namespace quern::omp::tools {

/// What a tool keeps of a thread, a region or a task.
union tool_data {
    std::uint64_t value;
    void* pointer;
};

/// Where the stack of a task ends and begins, to tell its frames from those of the library.
struct tool_frame {
    tool_data exit;
    tool_data enter;
    int exit_flags;
    int enter_flags;
};

struct tool_dependence {
    tool_data variable;
    int type;
};

using any_function = void (*)();
using lookup_function = any_function (*)(const char* name);

/// What `ompt_start_tool` returns.
struct start_result {
    int (*initialize)(lookup_function lookup, int initial_device, tool_data* data);
    void (*finalize)(tool_data* data);
    tool_data data;
};
using start_function = start_result* (*)(unsigned version, const char* runtime);

/// Events, with the function that a tool gives for each.
template <int Number, class... Arguments>
struct event {
    static constexpr int number = Number;
    using function = void (*)(Arguments...);
};
using address = const void*;

namespace events {

using thread_begin = event<1, int, tool_data*>;
using thread_end = event<2, tool_data*>;
using parallel_begin =
    event<3, tool_data*, const tool_frame*, tool_data*, unsigned, unsigned, address>;
using parallel_end = event<4, tool_data*, tool_data*, unsigned, address>;
using task_create = event<5, tool_data*, const tool_frame*, tool_data*, unsigned, int, address>;
using task_schedule = event<6, tool_data*, int, tool_data*>;
using implicit_task = event<7, int, tool_data*, tool_data*, unsigned, unsigned, unsigned>;
using sync_region_wait = event<16, int, int, tool_data*, tool_data*, address>;
using mutex_released = event<17, int, std::uint64_t, address>;
using dependences = event<18, tool_data*, const tool_dependence*, int>;
using work = event<20, int, int, tool_data*, tool_data*, std::uint64_t, address>;
using masked = event<21, int, tool_data*, tool_data*, address>;
using sync_region = event<23, int, int, tool_data*, tool_data*, address>;
using lock_init = event<24, int, unsigned, unsigned, std::uint64_t, address>;
using lock_destroy = event<25, int, std::uint64_t, address>;
using mutex_acquire = event<26, int, unsigned, unsigned, std::uint64_t, address>;
using mutex_acquired = event<27, int, std::uint64_t, address>;
using nest_lock = event<28, int, std::uint64_t, address>;
using flush = event<29, tool_data*, address>;
using cancel = event<30, tool_data*, int, address>;
using reduction = event<31, int, int, tool_data*, tool_data*, address>;

}  // namespace events

inline constexpr int k_last_event = 37;

/// What setting a callback returns.
inline constexpr int k_set_error = 0;
inline constexpr int k_set_never = 1;
inline constexpr int k_set_sometimes = 3;
inline constexpr int k_set_always = 5;

inline constexpr int k_begin = 1;
inline constexpr int k_end = 2;

inline constexpr int k_initial_thread = 1;
inline constexpr int k_worker_thread = 2;

enum class sync : int {
    barrier_explicit = 3,
    barrier_implementation = 4,
    taskwait = 5,
    taskgroup = 6,
    reduction = 7,
    barrier_workshare = 8,
    barrier_parallel = 9,
};

enum class construct : int {
    none = 0,
    loop = 1,
    sections = 2,
    single_executor = 3,
    single_other = 4,
    distribute = 6,
    taskloop = 7,
};

enum class mutex : int { lock = 1, nest_lock = 3, critical = 5, atomic = 6, ordered = 7 };

inline constexpr unsigned k_initial_task = 1;
inline constexpr unsigned k_implicit_task = 2;
inline constexpr unsigned k_explicit_task = 4;
inline constexpr unsigned k_undeferred_task = 0x08000000;
inline constexpr unsigned k_untied_task = 0x10000000;
inline constexpr unsigned k_final_task = 0x20000000;

enum class status : int {
    complete = 1,
    cancelled = 3,
    detached = 4,
    fulfilled_late = 6,
    other = 7
};

/// A region: invoked by the library, with a team.
inline constexpr unsigned k_region_flags = 0x80000002;

inline constexpr int k_cancel_activated = 0x10;

enum class state : int {
    serial = 0,
    parallel = 1,
    reduction = 2,
    barrier_parallel = 0x11,
    barrier_workshare = 0x12,
    barrier_explicit = 0x14,
    barrier_implementation = 0x15,
    taskwait = 0x20,
    taskgroup = 0x21,
    lock = 0x41,
    critical = 0x42,
    atomic = 0x43,
    ordered = 0x44,
    overhead = 0x101,
    undefined = 0x102,
};

}  // namespace quern::omp::tools
