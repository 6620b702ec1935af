// SPDX-License-Identifier: BSL-1.0
// clang's entry points for regions, barriers, single, critical regions and reductions.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/kmpc_told.hpp"
#include "abi/league.hpp"
#include "core/cancellation.hpp"
#include "core/observing.hpp"
#include "core/shares.hpp"
#include "tools/tools.hpp"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

using namespace quern::omp;

extern "C" {
/// Calls `body(first, second, arguments[0], ...)`. The array has room for four at least.
__attribute__((visibility("hidden"))) void quern_omp_call_microtask(void (*body)(),
                                                                    std::int32_t* first,
                                                                    std::int32_t* second,
                                                                    long count, void** arguments);
}

#if defined(__x86_64__)
// Six arguments lie in registers, the others on the stack, the last one at the highest address.
asm(R"(
    .pushsection .text
    .p2align 4
    .hidden quern_omp_call_microtask
    .globl quern_omp_call_microtask
    .type quern_omp_call_microtask, @function
quern_omp_call_microtask:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    movq %rdi, %rax
    movq %rsi, %rdi
    movq %rdx, %rsi
    movq %r8, %r11
    movq %rcx, %r10
    subq $4, %rcx
    jle 2f
    testq $1, %rcx
    jz 1f
    subq $8, %rsp
1:  pushq -8(%r11,%r10,8)
    decq %r10
    decq %rcx
    jnz 1b
2:  movq (%r11), %rdx
    movq 8(%r11), %rcx
    movq 16(%r11), %r8
    movq 24(%r11), %r9
    callq *%rax
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size quern_omp_call_microtask, . - quern_omp_call_microtask
    .popsection
)");
#else
void quern_omp_call_microtask(void (*body)(), std::int32_t* first, std::int32_t* second, long count,
                              void** a) {
    using call = void (*)(std::int32_t*, std::int32_t*, ...);
    const auto fn = reinterpret_cast<call>(body);
    if (count <= 4) {
        fn(first, second, a[0], a[1], a[2], a[3]);
    } else if (count <= 16) {
        void* all[16] = {};
        std::memcpy(all, a, static_cast<std::size_t>(count) * sizeof(void*));
        fn(first, second, all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7], all[8],
           all[9], all[10], all[11], all[12], all[13], all[14], all[15]);
    } else {
        is_missing(
            "a parallel region of clang with more than 16 captured variables, on a "
            "processor other than x86-64");
    }
}
#endif

namespace {

constexpr int k_in_registers = 4;

struct microtask {
    void (*body)() = nullptr;
    long count = 0;
    void** arguments = nullptr;
};

/// Of the thread: what the clause num_threads says of the next region.
constinit thread_local unsigned tls_wanted_threads = 0;
/// And what num_teams says of the next league.
constinit thread_local unsigned tls_wanted_teams = 0;

void run_microtask(void* data) {
    const microtask& what = *static_cast<const microtask*>(data);
    auto number = static_cast<std::int32_t>(this_member().number);
    std::int32_t bound = number;
    quern_omp_call_microtask(what.body, &number, &bound, what.count, what.arguments);
    wait_for_lone_events(this_member());
}

/// All members have been told what one has; they copy it and have it then.
void copy_from_one(member& here, void* data, void (*copy)(void*, void*), bool has_it) noexcept {
    if (here.of->size == 1) {
        return;
    }
    enter_share(here, {});
    if (here.sharing == nullptr) {
        return;  // the region is cancelled
    }
    share& one = *here.sharing;
    if (has_it) {
        one.copied = data;
    }
    {
        const tools::sync_scope told(tools::sync::barrier_implementation);
        wait_at_barrier(here);
    }
    if (!has_it) {
        copy(data, one.copied);
    }
    {
        const tools::sync_scope told(tools::sync::barrier_implementation);
        wait_at_barrier(here);
    }
    here.sharing = &one;
    leave_share(here);
}

/// Reductions: 1: the caller adds its values, within a lock; 2: it adds them by atomic operations.
constexpr std::int32_t k_add_in_turn = 1;
constexpr std::int32_t k_add_by_atomics = 2;

std::int32_t way_to_reduce(const member& here, const kmpc_place* place) noexcept {
    return here.of->size != 1 && (place->flags & k_place_has_atomic_reduction) != 0
               ? k_add_by_atomics
               : k_add_in_turn;
}

std::int32_t begin_reduction(const kmpc_place* place, kmpc_name* name) noexcept {
    const member& here = this_member();
    const std::int32_t way = way_to_reduce(here, place);
    if (way == k_add_in_turn && here.of->size != 1) {
        name->lock.lock();
    }
    if (way == k_add_in_turn && tools::is_active()) [[unlikely]] {
        tools::tell_reduction(tools::k_begin, nullptr);
    }
    return way;
}

/// 1: a region, 2: a loop, 3: sections, 4: a taskgroup.
cancelled_part part_of_number(std::int32_t number) noexcept {
    return number == 1   ? cancelled_part::region
           : number == 4 ? cancelled_part::group
                         : cancelled_part::work;
}

void end_reduction(const kmpc_place* place, kmpc_name* name) noexcept {
    const member& here = this_member();
    if (way_to_reduce(here, place) != k_add_in_turn) {
        return;
    }
    if (tools::is_active()) [[unlikely]] {
        tools::tell_reduction(tools::k_end, nullptr);
    }
    if (here.of->size != 1) {
        name->lock.unlock();
    }
}

}  // namespace

