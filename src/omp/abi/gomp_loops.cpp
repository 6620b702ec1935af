// SPDX-License-Identifier: BSL-1.0
// gcc's entry points for loops: for each schedule a start, a next, and a region that begins with
// it; for long, for unsigned long long, and with ordered regions.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/gomp_loops.hpp"
#include "abi/exported.hpp"
#include "core/shares.hpp"
#include "core/team.hpp"
#include "tools/tools.hpp"

#include <cstdint>

using namespace quern::omp;

namespace {

using quern::omp::schedule_kind;
using ull = unsigned long long;

template <class T>
bool start(const first_share& loop, T* from, T* to) noexcept {
    enter_share(this_member(), loop);
    tools::work_begins(tools::construct::loop, loop.count, nullptr);
    return next_values(from, to);
}

template <class T>
bool start_ordered(const first_share& loop, T* from, T* to) noexcept {
    enter_share(this_member(), loop);
    tools::work_begins(tools::construct::loop, loop.count, nullptr);
    return next_ordered_values(from, to);
}

}  // namespace

// A schedule with a chunk: NAME is gcc's name, KIND ours; ORDER: whether it is kept.
#define QUERN_OMP_LOOP(NAME, KIND, ORDER)                                                      \
    QUERN_OMP_ENTRY bool GOMP_loop_##NAME##_start(long first, long end, long step, long chunk, \
                                                  long* from, long* to) {                      \
        return start(loop_of(first, end, step, {schedule_kind::KIND, as_chunk(chunk), ORDER}), \
                     from, to);                                                                \
    }                                                                                          \
    QUERN_OMP_ENTRY bool GOMP_loop_##NAME##_next(long* from, long* to) {                       \
        return next_values(from, to);                                                          \
    }                                                                                          \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_##NAME##_start(bool up, ull first, ull end, ull step,   \
                                                      ull chunk, ull* from, ull* to) {         \
        return start(loop_of(up, first, end, step, {schedule_kind::KIND, chunk, ORDER}), from, \
                     to);                                                                      \
    }                                                                                          \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_##NAME##_next(ull* from, ull* to) {                     \
        return next_values(from, to);                                                          \
    }

QUERN_OMP_LOOP(static, fixed, true)
QUERN_OMP_LOOP(dynamic, dynamic, true)
QUERN_OMP_LOOP(guided, guided, true)
QUERN_OMP_LOOP(nonmonotonic_dynamic, dynamic, false)
QUERN_OMP_LOOP(nonmonotonic_guided, guided, false)
#undef QUERN_OMP_LOOP

#define QUERN_OMP_RUNTIME_LOOP(NAME, ORDER)                                                    \
    QUERN_OMP_ENTRY bool GOMP_loop_##NAME##_start(long first, long end, long step, long* from, \
                                                  long* to) {                                  \
        return start(loop_of(first, end, step, schedule_at_runtime(ORDER)), from, to);         \
    }                                                                                          \
    QUERN_OMP_ENTRY bool GOMP_loop_##NAME##_next(long* from, long* to) {                       \
        return next_values(from, to);                                                          \
    }                                                                                          \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_##NAME##_start(bool up, ull first, ull end, ull step,   \
                                                      ull* from, ull* to) {                    \
        return start(loop_of(up, first, end, step, schedule_at_runtime(ORDER)), from, to);     \
    }                                                                                          \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_##NAME##_next(ull* from, ull* to) {                     \
        return next_values(from, to);                                                          \
    }

QUERN_OMP_RUNTIME_LOOP(runtime, true)
QUERN_OMP_RUNTIME_LOOP(nonmonotonic_runtime, false)
QUERN_OMP_RUNTIME_LOOP(maybe_nonmonotonic_runtime, false)
#undef QUERN_OMP_RUNTIME_LOOP

