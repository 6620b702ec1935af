// SPDX-License-Identifier: BSL-1.0
// Atomic operations as functions, for code of flang and icc: clang compiles them itself. One for
// each type and operation; `_cpt` returns the value before or after, `_rev` has the operands in the
// other order.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/kmpc.hpp"

#include <cstdint>
#include <cstring>

using namespace quern::omp;

namespace {

quern::omp::word_lock g_other_atomics;

template <class T>
struct change {
    T before;
    T after;
};

/// Replaces `*place` by `compute(*place)`.
template <class T, class Compute>
change<T> apply(T* place, Compute&& compute) noexcept {
    T before;
    __atomic_load(place, &before, __ATOMIC_RELAXED);
    for (;;) {
        T after = static_cast<T>(compute(before));
        if (__atomic_compare_exchange(place, &before, &after, true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED)) {
            return {before, after};
        }
    }
}

/// Calls the program's operation, `operation(result, a, b)`, on a value of a size that processors
/// know.
template <class T>
void apply_function(void* place, void* with, void (*operation)(void*, void*, void*)) noexcept {
    apply(static_cast<T*>(place), [with, operation](T value) {
        T result{};
        operation(&result, &value, with);
        return result;
    });
}

void apply_locked(void* place, void* with, void (*operation)(void*, void*, void*)) noexcept {
    g_other_atomics.lock();
    operation(place, place, with);
    g_other_atomics.unlock();
}

}  // namespace

// x is the value, y the operand.
#define QUERN_OMP_ATOMIC(NAME, T, OPERATION, RESULT)                                            \
    QUERN_OMP_ENTRY void __kmpc_atomic_##NAME##_##OPERATION(kmpc_place*, int, T* place, T y) {  \
        apply(place, [y](T x) { return RESULT; });                                              \
    }                                                                                           \
    QUERN_OMP_ENTRY T __kmpc_atomic_##NAME##_##OPERATION##_cpt(kmpc_place*, int, T* place, T y, \
                                                               int returns_new) {               \
        const change<T> made = apply(place, [y](T x) { return RESULT; });                       \
        return returns_new != 0 ? made.after : made.before;                                     \
    }
#define QUERN_OMP_ATOMIC_REVERSED(NAME, T, OPERATION, RESULT)                                  \
    QUERN_OMP_ENTRY void __kmpc_atomic_##NAME##_##OPERATION##_rev(kmpc_place*, int, T* place,  \
                                                                  T y) {                       \
        apply(place, [y](T x) { return RESULT; });                                             \
    }                                                                                          \
    QUERN_OMP_ENTRY T __kmpc_atomic_##NAME##_##OPERATION##_cpt_rev(kmpc_place*, int, T* place, \
                                                                   T y, int returns_new) {     \
        const change<T> made = apply(place, [y](T x) { return RESULT; });                      \
        return returns_new != 0 ? made.after : made.before;                                    \
    }

#define QUERN_OMP_DIVISION(NAME, T)       \
    QUERN_OMP_ATOMIC(NAME, T, div, x / y) \
    QUERN_OMP_ATOMIC_REVERSED(NAME, T, div, y / x)
#define QUERN_OMP_SHIFT_RIGHT(NAME, T)     \
    QUERN_OMP_ATOMIC(NAME, T, shr, x >> y) \
    QUERN_OMP_ATOMIC_REVERSED(NAME, T, shr, y >> x)

#define QUERN_OMP_NUMBER(NAME, T)                                                                  \
    QUERN_OMP_DIVISION(NAME, T)                                                                    \
    QUERN_OMP_ATOMIC(NAME, T, add, x + y)                                                          \
    QUERN_OMP_ATOMIC(NAME, T, sub, x - y)                                                          \
    QUERN_OMP_ATOMIC_REVERSED(NAME, T, sub, y - x)                                                 \
    QUERN_OMP_ATOMIC(NAME, T, mul, x* y)                                                           \
    QUERN_OMP_ATOMIC(NAME, T, max, x < y ? y : x)                                                  \
    QUERN_OMP_ATOMIC(NAME, T, min, y < x ? y : x)                                                  \
    QUERN_OMP_ENTRY T __kmpc_atomic_##NAME##_rd(kmpc_place*, int, T* place) {                      \
        T value;                                                                                   \
        __atomic_load(place, &value, __ATOMIC_SEQ_CST);                                            \
        return value;                                                                              \
    }                                                                                              \
    QUERN_OMP_ENTRY void __kmpc_atomic_##NAME##_wr(kmpc_place*, int, T* place, T value) {          \
        __atomic_store(place, &value, __ATOMIC_SEQ_CST);                                           \
    }                                                                                              \
    QUERN_OMP_ENTRY T __kmpc_atomic_##NAME##_swp(kmpc_place*, int, T* place, T value) {            \
        T before;                                                                                  \
        __atomic_exchange(place, &value, &before, __ATOMIC_SEQ_CST);                               \
        return before;                                                                             \
    }                                                                                              \
    QUERN_OMP_ENTRY void __kmpc_atomic_##NAME##_mul_float8(kmpc_place*, int, T* place, double y) { \
        apply(place, [y](T x) { return static_cast<double>(x) * y; });                             \
    }                                                                                              \
    QUERN_OMP_ENTRY void __kmpc_atomic_##NAME##_div_float8(kmpc_place*, int, T* place, double y) { \
        apply(place, [y](T x) { return static_cast<double>(x) / y; });                             \
    }

