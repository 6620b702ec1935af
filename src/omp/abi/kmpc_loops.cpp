// SPDX-License-Identifier: BSL-1.0
// clang's entry points for loops. Bounds are inclusive, and each of four types of loop variable has
// its functions.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/kmpc.hpp"
#include "abi/league.hpp"
#include "core/shares.hpp"
#include "tools/tools.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

using namespace quern::omp;

namespace {

using quern::omp::schedule_kind;

/// Schedules as the compiled code numbers them, after bare_schedule().
enum : std::int32_t {
    k_fixed_chunks = 33,
    k_fixed = 34,
    k_dynamic = 35,
    k_guided = 36,
    k_runtime = 37,
    k_automatic = 38,
    k_trapezoidal = 39,
    k_fixed_greedy = 40,
    k_fixed_balanced = 41,
    k_fixed_steal = 44,
    k_fixed_multiples = 45,  ///< each member has one range, whose length is a multiple of the chunk
    k_guided_simd = 46,
    k_runtime_simd = 47,
    k_first_ordered = 64,
    k_distribute_chunks = 91,
    k_distribute = 92,
    k_first_unmerged = 160,
};

/// Without the bits of monotonic and nonmonotonic, and that of loops with ordered regions.
std::int32_t bare_schedule(std::int32_t schedule) noexcept {
    constexpr std::int32_t k_modifiers = 3 << 29;
    schedule &= ~k_modifiers;
    if (schedule >= k_first_unmerged) {
        schedule -= k_first_unmerged - 32;
    }
    return schedule >= k_first_ordered && schedule < k_distribute_chunks ? schedule - 32 : schedule;
}

bool is_ordered(std::int32_t schedule) noexcept {
    return bare_schedule(schedule) != (schedule & ~(3 << 29));
}

/// How many iterations a loop has; both bounds belong to it.
template <class T>
std::uint64_t count_of(T first, T last, std::make_signed_t<T> step) noexcept {
    using wide = std::make_unsigned_t<T>;
    if (step > 0) {
        return first > last
                   ? 0
                   : static_cast<std::uint64_t>(
                         static_cast<wide>(static_cast<wide>(last) - static_cast<wide>(first)) /
                         static_cast<wide>(step)) +
                         1;
    }
    return first < last
               ? 0
               : static_cast<std::uint64_t>(
                     static_cast<wide>(static_cast<wide>(first) - static_cast<wide>(last)) /
                     static_cast<wide>(wide{0} - static_cast<wide>(step))) +
                     1;
}

/// A range of iterations of a member, and how far it is from there to its next one.
struct part {
    std::uint64_t from;
    std::uint64_t to;
    std::uint64_t stride;
    bool is_last;
};

part part_of(const member& here, std::int32_t schedule, std::uint64_t count,
             std::uint64_t chunk) noexcept {
    const bool is_of_league = schedule == k_distribute || schedule == k_distribute_chunks;
    const std::uint64_t size = is_of_league ? root_team().league_size : here.of->size;
    const std::uint64_t number = is_of_league ? root_team().league_number : here.number;
    chunk = std::max<std::uint64_t>(chunk, 1);
    if (schedule == k_fixed_chunks || schedule == k_distribute_chunks) {
        const std::uint64_t from = number * chunk;
        return {from, from + chunk, chunk * size, (count - 1) / chunk % size == number};
    }
    if (schedule == k_fixed_multiples) {
        const std::uint64_t each = ((count + size - 1) / size + chunk - 1) / chunk * chunk;
        const std::uint64_t from = std::min(count, number * each);
        const std::uint64_t to = std::min(count, from + each);
        return {from, to, count, from < to && to == count};
    }
    const std::uint64_t each = count / size;
    const std::uint64_t more = count % size;
    const std::uint64_t from = number * each + std::min(number, more);
    const std::uint64_t to = from + each + (number < more ? 1 : 0);
    return {from, to, count, from < to && to == count};
}

void tell_static_begins(std::int32_t schedule, std::uint64_t count) noexcept {
    const bool is_of_league = schedule == k_distribute || schedule == k_distribute_chunks;
    tools::work_begins(is_of_league ? tools::construct::distribute : tools::construct::loop, count,
                       nullptr);
}

template <class T>
void init_static(std::int32_t schedule, std::int32_t* is_last, T* first, T* last,
                 std::make_signed_t<T>* stride, std::make_signed_t<T> step,
                 std::make_signed_t<T> chunk) noexcept {
    const member& here = this_member();
    const std::uint64_t count = count_of<T>(*first, *last, step);
    const auto wide_step = static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
    schedule = bare_schedule(schedule);
    tell_static_begins(schedule, count);
    if (count == 0) {
        *is_last = 0;
        *stride = step;
        return;
    }
    const bool is_of_league = schedule == k_distribute || schedule == k_distribute_chunks;
    if (is_of_league ? root_team().league_size == 1 : here.of->size == 1) {
        *is_last = 1;
        *stride = static_cast<std::make_signed_t<T>>(count * wide_step);
        return;
    }
    const part mine = part_of(here, schedule, count, static_cast<std::uint64_t>(chunk));
    const auto start = static_cast<std::uint64_t>(*first);
    *is_last = mine.is_last ? 1 : 0;
    *first = static_cast<T>(start + mine.from * wide_step);
    *last = static_cast<T>(start + mine.to * wide_step - wide_step);
    *stride = static_cast<std::make_signed_t<T>>(mine.stride * wide_step);
}

struct chosen {
    schedule_kind kind;
    std::uint64_t chunk;
    bool keeps_order = true;
    std::uint64_t multiple = 1;
};

constexpr std::int32_t k_monotonic = 1 << 29;
constexpr std::int32_t k_nonmonotonic = 1 << 30;

/// Chunks are multiples of `width` iterations, which run at once.
chosen simd_at_runtime(std::uint64_t width) noexcept {
    const control_values& values = *this_member().current->values;
    const std::uint64_t chunk = static_cast<std::uint64_t>(values.chunk) * width;
    switch (values.schedule) {
        case schedule_kind::dynamic:
        case schedule_kind::guided:
            return {values.schedule, chunk, true, width};
        default:
            return {schedule_kind::fixed, chunk, true, width};
    }
}

chosen schedule_of(std::int32_t schedule, std::int64_t chunk, bool ordered) noexcept {
    const std::uint64_t size = chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0;
    switch (bare_schedule(schedule)) {
        case k_fixed_chunks:
        case k_fixed_multiples:
            return {schedule_kind::fixed, std::max<std::uint64_t>(size, 1)};
        case k_dynamic:
            return {schedule_kind::dynamic, size, ordered || (schedule & k_nonmonotonic) == 0};
        case k_fixed_steal:
            return {schedule_kind::dynamic, size, ordered};
        case k_guided:
        case k_trapezoidal:
            return {schedule_kind::guided, size};
        case k_guided_simd:
            return {schedule_kind::guided, size, true, size};
        case k_runtime_simd:
            return simd_at_runtime(std::max<std::uint64_t>(size, 1));
        case k_runtime: {
            const control_values& values = *this_member().current->values;
            if (values.schedule == schedule_kind::automatic) {
                return {schedule_kind::fixed, 0};
            }
            return {values.schedule, static_cast<std::uint64_t>(values.chunk),
                    ordered || values.is_monotonic || (schedule & k_monotonic) != 0};
        }
        case k_fixed:
        case k_automatic:
        case k_fixed_greedy:
        case k_fixed_balanced:
            return {schedule_kind::fixed, 0};
        default:
            break;
    }
    fatal(
        "a loop%s of clang with the schedule %d, which is not known; accepted are 33 to 47 and "
        "65 to 70",
        ordered ? " with ordered regions" : "", schedule);
}

template <class T>
void init_dispatch(std::int32_t schedule, T first, T last, std::make_signed_t<T> step,
                   std::make_signed_t<T> chunk) noexcept {
    const bool ordered = is_ordered(schedule);
    const chosen by = schedule_of(schedule, chunk, ordered);
    const auto wide_step = static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
    first_share loop;
    loop.schedule = by.kind;
    loop.start = static_cast<std::uint64_t>(first);
    loop.step = wide_step;
    loop.count = count_of<T>(first, last, step);
    loop.end = loop.start + loop.count * wide_step;
    loop.chunk = by.chunk;
    loop.keeps_order = by.keeps_order;
    loop.multiple = by.multiple;
    member& here = this_member();
    if (by.kind == schedule_kind::fixed && by.chunk == 0 && by.multiple > 1 && loop.count != 0) {
        const std::uint64_t each = (loop.count - 1) / here.of->size + 1;
        loop.chunk = ((each - 1) / by.multiple + 1) * by.multiple;
    }
    enter_share(here, loop);
    tools::work_begins(tools::construct::loop, loop.count, nullptr);
    here.has_ordered = ordered;
}

template <class T>
std::int32_t next_dispatch(std::int32_t* is_last, T* first, T* last,
                           std::make_signed_t<T>* step) noexcept {
    member& here = this_member();
    if (here.sharing == nullptr) {
        tools::work_ends(nullptr);
        return 0;
    }
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    const bool is_one =
        here.has_ordered ? next_ordered_chunk(here, from, to) : next_chunk(here, from, to);
    if (!is_one) {
        leave_share(here);
        tools::work_ends(nullptr);
        return 0;
    }
    const share& one = *here.sharing;
    *first = static_cast<T>(from);
    *last = static_cast<T>(to - one.step);
    if (step != nullptr) {
        *step = static_cast<std::make_signed_t<T>>(one.step);
    }
    if (is_last != nullptr) {
        *is_last = here.last == one.count ? 1 : 0;
    }
    return 1;
}

}  // namespace

