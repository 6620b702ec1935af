// SPDX-License-Identifier: BSL-1.0
// omp_lock_t: gcc and gfortran have four bytes for it, clang has eight. omp_nest_lock_t, a lock, a
// count, and the task that holds it, lies elsewhere: clang and gfortran have room for a pointer.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "core/locks.hpp"
#include "core/team.hpp"
#include "tools/tools.hpp"

#include <cstdint>

using namespace quern::omp;

namespace {

using f_int = std::int32_t;

struct nest_lock {
    quern::omp::word_lock lock;
    std::int32_t count;
    quern::omp::task* holder;
};

int enter_again(nest_lock& one) noexcept {
    return __atomic_load_n(&one.holder, __ATOMIC_RELAXED) == this_member().current ? ++one.count
                                                                                   : 0;
}

int entered_first(nest_lock& one) noexcept {
    __atomic_store_n(&one.holder, this_member().current, __ATOMIC_RELAXED);
    one.count = 1;
    return 1;
}

void tell_again(nest_lock& one, int endpoint, const void* caller) noexcept {
    if (tools::is_active()) [[unlikely]] {
        tools::tell_nested(&one, endpoint, caller);
    }
}

void set_nested(nest_lock& one, const void* caller) noexcept {
    if (enter_again(one) != 0) {
        tell_again(one, tools::k_begin, caller);
        return;
    }
    tools::acquire(tools::mutex::nest_lock, &one, caller, [&one] { one.lock.lock(); });
    entered_first(one);
}

/// `lock.try_lock()` between the events of a lock that is tried.
bool told_try(word_lock& lock, const void* caller, const void* which = nullptr) noexcept {
    const bool told = tools::is_active();
    const auto kind = which != nullptr ? tools::mutex::nest_lock : tools::mutex::lock;
    const void* const named = which != nullptr ? which : &lock;
    if (told) [[unlikely]] {
        tools::tell_acquire(kind, named, caller, true);
    }
    const bool is_taken = lock.try_lock();
    if (told && is_taken) [[unlikely]] {
        tools::tell_acquired(kind, named, caller, true);
    }
    return is_taken;
}

int test_nested(nest_lock& one, const void* caller) noexcept {
    const int again = enter_again(one);
    if (again != 0) {
        tell_again(one, tools::k_begin, caller);
        return again;
    }
    return told_try(one.lock, caller, &one) ? entered_first(one) : 0;
}

void unset_nested(nest_lock& one, const void* caller) noexcept {
    if (__atomic_load_n(&one.holder, __ATOMIC_RELAXED) != this_member().current) {
        fatal("omp_unset_nest_lock(%p) by a task that does not hold it", static_cast<void*>(&one));
    }
    if (--one.count != 0) {
        tell_again(one, tools::k_end, caller);
        return;
    }
    __atomic_store_n(&one.holder, nullptr, __ATOMIC_RELAXED);
    tools::release(tools::mutex::nest_lock, &one, caller, [&one] { one.lock.unlock(); });
}

/// A program may make a lock before anything else of OpenMP: the tool begins then.
void told_init(tools::mutex kind, const void* which, const void* caller) noexcept {
    this_member();
    if (tools::is_active()) [[unlikely]] {
        tools::tell_lock_init(kind, which, caller);
    }
}

void told_destroy(tools::mutex kind, const void* which, const void* caller) noexcept {
    if (tools::is_active()) [[unlikely]] {
        tools::tell_lock_destroy(kind, which, caller);
    }
}

void unset(word_lock& one) noexcept {
    if (!one.is_held()) {
        fatal("omp_unset_lock(%p) of a lock that is not set", static_cast<void*>(&one));
    }
    one.unlock();
}

void destroy(word_lock& one) noexcept {
    if (one.is_held()) {
        fatal("omp_destroy_lock(%p) of a lock that is set", static_cast<void*>(&one));
    }
}

nest_lock& behind(void* variable) noexcept { return **static_cast<nest_lock**>(variable); }

}  // namespace

// For C, and for Fortran: the same names with a line below.
#define QUERN_OMP_LOCK(SUFFIX, INT)                                          \
    QUERN_OMP_ENTRY void omp_init_lock##SUFFIX(word_lock* one) {             \
        one->reset();                                                        \
        told_init(tools::mutex::lock, one, __builtin_return_address(0));     \
    }                                                                        \
    QUERN_OMP_ENTRY void omp_destroy_lock##SUFFIX(word_lock* one) {          \
        destroy(*one);                                                       \
        told_destroy(tools::mutex::lock, one, __builtin_return_address(0));  \
    }                                                                        \
    QUERN_OMP_ENTRY void omp_set_lock##SUFFIX(word_lock* one) {              \
        tools::acquire(tools::mutex::lock, one, __builtin_return_address(0), \
                       [one] { one->lock(); });                              \
    }                                                                        \
    QUERN_OMP_ENTRY void omp_unset_lock##SUFFIX(word_lock* one) {            \
        tools::release(tools::mutex::lock, one, __builtin_return_address(0), \
                       [one] { unset(*one); });                              \
    }                                                                        \
    QUERN_OMP_ENTRY INT omp_test_lock##SUFFIX(word_lock* one) {              \
        return told_try(*one, __builtin_return_address(0)) ? 1 : 0;          \
    }
QUERN_OMP_LOCK(, int)
QUERN_OMP_LOCK(_, f_int)
#undef QUERN_OMP_LOCK

// A nested lock is behind a pointer in all languages: clang's variable has eight bytes.
#define QUERN_OMP_NEST_LOCK(SUFFIX)                                                            \
    QUERN_OMP_ENTRY void omp_init_nest_lock##SUFFIX(void* variable) {                          \
        *static_cast<nest_lock**>(variable) = new nest_lock();                                 \
        told_init(tools::mutex::nest_lock, &behind(variable), __builtin_return_address(0));    \
    }                                                                                          \
    QUERN_OMP_ENTRY void omp_destroy_nest_lock##SUFFIX(void* variable) {                       \
        destroy(behind(variable).lock);                                                        \
        told_destroy(tools::mutex::nest_lock, &behind(variable), __builtin_return_address(0)); \
        delete &behind(variable);                                                              \
    }                                                                                          \
    QUERN_OMP_ENTRY void omp_set_nest_lock##SUFFIX(void* variable) {                           \
        set_nested(behind(variable), __builtin_return_address(0));                             \
    }                                                                                          \
    QUERN_OMP_ENTRY void omp_unset_nest_lock##SUFFIX(void* variable) {                         \
        unset_nested(behind(variable), __builtin_return_address(0));                           \
    }                                                                                          \
    QUERN_OMP_ENTRY int omp_test_nest_lock##SUFFIX(void* variable) {                           \
        return test_nested(behind(variable), __builtin_return_address(0));                     \
    }
QUERN_OMP_NEST_LOCK()
QUERN_OMP_NEST_LOCK(_)
#undef QUERN_OMP_NEST_LOCK

// NOLINTEND(readability-identifier-naming)
