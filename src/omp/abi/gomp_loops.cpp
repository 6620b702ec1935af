// SPDX-License-Identifier: BSL-1.0
// gcc's entry points for loops: for each schedule a start, a next, and a region that begins with
// it; for long, for unsigned long long, and with ordered regions.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "core/shares.hpp"
#include "core/team.hpp"

#include <cstdint>

using namespace quern::omp;

namespace {

using quern::omp::schedule_kind;
using ull = unsigned long long;

struct chosen_schedule {
    schedule_kind kind;
    std::uint64_t chunk;
};

/// What omp_set_schedule or OMP_SCHEDULE says.
chosen_schedule schedule_at_runtime() noexcept {
    const control_values& values = *this_member().current->values;
    if (values.schedule == schedule_kind::automatic) {
        return {schedule_kind::fixed, 0};
    }
    return {values.schedule, static_cast<std::uint64_t>(values.chunk)};
}

first_share loop_of(long start, long end, long step, chosen_schedule by) noexcept {
    const bool up = step > 0;
    if (up ? start >= end : start <= end) {
        end = start;
    }
    return describe_loop(up, static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end),
                         static_cast<std::uint64_t>(step), by.kind, by.chunk);
}

first_share loop_of(bool up, ull start, ull end, ull step, chosen_schedule by) noexcept {
    if (up ? start >= end : start <= end) {
        end = start;
    }
    return describe_loop(up, start, end, step, by.kind, by.chunk);
}

template <class T>
bool next(T* from, T* to) noexcept {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const bool is_one = next_chunk(this_member(), first, last);
    if (is_one) {
        *from = static_cast<T>(first);
        *to = static_cast<T>(last);
    }
    return is_one;
}

template <class T>
bool next_ordered(T* from, T* to) noexcept {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const bool is_one = next_ordered_chunk(this_member(), first, last);
    if (is_one) {
        *from = static_cast<T>(first);
        *to = static_cast<T>(last);
    }
    return is_one;
}

template <class T>
bool start(const first_share& loop, T* from, T* to) noexcept {
    enter_share(this_member(), loop);
    return next(from, to);
}

template <class T>
bool start_ordered(const first_share& loop, T* from, T* to) noexcept {
    enter_share(this_member(), loop);
    return next_ordered(from, to);
}

constexpr std::uint64_t as_chunk(long chunk) noexcept {
    return chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0;
}

}  // namespace

// A schedule with a chunk: NAME is gcc's name, KIND ours.
#define QUERN_OMP_LOOP(NAME, KIND)                                                                 \
    QUERN_OMP_ENTRY bool GOMP_loop_##NAME##_start(long first, long end, long step, long chunk,     \
                                                  long* from, long* to) {                          \
        return start(loop_of(first, end, step, {schedule_kind::KIND, as_chunk(chunk)}), from, to); \
    }                                                                                              \
    QUERN_OMP_ENTRY bool GOMP_loop_##NAME##_next(long* from, long* to) { return next(from, to); }  \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_##NAME##_start(bool up, ull first, ull end, ull step,       \
                                                      ull chunk, ull* from, ull* to) {             \
        return start(loop_of(up, first, end, step, {schedule_kind::KIND, chunk}), from, to);       \
    }                                                                                              \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_##NAME##_next(ull* from, ull* to) { return next(from, to); }

QUERN_OMP_LOOP(static, fixed)
QUERN_OMP_LOOP(dynamic, dynamic)
QUERN_OMP_LOOP(guided, guided)
QUERN_OMP_LOOP(nonmonotonic_dynamic, dynamic)
QUERN_OMP_LOOP(nonmonotonic_guided, guided)
#undef QUERN_OMP_LOOP

#define QUERN_OMP_RUNTIME_LOOP(NAME)                                                              \
    QUERN_OMP_ENTRY bool GOMP_loop_##NAME##_start(long first, long end, long step, long* from,    \
                                                  long* to) {                                     \
        return start(loop_of(first, end, step, schedule_at_runtime()), from, to);                 \
    }                                                                                             \
    QUERN_OMP_ENTRY bool GOMP_loop_##NAME##_next(long* from, long* to) { return next(from, to); } \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_##NAME##_start(bool up, ull first, ull end, ull step,      \
                                                      ull* from, ull* to) {                       \
        return start(loop_of(up, first, end, step, schedule_at_runtime()), from, to);             \
    }                                                                                             \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_##NAME##_next(ull* from, ull* to) { return next(from, to); }