QUERN_OMP_ENTRY void __kmpc_begin(kmpc_place*, std::int32_t) {}
QUERN_OMP_ENTRY void __kmpc_end(kmpc_place*) {}

QUERN_OMP_ENTRY std::int32_t __kmpc_global_thread_num(kmpc_place*) {
    return static_cast<std::int32_t>(this_member().number);
}
QUERN_OMP_ENTRY std::int32_t __kmpc_global_num_threads(kmpc_place*) {
    return static_cast<std::int32_t>(this_member().of->size);
}
QUERN_OMP_ENTRY std::int32_t __kmpc_bound_thread_num(kmpc_place*) {
    return static_cast<std::int32_t>(this_member().number);
}
QUERN_OMP_ENTRY std::int32_t __kmpc_bound_num_threads(kmpc_place*) {
    return static_cast<std::int32_t>(this_member().of->size);
}
QUERN_OMP_ENTRY std::int32_t __kmpc_in_parallel(kmpc_place*) {
    return this_member().of->active_level != 0 ? 1 : 0;
}
QUERN_OMP_ENTRY std::int32_t __kmpc_ok_to_fork(kmpc_place*) { return 1; }

QUERN_OMP_ENTRY void __kmpc_push_num_threads(kmpc_place*, std::int32_t, std::int32_t threads) {
    tls_wanted_threads = threads > 0 ? static_cast<unsigned>(threads) : 0;
}
QUERN_OMP_ENTRY void __kmpc_pop_num_threads(kmpc_place*, std::int32_t) {}
QUERN_OMP_ENTRY void __kmpc_push_proc_bind(kmpc_place*, std::int32_t, int) {}  // a hint

QUERN_OMP_ENTRY void __kmpc_fork_call(kmpc_place*, std::int32_t count, void (*body)(), ...) {
    const int room = count > k_in_registers ? count : k_in_registers;
    auto** const arguments =
        static_cast<void**>(__builtin_alloca(static_cast<std::size_t>(room) * sizeof(void*)));
    std::va_list list;
    va_start(list, body);
    for (int i = 0; i < room; ++i) {
        arguments[i] = i < count ? va_arg(list, void*) : nullptr;
    }
    va_end(list);
    microtask what{body, count, arguments};
    this_member().next_site = QUERN_OMP_CALLER;
    run_region(run_microtask, &what, std::exchange(tls_wanted_threads, 0));
}

// The compiled code has one argument, or none.
QUERN_OMP_ENTRY void __kmpc_fork_call_if(kmpc_place*, std::int32_t count, void (*body)(),
                                         std::int32_t condition, void* argument) {
    void* arguments[k_in_registers] = {argument};
    microtask what{body, count, arguments};
    const unsigned wanted = std::exchange(tls_wanted_threads, 0);
    this_member().next_site = QUERN_OMP_CALLER;
    run_region(run_microtask, &what, condition != 0 ? wanted : 1);
}

