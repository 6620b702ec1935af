// SPDX-License-Identifier: BSL-1.0
// The entry points that gcc's compiled code calls, and what such code does with them, for any
// callable: regions, tasks, taskgroups. The tests that use them are compiled without -fopenmp, so
// that sanitizers see all that runs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
void GOMP_parallel_sections(void (*body)(void*), void* data, unsigned threads, unsigned count,
                            unsigned flags);
void GOMP_barrier();
bool GOMP_barrier_cancel();
bool GOMP_single_start();
void* GOMP_single_copy_start();
void GOMP_single_copy_end(void* data);
unsigned GOMP_sections_next();
void GOMP_sections_end();
void GOMP_critical_start();
void GOMP_critical_end();
void GOMP_critical_name_start(void** place);
void GOMP_critical_name_end(void** place);
void GOMP_task(void (*body)(void*), void* data, void (*copy)(void*, void*), long size,
               long alignment, bool is_deferred, unsigned flags, void** depend, int priority,
               void* detach);
void GOMP_taskwait();
void GOMP_taskwait_depend(void** depend);
void GOMP_taskyield();
void GOMP_taskgroup_start();
void GOMP_taskgroup_end();
void GOMP_taskgroup_reduction_register(std::uintptr_t* descriptor);
void GOMP_taskgroup_reduction_unregister(std::uintptr_t* descriptor);
void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void** addresses);
void GOMP_taskloop(void (*body)(void*), void* data, void (*copy)(void*, void*), long size,
                   long alignment, unsigned flags, unsigned long num_tasks, int priority,
                   long start, long end, long step);
bool GOMP_cancel(int part, bool condition);
bool GOMP_cancellation_point(int part);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_level();
void omp_set_max_active_levels(int levels);
int omp_get_cancellation();
void omp_fulfill_event(void* event);
void omp_init_lock(void* lock);
void omp_set_lock(void* lock);
int omp_test_lock(void* lock);
void omp_unset_lock(void* lock);
void omp_init_nest_lock(void* lock);
void omp_set_nest_lock(void* lock);
void omp_unset_nest_lock(void* lock);
void omp_destroy_nest_lock(void* lock);
}
// NOLINTEND(readability-identifier-naming)

namespace quern_test::openmp {

inline constexpr unsigned k_final_flag = 2;
inline constexpr unsigned k_depend_flag = 8;
inline constexpr unsigned k_detach_flag = 8192;

/// A test with the number of members as its parameter.
class with_members : public testing::TestWithParam<unsigned> {
protected:
    static unsigned members() { return GetParam(); }
};
inline std::string members_as_name(const testing::TestParamInfo<unsigned>& of) {
    return std::to_string(of.param) + "_members";
}
#define QUERN_WITH_1_2_8_MEMBERS(SUITE) \
    INSTANTIATE_TEST_SUITE_P(sizes, SUITE, testing::Values(1, 2, 8), members_as_name)

/// A region: each member calls `body()`.
template <class Body>
void region(unsigned members, Body&& body) {
    GOMP_parallel([](void* data) { (*static_cast<std::remove_reference_t<Body>*>(data))(); },
                  const_cast<void*>(static_cast<const void*>(&body)), members, 0);
}

/// A region in which one member calls `body()`.
template <class Body>
void single_in_region(unsigned members, Body&& body) {
    region(members, [&body] {
        if (GOMP_single_start()) {
            body();
        }
        GOMP_barrier();
    });
}

/// What a task depends on, in the form that gcc writes down.
class depends {
public:
    depends(std::initializer_list<const void*> writes, std::initializer_list<const void*> reads) {
        m_words.push_back(number(writes.size() + reads.size()));
        m_words.push_back(number(writes.size()));
        for (const auto& part : {writes, reads}) {
            for (const void* const each : part) {
                m_words.push_back(const_cast<void*>(each));
            }
        }
    }
    depends(const std::vector<const void*>& writes, const std::vector<const void*>& reads) {
        m_words.push_back(number(writes.size() + reads.size()));
        m_words.push_back(number(writes.size()));
        for (const auto* part : {&writes, &reads}) {
            for (const void* const each : *part) {
                m_words.push_back(const_cast<void*>(each));
            }
        }
    }
    void** words() { return m_words.data(); }

private:
    static void* number(std::size_t n) { return reinterpret_cast<void*>(n); }
    std::vector<void*> m_words;
};

/// What may be said at a task.
struct clauses {
    bool is_deferred = true;
    bool is_final = false;
    depends* on = nullptr;
    void** event = nullptr;  ///< detach: takes the event, which is also the body's first word
};

/// A task that calls a copy of `body`, as code of gcc makes it.
template <class Body>
void spawn(Body body, const clauses& with = {}) {
    using copy_function = void (*)(void*, void*);
    const auto run = [](void* data) {
        Body& own = *static_cast<Body*>(data);
        own();
        own.~Body();
    };
    copy_function copy = nullptr;
    if constexpr (!std::is_trivially_copyable_v<Body>) {
        copy = [](void* into, void* from) { ::new (into) Body(*static_cast<Body*>(from)); };
    }
    const unsigned flags = (with.is_final ? k_final_flag : 0U) |
                           (with.on != nullptr ? k_depend_flag : 0U) |
                           (with.event != nullptr ? k_detach_flag : 0U);
    GOMP_task(run, &body, copy, sizeof(Body), alignof(Body), with.is_deferred, flags,
              with.on != nullptr ? with.on->words() : nullptr, 0, with.event);
}

/// Tasks made in `body()`, and their descendants, have ended when this returns.
template <class Body>
void task_group(Body&& body) {
    GOMP_taskgroup_start();
    body();
    GOMP_taskgroup_end();
}

}  // namespace quern_test::openmp