// The functions for one type of loop variable: its suffix, the type, and the same with a sign.
#define QUERN_OMP_LOOPS(SUFFIX, TYPE, SIGNED)                                                      \
    QUERN_OMP_ENTRY void __kmpc_for_static_init_##SUFFIX(                                          \
        kmpc_place*, std::int32_t, std::int32_t schedule, std::int32_t* is_last, TYPE* first,      \
        TYPE* last, SIGNED* stride, SIGNED step, SIGNED chunk) {                                   \
        init_static<TYPE>(schedule, is_last, first, last, stride, step, chunk);                    \
    }                                                                                              \
    QUERN_OMP_ENTRY void __kmpc_dispatch_init_##SUFFIX(kmpc_place*, std::int32_t,                  \
                                                       std::int32_t schedule, TYPE first,          \
                                                       TYPE last, SIGNED step, SIGNED chunk) {     \
        init_dispatch<TYPE>(schedule, first, last, step, chunk);                                   \
    }                                                                                              \
    QUERN_OMP_ENTRY std::int32_t __kmpc_dispatch_next_##SUFFIX(                                    \
        kmpc_place*, std::int32_t, std::int32_t* is_last, TYPE* first, TYPE* last, SIGNED* step) { \
        return next_dispatch<TYPE>(is_last, first, last, step);                                    \
    }                                                                                              \
    QUERN_OMP_ENTRY void __kmpc_dispatch_fini_##SUFFIX(kmpc_place*, std::int32_t) {}