QUERN_OMP_ENTRY void __kmpc_serialized_parallel(kmpc_place*, std::int32_t) {
    tls_wanted_threads = 0;
    begin_lone_region();
}
QUERN_OMP_ENTRY void __kmpc_end_serialized_parallel(kmpc_place*, std::int32_t) {
    wait_for_lone_events(this_member());
    end_lone_region();
}

QUERN_OMP_ENTRY void __kmpc_push_num_teams(kmpc_place*, std::int32_t, std::int32_t teams,
                                           std::int32_t) {
    tls_wanted_teams = teams > 0 ? static_cast<unsigned>(teams) : 0;
}
QUERN_OMP_ENTRY void __kmpc_push_num_teams_51(kmpc_place* place, std::int32_t thread, std::int32_t,
                                              std::int32_t most, std::int32_t limit) {
    __kmpc_push_num_teams(place, thread, most, limit);
}
QUERN_OMP_ENTRY void __kmpc_set_thread_limit(kmpc_place*, std::int32_t, std::int32_t) {}
QUERN_OMP_ENTRY void __kmpc_fork_teams(kmpc_place*, std::int32_t count, void (*body)(), ...) {
    const int room = count > k_in_registers ? count : k_in_registers;
    auto** const arguments =
        static_cast<void**>(__builtin_alloca(static_cast<std::size_t>(room) * sizeof(void*)));
    std::va_list list;
    va_start(list, body);
    for (int i = 0; i < room; ++i) {
        arguments[i] = i < count ? va_arg(list, void*) : nullptr;
    }
    va_end(list);
    run_league(std::exchange(tls_wanted_teams, 0), [body, count, arguments] {
        std::int32_t number = 0;
        std::int32_t bound = 0;
        quern_omp_call_microtask(body, &number, &bound, count, arguments);
    });
}

QUERN_OMP_ENTRY void __kmpc_barrier(kmpc_place* place, std::int32_t) {
    member& here = this_member();
    const tools::sync_scope told(kind_of_barrier(place));
    wait_for_lone_events(here);
    wait_at_barrier(here);
}
// A member that leaves a cancelled region calls this too.
QUERN_OMP_ENTRY std::int32_t __kmpc_cancel_barrier(kmpc_place* place, std::int32_t) {
    member& here = this_member();
    const tools::sync_scope told(kind_of_barrier(place));
    wait_for_lone_events(here);
    return wait_at_cancellable_barrier(here) ? 1 : 0;
}
QUERN_OMP_ENTRY std::int32_t __kmpc_cancel(kmpc_place*, std::int32_t, std::int32_t part) {
    member& here = this_member();
    the_settings();
    const cancelled_part what = part_of_number(part);
    const bool leaves = cancel(here, what);
    if (leaves && tools::is_active()) [[unlikely]] {
        constexpr int k_told[] = {0, 1, 4, 2, 8};  // a region, a loop, sections, a taskgroup
        tools::tell_cancel(k_told[part >= 1 && part <= 4 ? part : 0], QUERN_OMP_CALLER);
    }
    if (leaves && what == cancelled_part::work) {
        leave_share(here);
    }
    return leaves ? 1 : 0;
}
QUERN_OMP_ENTRY std::int32_t __kmpc_cancellationpoint(kmpc_place*, std::int32_t,
                                                      std::int32_t part) {
    member& here = this_member();
    const cancelled_part what = part_of_number(part);
    const bool leaves = is_cancelled(here, what);
    if (leaves && what == cancelled_part::work) {
        leave_share(here);
    }
    return leaves ? 1 : 0;
}
QUERN_OMP_ENTRY void __kmpc_flush(kmpc_place*) {
#if defined(__SANITIZE_THREAD__)
    static std::atomic<unsigned> flushes{0};
    flushes.fetch_add(1, std::memory_order_seq_cst);  // the sanitizer knows no fences
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
    if (tools::is_active()) [[unlikely]] {
        tools::tell_flush(QUERN_OMP_CALLER);
    }
}