#define QUERN_OMP_ORDERED_LOOP(NAME, KIND)                                                      \
    QUERN_OMP_ENTRY bool GOMP_loop_ordered_##NAME##_start(long first, long end, long step,      \
                                                          long chunk, long* from, long* to) {   \
        return start_ordered(loop_of(first, end, step, {schedule_kind::KIND, as_chunk(chunk)}), \
                             from, to);                                                         \
    }                                                                                           \
    QUERN_OMP_ENTRY bool GOMP_loop_ordered_##NAME##_next(long* from, long* to) {                \
        return next_ordered_values(from, to);                                                   \
    }                                                                                           \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_ordered_##NAME##_start(                                  \
        bool up, ull first, ull end, ull step, ull chunk, ull* from, ull* to) {                 \
        return start_ordered(loop_of(up, first, end, step, {schedule_kind::KIND, chunk}), from, \
                             to);                                                               \
    }                                                                                           \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_ordered_##NAME##_next(ull* from, ull* to) {              \
        return next_ordered_values(from, to);                                                   \
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
    return next_ordered_values(from, to);
}
QUERN_OMP_ENTRY bool GOMP_loop_ull_ordered_runtime_start(bool up, ull first, ull end, ull step,
                                                         ull* from, ull* to) {
    return start_ordered(loop_of(up, first, end, step, schedule_at_runtime()), from, to);
}
QUERN_OMP_ENTRY bool GOMP_loop_ull_ordered_runtime_next(ull* from, ull* to) {
    return next_ordered_values(from, to);
}

QUERN_OMP_ENTRY void GOMP_ordered_start() {
    member& here = this_member();
    tools::acquire(tools::mutex::ordered, here.sharing, __builtin_return_address(0),
                   [&here] { begin_ordered(here); });
}
// The turn passes with the chunk.
QUERN_OMP_ENTRY void GOMP_ordered_end() {
    tools::release(tools::mutex::ordered, this_member().sharing, __builtin_return_address(0),
                   [] {});
}

QUERN_OMP_ENTRY void GOMP_loop_end() {
    member& here = this_member();
    leave_share(here);
    const tools::sync_scope told(tools::sync::barrier_workshare);
    wait_at_barrier(here);
}
QUERN_OMP_ENTRY void GOMP_loop_end_nowait() {
    leave_share(this_member());
    tools::work_ends(__builtin_return_address(0));
}

#define QUERN_OMP_PARALLEL_LOOP(NAME, KIND, ORDER)                                         \
    QUERN_OMP_ENTRY void GOMP_parallel_loop_##NAME(void (*body)(void*), void* data,        \
                                                   unsigned threads, long first, long end, \
                                                   long step, long chunk, unsigned) {      \
        const first_share loop =                                                           \
            loop_of(first, end, step, {schedule_kind::KIND, as_chunk(chunk), ORDER});      \
        run_region(body, data, threads, &loop);                                            \
    }

QUERN_OMP_PARALLEL_LOOP(static, fixed, true)
QUERN_OMP_PARALLEL_LOOP(dynamic, dynamic, true)
QUERN_OMP_PARALLEL_LOOP(guided, guided, true)
QUERN_OMP_PARALLEL_LOOP(nonmonotonic_dynamic, dynamic, false)
QUERN_OMP_PARALLEL_LOOP(nonmonotonic_guided, guided, false)
#undef QUERN_OMP_PARALLEL_LOOP

#define QUERN_OMP_PARALLEL_RUNTIME_LOOP(NAME, ORDER)                                       \
    QUERN_OMP_ENTRY void GOMP_parallel_loop_##NAME(void (*body)(void*), void* data,        \
                                                   unsigned threads, long first, long end, \
                                                   long step, unsigned) {                  \
        const first_share loop = loop_of(first, end, step, schedule_at_runtime(ORDER));    \
        run_region(body, data, threads, &loop);                                            \
    }

QUERN_OMP_PARALLEL_RUNTIME_LOOP(runtime, true)
QUERN_OMP_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime, false)
QUERN_OMP_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime, false)
#undef QUERN_OMP_PARALLEL_RUNTIME_LOOP

// NOLINTEND(readability-identifier-naming)
