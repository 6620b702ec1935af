// SPDX-License-Identifier: BSL-1.0
// omp_lock_t: gcc and gfortran have four bytes for it, clang has eight. omp_nest_lock_t, a lock, a
// count, and the task that holds it, lies elsewhere: clang and gfortran have room for a pointer.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "core/locks.hpp"
#include "core/team.hpp"

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

void set_nested(nest_lock& one) noexcept {
    if (enter_again(one) == 0) {
        one.lock.lock();
        entered_first(one);
    }
}

int test_nested(nest_lock& one) noexcept {
    const int again = enter_again(one);
    return again != 0 ? again : one.lock.try_lock() ? entered_first(one) : 0;
}

void unset_nested(nest_lock& one) noexcept {
    if (__atomic_load_n(&one.holder, __ATOMIC_RELAXED) != this_member().current) {
        fatal("omp_unset_nest_lock(%p) by a task that does not hold it", static_cast<void*>(&one));
    }
    if (--one.count == 0) {
        __atomic_store_n(&one.holder, nullptr, __ATOMIC_RELAXED);
        one.lock.unlock();
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

QUERN_OMP_ENTRY void omp_init_lock(word_lock* one) { one->reset(); }
QUERN_OMP_ENTRY void omp_destroy_lock(word_lock* one) { destroy(*one); }
QUERN_OMP_ENTRY void omp_set_lock(word_lock* one) { one->lock(); }
QUERN_OMP_ENTRY void omp_unset_lock(word_lock* one) { unset(*one); }
QUERN_OMP_ENTRY int omp_test_lock(word_lock* one) { return one->try_lock() ? 1 : 0; }
QUERN_OMP_ENTRY void omp_init_lock_(word_lock* one) { one->reset(); }
QUERN_OMP_ENTRY void omp_destroy_lock_(word_lock* one) { destroy(*one); }
QUERN_OMP_ENTRY void omp_set_lock_(word_lock* one) { one->lock(); }
QUERN_OMP_ENTRY void omp_unset_lock_(word_lock* one) { unset(*one); }
QUERN_OMP_ENTRY f_int omp_test_lock_(word_lock* one) { return one->try_lock() ? 1 : 0; }

// A nested lock is behind a pointer in all languages: clang's variable has eight bytes.
#define QUERN_OMP_NEST_LOCK(SUFFIX)                                      \
    QUERN_OMP_ENTRY void omp_init_nest_lock##SUFFIX(void* variable) {    \
        *static_cast<nest_lock**>(variable) = new nest_lock();           \
    }                                                                    \
    QUERN_OMP_ENTRY void omp_destroy_nest_lock##SUFFIX(void* variable) { \
        destroy(behind(variable).lock);                                  \
        delete &behind(variable);                                        \
    }                                                                    \
    QUERN_OMP_ENTRY void omp_set_nest_lock##SUFFIX(void* variable) {     \
        set_nested(behind(variable));                                    \
    }                                                                    \
    QUERN_OMP_ENTRY void omp_unset_nest_lock##SUFFIX(void* variable) {   \
        unset_nested(behind(variable));                                  \
    }                                                                    \
    QUERN_OMP_ENTRY int omp_test_nest_lock##SUFFIX(void* variable) {     \
        return test_nested(behind(variable));                            \
    }
QUERN_OMP_NEST_LOCK()
QUERN_OMP_NEST_LOCK(_)
#undef QUERN_OMP_NEST_LOCK

// NOLINTEND(readability-identifier-naming)
