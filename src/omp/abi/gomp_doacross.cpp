// SPDX-License-Identifier: BSL-1.0
// gcc's entry points for loops with ordered(n) and depend(sink), depend(source). gcc counts the
// iterations of each loop from 0.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "core/shares.hpp"
#include "core/team.hpp"
#include "core/waiting.hpp"

#include <cstdarg>
#include <cstdint>
#include <vector>

using namespace quern::omp;

namespace {

using quern::omp::schedule_kind;

template <class T>
bool start_nest(unsigned loops, const T* counts, schedule_kind kind, T chunk, T* from, T* to,
                std::uintptr_t* reductions = nullptr, void** memory = nullptr) {
    static_assert(sizeof(T) == sizeof(std::uint64_t));
    member& here = this_member();
    const std::vector<std::uint64_t> extents(counts, counts + loops);
    enter_nest(here, describe_loop(true, 0, extents[0], 1, kind, static_cast<std::uint64_t>(chunk)),
               loops, extents.data(), reductions, memory);
    if (from == nullptr) {
        return true;
    }
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const bool is_one = next_chunk(here, first, last);
    if (is_one) {
        *from = static_cast<T>(first);
        *to = static_cast<T>(last);
    }
    return is_one;
}

template <class T>
bool start_nest_at_runtime(unsigned loops, const T* counts, T* from, T* to,
                           std::uintptr_t* reductions = nullptr, void** memory = nullptr) {
    const control_values& values = *this_member().current->values;
    const bool is_automatic = values.schedule == schedule_kind::automatic;
    return start_nest<T>(loops, counts, is_automatic ? schedule_kind::fixed : values.schedule,
                         is_automatic ? 0 : static_cast<T>(values.chunk), from, to, reductions,
                         memory);
}

/// The schedule by its number: 0 is that of OMP_SCHEDULE.
template <class T>
bool start_nest_by_number(unsigned loops, const T* counts, long schedule, T chunk, T* from, T* to,
                          std::uintptr_t* reductions, void** memory) {
    constexpr long k_keeps_order = 0x80000000;
    const long number = schedule & ~k_keeps_order;
    if (number == 0) {
        return start_nest_at_runtime<T>(loops, counts, from, to, reductions, memory);
    }
    const schedule_kind kind =
        number >= 1 && number <= 3 ? static_cast<schedule_kind>(number) : schedule_kind::fixed;
    return start_nest<T>(loops, counts, kind, chunk, from, to, reductions, memory);
}

/// The marks of the loop in which the member is; null in a team of one.
iteration_marks* present_marks(const member& here) noexcept {
    return here.of->size == 1 || here.sharing == nullptr
               ? nullptr
               : here.sharing->marks.load(std::memory_order_acquire);
}

void post(const void* counts) noexcept {
    member& here = this_member();
    if (iteration_marks* const marks = present_marks(here)) {
        marks->set(static_cast<const std::uint64_t*>(counts));
        wake_sleepers(*here.of);
    }
}

void wait(std::uint64_t first, std::va_list others) {
    member& here = this_member();
    const iteration_marks* const marks = present_marks(here);
    if (marks == nullptr) {
        return;
    }
    std::vector<std::uint64_t> at{first};
    for (unsigned i = 1; i < marks->loops(); ++i) {
        at.push_back(va_arg(others, std::uint64_t));
    }
    wait_idly_until(here, [marks, &at] { return marks->is_set(at.data()); });
}

}  // namespace

using ull = unsigned long long;

#define QUERN_OMP_NEST(NAME, KIND)                                                              \
    QUERN_OMP_ENTRY bool GOMP_loop_doacross_##NAME##_start(unsigned loops, long* counts,        \
                                                           long chunk, long* from, long* to) {  \
        return start_nest<long>(loops, counts, schedule_kind::KIND, chunk, from, to);           \
    }                                                                                           \
    QUERN_OMP_ENTRY bool GOMP_loop_ull_doacross_##NAME##_start(unsigned loops, ull* counts,     \
                                                               ull chunk, ull* from, ull* to) { \
        return start_nest<ull>(loops, counts, schedule_kind::KIND, chunk, from, to);            \
    }

QUERN_OMP_NEST(static, fixed)
QUERN_OMP_NEST(dynamic, dynamic)
QUERN_OMP_NEST(guided, guided)
#undef QUERN_OMP_NEST

QUERN_OMP_ENTRY bool GOMP_loop_doacross_runtime_start(unsigned loops, long* counts, long* from,
                                                      long* to) {
    return start_nest_at_runtime(loops, counts, from, to);
}
QUERN_OMP_ENTRY bool GOMP_loop_ull_doacross_runtime_start(unsigned loops, ull* counts, ull* from,
                                                          ull* to) {
    return start_nest_at_runtime(loops, counts, from, to);
}

QUERN_OMP_ENTRY bool GOMP_loop_doacross_start(unsigned loops, long* counts, long schedule,
                                              long chunk, long* from, long* to,
                                              std::uintptr_t* reductions, void** memory) {
    return start_nest_by_number<long>(loops, counts, schedule, chunk, from, to, reductions, memory);
}
QUERN_OMP_ENTRY bool GOMP_loop_ull_doacross_start(unsigned loops, ull* counts, long schedule,
                                                  ull chunk, ull* from, ull* to,
                                                  std::uintptr_t* reductions, void** memory) {
    return start_nest_by_number<ull>(loops, counts, schedule, chunk, from, to, reductions, memory);
}

QUERN_OMP_ENTRY void GOMP_doacross_post(long* counts) { post(counts); }
QUERN_OMP_ENTRY void GOMP_doacross_ull_post(ull* counts) { post(counts); }

QUERN_OMP_ENTRY void GOMP_doacross_wait(long first, ...) {
    std::va_list others;
    va_start(others, first);
    wait(static_cast<std::uint64_t>(first), others);
    va_end(others);
}
QUERN_OMP_ENTRY void GOMP_doacross_ull_wait(ull first, ...) {
    std::va_list others;
    va_start(others, first);
    wait(first, others);
    va_end(others);
}

// NOLINTEND(readability-identifier-naming)