#define QUERN_OMP_INTEGER(NAME, T, UNSIGNED_NAME, UNSIGNED_T) \
    QUERN_OMP_NUMBER(NAME, T)                                 \
    QUERN_OMP_SHIFT_RIGHT(NAME, T)                            \
    QUERN_OMP_ATOMIC(NAME, T, shl, x << y)                    \
    QUERN_OMP_ATOMIC_REVERSED(NAME, T, shl, y << x)           \
    QUERN_OMP_ATOMIC(NAME, T, andb, x& y)                     \
    QUERN_OMP_ATOMIC(NAME, T, orb, x | y)                     \
    QUERN_OMP_ATOMIC(NAME, T, xor, x ^ y)                     \
    QUERN_OMP_ATOMIC(NAME, T, andl, x != 0 && y != 0)         \
    QUERN_OMP_ATOMIC(NAME, T, orl, x != 0 || y != 0)          \
    QUERN_OMP_ATOMIC(NAME, T, eqv, ~(x ^ y))                  \
    QUERN_OMP_ATOMIC(NAME, T, neqv, x ^ y)                    \
    QUERN_OMP_DIVISION(UNSIGNED_NAME, UNSIGNED_T)             \
    QUERN_OMP_SHIFT_RIGHT(UNSIGNED_NAME, UNSIGNED_T)

QUERN_OMP_INTEGER(fixed1, std::int8_t, fixed1u, std::uint8_t)
QUERN_OMP_INTEGER(fixed2, std::int16_t, fixed2u, std::uint16_t)
QUERN_OMP_INTEGER(fixed4, std::int32_t, fixed4u, std::uint32_t)
QUERN_OMP_INTEGER(fixed8, std::int64_t, fixed8u, std::uint64_t)
QUERN_OMP_NUMBER(float4, float)
QUERN_OMP_NUMBER(float8, double)

QUERN_OMP_ENTRY void __kmpc_atomic_float4_add_float8(kmpc_place*, int, float* place, double y) {
    apply(place, [y](float x) { return static_cast<double>(x) + y; });
}
QUERN_OMP_ENTRY void __kmpc_atomic_float4_sub_float8(kmpc_place*, int, float* place, double y) {
    apply(place, [y](float x) { return static_cast<double>(x) - y; });
}

// By size, with an operation of the program.
#define QUERN_OMP_ATOMIC_OF_SIZE(SIZE, CALL)                                             \
    QUERN_OMP_ENTRY void __kmpc_atomic_##SIZE(kmpc_place*, int, void* place, void* with, \
                                              void (*operation)(void*, void*, void*)) {  \
        CALL(place, with, operation);                                                    \
    }
QUERN_OMP_ATOMIC_OF_SIZE(1, apply_function<std::uint8_t>)
QUERN_OMP_ATOMIC_OF_SIZE(2, apply_function<std::uint16_t>)
QUERN_OMP_ATOMIC_OF_SIZE(4, apply_function<std::uint32_t>)
QUERN_OMP_ATOMIC_OF_SIZE(8, apply_function<std::uint64_t>)
QUERN_OMP_ATOMIC_OF_SIZE(10, apply_locked)
QUERN_OMP_ATOMIC_OF_SIZE(16, apply_locked)
QUERN_OMP_ATOMIC_OF_SIZE(20, apply_locked)
QUERN_OMP_ATOMIC_OF_SIZE(32, apply_locked)

QUERN_OMP_ENTRY void __kmpc_atomic_start() { g_other_atomics.lock(); }
QUERN_OMP_ENTRY void __kmpc_atomic_end() { g_other_atomics.unlock(); }

// NOLINTEND(readability-identifier-naming)
