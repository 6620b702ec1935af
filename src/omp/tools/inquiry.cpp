// SPDX-License-Identifier: BSL-1.0
// The functions that a tool gets from the library.
#include "core/settings.hpp"
#include "tools/state.hpp"

#include <array>
#include <cstring>

namespace quern::omp::tools {

namespace {

/// What is true of an event's callback, by its number; 0: there is no such event.
int promise_of(int number) noexcept {
    switch (number) {
        case events::thread_begin::number:
        case events::thread_end::number:
        case events::parallel_begin::number:
        case events::parallel_end::number:
        case events::task_create::number:
        case events::task_schedule::number:
        case events::implicit_task::number:
        case events::lock_init::number:
        case events::lock_destroy::number:
        case events::nest_lock::number:
        case events::cancel::number:
            return k_set_always;
        case events::sync_region_wait::number:
        case events::sync_region::number:
        case events::mutex_acquire::number:
        case events::mutex_acquired::number:
        case events::mutex_released::number:
        case events::dependences::number:
        case events::work::number:
        case events::masked::number:
        case events::flush::number:
        case events::reduction::number:
            return k_set_sometimes;
        default:
            return number >= 1 && number <= k_last_event ? k_set_never : k_set_error;
    }
}

int set_callback(int number, any_function callback) {
    const int promise = promise_of(number);
    if (promise != k_set_error && promise != k_set_never) {
        the_tool().callbacks[static_cast<std::size_t>(number)].store(callback,
                                                                     std::memory_order_release);
    }
    return promise;
}

int get_callback(int number, any_function* callback) {
    if (number < 1 || number > k_last_event) {
        return 0;
    }
    const any_function known =
        the_tool().callbacks[static_cast<std::size_t>(number)].load(std::memory_order_acquire);
    if (known == nullptr) {
        return 0;
    }
    *callback = known;
    return 1;
}

tool_data* get_thread_data() { return tls_thread.has_begun ? &tls_thread.data : nullptr; }

int get_parallel_info(int ancestor, tool_data** data, int* size) {
    region* of = region_of(tls_thread);
    for (; of != nullptr && ancestor > 0; --ancestor) {
        of = of->outer;
    }
    if (of == nullptr || ancestor < 0) {
        return 0;
    }
    if (data != nullptr) {
        *data = &of->data;
    }
    if (size != nullptr) {
        *size = static_cast<int>(of->size.load(std::memory_order_relaxed));
    }
    return 2;
}

int get_task_info(int ancestor, int* flags, tool_data** data, tool_frame** frame,
                  tool_data** parallel, int* thread) {
    task_record* of = tls_thread.current;
    for (; of != nullptr && ancestor > 0; --ancestor) {
        of = of->parent;
    }
    if (of == nullptr || ancestor < 0) {
        return 0;
    }
    if (flags != nullptr) {
        *flags = static_cast<int>(of->flags);
    }
    if (data != nullptr) {
        *data = &of->data;
    }
    if (frame != nullptr) {
        *frame = &of->frame;
    }
    if (parallel != nullptr) {
        *parallel = data_of(of->within);
    }
    if (thread != nullptr) {
        *thread = static_cast<int>(of->number);
    }
    return 2;
}

/// None is known.
int get_task_memory(void** at, std::size_t* size, int) {
    *at = nullptr;
    *size = 0;
    return 0;
}

int get_state(std::uint64_t* waits_for) {
    if (!tls_thread.has_begun) {
        return static_cast<int>(state::undefined);
    }
    if (waits_for != nullptr) {
        *waits_for = tls_thread.waits_for;
    }
    return static_cast<int>(tls_thread.now);
}

struct named_number {
    int number;
    const char* name;
};

/// The one after `current`, or the first one after `before_first`.
template <std::size_t N>
int next_of(const std::array<named_number, N>& all, int before_first, int current, int* next,
            const char** name) {
    std::size_t at = 0;
    if (current != before_first) {
        while (at < N && all[at].number != current) {
            ++at;
        }
        ++at;
    }
    if (at >= N) {
        return 0;
    }
    *next = all[at].number;
    *name = all[at].name;
    return 1;
}

int enumerate_states(int current, int* next, const char** name) {
    static constexpr std::array<named_number, 14> k_states{
        {{0x000, "ompt_state_work_serial"},
         {0x001, "ompt_state_work_parallel"},
         {0x002, "ompt_state_work_reduction"},
         {0x011, "ompt_state_wait_barrier_implicit_parallel"},
         {0x012, "ompt_state_wait_barrier_implicit_workshare"},
         {0x014, "ompt_state_wait_barrier_explicit"},
         {0x015, "ompt_state_wait_barrier_implementation"},
         {0x020, "ompt_state_wait_taskwait"},
         {0x021, "ompt_state_wait_taskgroup"},
         {0x041, "ompt_state_wait_lock"},
         {0x042, "ompt_state_wait_critical"},
         {0x043, "ompt_state_wait_atomic"},
         {0x044, "ompt_state_wait_ordered"},
         {0x101, "ompt_state_overhead"}}};
    return next_of(k_states, static_cast<int>(state::undefined), current, next, name);
}

int enumerate_mutex_impls(int current, int* next, const char** name) {
    static constexpr std::array<named_number, 1> k_mutexes{{{1, "a word with a futex"}}};
    return next_of(k_mutexes, 0, current, next, name);
}

int get_num_procs() { return static_cast<int>(the_settings().processors); }
int get_num_places() { return 0; }

std::uint64_t get_unique_id() {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

template <class Function>
any_function plain(Function* of) noexcept {
    return reinterpret_cast<any_function>(of);
}

}  // namespace

any_function look_up(const char* name) {
    struct entry {
        const char* name;
        any_function function;
    };
    static const entry all[] = {
        {"ompt_set_callback", plain(set_callback)},
        {"ompt_get_callback", plain(get_callback)},
        {"ompt_get_thread_data", plain(get_thread_data)},
        {"ompt_get_parallel_info", plain(get_parallel_info)},
        {"ompt_get_task_info", plain(get_task_info)},
        {"ompt_get_task_memory", plain(get_task_memory)},
        {"ompt_get_state", plain(get_state)},
        {"ompt_enumerate_states", plain(enumerate_states)},
        {"ompt_enumerate_mutex_impls", plain(enumerate_mutex_impls)},
        {"ompt_get_num_procs", plain(get_num_procs)},
        {"ompt_get_num_places", plain(get_num_places)},
        {"ompt_get_unique_id", plain(get_unique_id)},
        {"ompt_finalize_tool", plain(finalize_now)},
    };
    for (const entry& each : all) {
        if (std::strcmp(each.name, name) == 0) {
            return each.function;
        }
    }
    return nullptr;
}

}  // namespace quern::omp::tools