QUERN_OMP_ENTRY std::int32_t __kmpc_master(kmpc_place*, std::int32_t) {
    return enters_masked(0, QUERN_OMP_CALLER) ? 1 : 0;
}
QUERN_OMP_ENTRY void __kmpc_end_master(kmpc_place*, std::int32_t) {
    leave_masked(QUERN_OMP_CALLER);
}
QUERN_OMP_ENTRY std::int32_t __kmpc_masked(kmpc_place*, std::int32_t, std::int32_t filter) {
    return enters_masked(filter, QUERN_OMP_CALLER) ? 1 : 0;
}
QUERN_OMP_ENTRY void __kmpc_end_masked(kmpc_place*, std::int32_t) {
    leave_masked(QUERN_OMP_CALLER);
}

QUERN_OMP_ENTRY std::int32_t __kmpc_single(kmpc_place*, std::int32_t) {
    member& here = this_member();
    bool is_first = true;
    if (here.of->size != 1) {
        is_first = enter_share(here, {});
        leave_share(here);
    }
    if (tools::is_active()) [[unlikely]] {
        tools::tell_single(is_first, QUERN_OMP_CALLER);
    }
    return is_first ? 1 : 0;
}
QUERN_OMP_ENTRY void __kmpc_end_single(kmpc_place*, std::int32_t) {
    tools::work_ends(QUERN_OMP_CALLER);
}

QUERN_OMP_ENTRY void __kmpc_copyprivate(kmpc_place*, std::int32_t, std::size_t, void* data,
                                        void (*copy)(void*, void*), std::int32_t has_it) {
    copy_from_one(this_member(), data, copy, has_it != 0);
}

QUERN_OMP_ENTRY void __kmpc_critical(kmpc_place*, std::int32_t, kmpc_name* name) {
    tools::acquire(tools::mutex::critical, name, QUERN_OMP_CALLER,
                   [name] { name->lock.lock(k_critical_wait); });
}
QUERN_OMP_ENTRY void __kmpc_critical_with_hint(kmpc_place*, std::int32_t, kmpc_name* name,
                                               std::uint32_t) {
    tools::acquire(tools::mutex::critical, name, QUERN_OMP_CALLER,
                   [name] { name->lock.lock(k_critical_wait); });
}
QUERN_OMP_ENTRY void __kmpc_end_critical(kmpc_place*, std::int32_t, kmpc_name* name) {
    tools::release(tools::mutex::critical, name, QUERN_OMP_CALLER, [name] { name->lock.unlock(); });
}

QUERN_OMP_ENTRY std::int32_t __kmpc_reduce_nowait(kmpc_place* place, std::int32_t, std::int32_t,
                                                  std::size_t, void*, void (*)(void*, void*),
                                                  kmpc_name* name) {
    return begin_reduction(place, name);
}
QUERN_OMP_ENTRY void __kmpc_end_reduce_nowait(kmpc_place* place, std::int32_t, kmpc_name* name) {
    end_reduction(place, name);
}
QUERN_OMP_ENTRY std::int32_t __kmpc_reduce(kmpc_place* place, std::int32_t, std::int32_t,
                                           std::size_t, void*, void (*)(void*, void*),
                                           kmpc_name* name) {
    return begin_reduction(place, name);
}
QUERN_OMP_ENTRY void __kmpc_end_reduce(kmpc_place* place, std::int32_t, kmpc_name* name) {
    end_reduction(place, name);
    const tools::sync_scope told(tools::sync::barrier_implementation);
    wait_at_barrier(this_member());
}

// The directive `error at(execution)`.
QUERN_OMP_ENTRY void __kmpc_error(kmpc_place*, int severity, const char* text) {
    constexpr int k_warning = 1;
    if (severity != k_warning) {
        fatal("the program ends with an error: %s", text != nullptr ? text : "");
    }
    std::fprintf(stderr, "quern: the program warns: %s\n", text != nullptr ? text : "");
}

// NOLINTEND(readability-identifier-naming)