QUERN_OMP_LOOPS(4, std::int32_t, std::int32_t)
QUERN_OMP_LOOPS(4u, std::uint32_t, std::int32_t)
QUERN_OMP_LOOPS(8, std::int64_t, std::int64_t)
QUERN_OMP_LOOPS(8u, std::uint64_t, std::int64_t)
#undef QUERN_OMP_LOOPS

QUERN_OMP_ENTRY void __kmpc_for_static_fini(kmpc_place*, std::int32_t) {
    tools::work_ends(__builtin_return_address(0));
}

// After the last chunk the member has left the loop already, as code of clang before 19 expects.
QUERN_OMP_ENTRY void __kmpc_dispatch_deinit(kmpc_place*, std::int32_t) {}

// The turn passes with the chunk.
QUERN_OMP_ENTRY void __kmpc_ordered(kmpc_place*, std::int32_t) {
    member& here = this_member();
    if (here.sharing != nullptr) {
        tools::acquire(tools::mutex::ordered, here.sharing, __builtin_return_address(0),
                       [&here] { begin_ordered(here); });
    }
}
QUERN_OMP_ENTRY void __kmpc_end_ordered(kmpc_place*, std::int32_t) {
    if (this_member().sharing != nullptr) {
        tools::release(tools::mutex::ordered, this_member().sharing, __builtin_return_address(0),
                       [] {});
    }
}

// NOLINTEND(readability-identifier-naming)