QUERN_OMP_RUNTIME_LOOP(runtime)
QUERN_OMP_RUNTIME_LOOP(nonmonotonic_runtime)
QUERN_OMP_RUNTIME_LOOP(maybe_nonmonotonic_runtime)
#undef QUERN_OMP_RUNTIME_LOOP

#define QUERN_OMP_ORDERED_LOOP(NAME, KIND)                                                      \
    QUERN_OMP_ENTRY bool GOMP_loop_ordered_##NAME##_start(long first, long end, long step,      \
                                                          long chunk, long* from, long* to) {   \
        return start_ordered(loop_of(first, end, step, {schedule_kind::KIND, as_chunk(chunk)}), \
                             from, to);                                                         \
    }                                                                                           \
    QUERN_OMP_ENTRY bool GOMP_loop_ordered_##NAME##_next(long* from, long* to) {                \
        return next_ordered(from, to);                                                          \
    }                                                                                           \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_ordered_##NAME##_start(                                  \
        bool up, ull first, ull end, ull step, ull chunk, ull* from, ull* to) {                 \
        return start_ordered(loop_of(up, first, end, step, {schedule_kind::KIND, chunk}), from, \
                             to);                                                               \
    }                                                                                           \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_ordered_##NAME##_next(ull* from, ull* to) {              \
        return next_ordered(from, to);                                                          \
    }

QUERN_OMP_ORDERED_LOOP(static, fixed)
QUERN_OMP_ORDERED_LOOP(dynamic, dynamic)
QUERN_OMP_ORDERED_LOOP(guided, guided)
#undef QUERN_OMP_ORDERED_LOOP

QUERN_OMP_ENTRY bool GOMP_loop_ordered_runtime_start(long first, long end, long step, long* from,
                                                     long* to) {
    return start_ordered(loop_of(first, end, step, schedule_at_runtime()), from, to);
}
QUERN_OMP_ENTRY bool GOMP_loop_ordered_runtime_next(long* from, long* to) {
    return next_ordered(from, to);
}
QUERN_OMP_ENTRY bool GOMP_loop_ull_ordered_runtime_start(bool up, ull first, ull end, ull step,
                                                         ull* from, ull* to) {
    return start_ordered(loop_of(up, first, end, step, schedule_at_runtime()), from, to);
}
QUERN_OMP_ENTRY bool GOMP_loop_ull_ordered_runtime_next(ull* from, ull* to) {
    return next_ordered(from, to);
}

QUERN_OMP_ENTRY void GOMP_ordered_start() { begin_ordered(this_member()); }
QUERN_OMP_ENTRY void GOMP_ordered_end() {}  // the turn passes with the chunk

QUERN_OMP_ENTRY void GOMP_loop_end() {
    member& here = this_member();
    leave_share(here);
    wait_at_barrier(here);
}
QUERN_OMP_ENTRY void GOMP_loop_end_nowait() { leave_share(this_member()); }

#define QUERN_OMP_PARALLEL_LOOP(NAME, KIND)                                                \
    QUERN_OMP_ENTRY void GOMP_parallel_loop_##NAME(void (*body)(void*), void* data,        \
                                                   unsigned threads, long first, long end, \
                                                   long step, long chunk, unsigned) {      \
        const first_share loop =                                                           \
            loop_of(first, end, step, {schedule_kind::KIND, as_chunk(chunk)});             \
        run_region(body, data, threads, &loop);                                            \
    }

QUERN_OMP_PARALLEL_LOOP(static, fixed)
QUERN_OMP_PARALLEL_LOOP(dynamic, dynamic)
QUERN_OMP_PARALLEL_LOOP(guided, guided)
QUERN_OMP_PARALLEL_LOOP(nonmonotonic_dynamic, dynamic)
QUERN_OMP_PARALLEL_LOOP(nonmonotonic_guided, guided)
#undef QUERN_OMP_PARALLEL_LOOP

#define QUERN_OMP_PARALLEL_RUNTIME_LOOP(NAME)                                              \
    QUERN_OMP_ENTRY void GOMP_parallel_loop_##NAME(void (*body)(void*), void* data,        \
                                                   unsigned threads, long first, long end, \
                                                   long step, unsigned) {                  \
        const first_share loop = loop_of(first, end, step, schedule_at_runtime());         \
        run_region(body, data, threads, &loop);                                            \
    }

QUERN_OMP_PARALLEL_RUNTIME_LOOP(runtime)
QUERN_OMP_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime)
QUERN_OMP_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime)
#undef QUERN_OMP_PARALLEL_RUNTIME_LOOP

// NOLINTEND(readability-identifier-naming)
