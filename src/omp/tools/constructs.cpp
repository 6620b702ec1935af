// SPDX-License-Identifier: BSL-1.0
// Events of waiting, mutual exclusion, and constructs that share work.
#include "tools/state.hpp"

#include <utility>

namespace quern::omp::tools {

namespace {

constexpr unsigned k_no_hint = 0;
constexpr unsigned k_word_with_futex = 1;

state waiting_in(sync kind) noexcept {
    switch (kind) {
        case sync::barrier_explicit:
            return state::barrier_explicit;
        case sync::barrier_workshare:
            return state::barrier_workshare;
        case sync::barrier_parallel:
            return state::barrier_parallel;
        case sync::taskwait:
            return state::taskwait;
        case sync::taskgroup:
            return state::taskgroup;
        default:
            return state::barrier_implementation;
    }
}

state waiting_for(mutex kind) noexcept {
    switch (kind) {
        case mutex::critical:
            return state::critical;
        case mutex::atomic:
            return state::atomic;
        case mutex::ordered:
            return state::ordered;
        default:
            return state::lock;
    }
}

std::uint64_t number_of_mutex(const void* which) noexcept {
    return reinterpret_cast<std::uintptr_t>(which);
}

bool is_barrier(sync kind) noexcept {
    return kind != sync::taskwait && kind != sync::taskgroup && kind != sync::reduction;
}

/// At the end of a region the members may not use its data.
tool_data* told_region(sync kind, int endpoint) noexcept {
    return kind == sync::barrier_parallel && endpoint == k_end ? nullptr
                                                               : data_of(region_of(tls_thread));
}

void tell_wait(sync kind, int endpoint, address caller) noexcept {
    tell<events::sync_region_wait>(static_cast<int>(kind), endpoint, told_region(kind, endpoint),
                                   data_of(tls_thread.current), caller);
}

void tell_work(construct what, int endpoint, std::uint64_t count, address caller) noexcept {
    tell<events::work>(static_cast<int>(what), endpoint, data_of(region_of(tls_thread)),
                       data_of(tls_thread.current), count, caller);
}

}  // namespace

void sync_scope::begin(sync kind, address caller) noexcept {
    thread_record& here = tls_thread;
    if (here.current == nullptr) {
        return;
    }
    if (is_barrier(kind) && here.current->at_work != construct::none) {
        tell_work_ends(caller);
    }
    m_begun = true;
    m_kind = kind;
    m_caller = caller;
    tell_sync(kind, k_begin, caller);
    m_before = std::exchange(here.now, waiting_in(kind));
    tell_wait(kind, k_begin, caller);
}

void sync_scope::end() noexcept {
    tell_wait(m_kind, k_end, m_caller);
    tls_thread.now = m_before;
    tell_sync(m_kind, k_end, m_caller);
}

void tell_sync(sync kind, int endpoint, address caller) noexcept {
    tell<events::sync_region>(static_cast<int>(kind), endpoint, told_region(kind, endpoint),
                              data_of(tls_thread.current), caller);
}

void tell_group_end(int endpoint, address caller) noexcept {
    thread_record& here = tls_thread;
    here.now = endpoint == k_begin ? state::taskgroup : working_state(here);
    tell_wait(sync::taskgroup, endpoint, caller);
    if (endpoint == k_end) {
        tell_sync(sync::taskgroup, k_end, caller);
    }
}

void tell_reduction(int endpoint, address caller) noexcept {
    thread_record& here = tls_thread;
    here.now = endpoint == k_begin ? state::reduction : working_state(here);
    tell<events::reduction>(static_cast<int>(sync::reduction), endpoint, data_of(region_of(here)),
                            data_of(here.current), caller);
}

// -- mutual exclusion -------------------------------------------------------------------------

void tell_acquire(mutex kind, const void* which, address caller, bool tries) noexcept {
    thread_record& here = tls_thread;
    here.now = waiting_for(kind);
    here.waits_for = number_of_mutex(which);
    tell<events::mutex_acquire>(static_cast<int>(kind) + (tries ? 1 : 0), k_no_hint,
                                k_word_with_futex, here.waits_for, caller);
    if (tries) {
        here.now = working_state(here);
    }
}

void tell_acquired(mutex kind, const void* which, address caller, bool tried) noexcept {
    thread_record& here = tls_thread;
    here.now = working_state(here);
    here.waits_for = 0;
    tell<events::mutex_acquired>(static_cast<int>(kind) + (tried ? 1 : 0), number_of_mutex(which),
                                 caller);
}

void tell_released(mutex kind, const void* which, address caller) noexcept {
    tell<events::mutex_released>(static_cast<int>(kind), number_of_mutex(which), caller);
}

void tell_lock_init(mutex kind, const void* which, address caller) noexcept {
    tell<events::lock_init>(static_cast<int>(kind), k_no_hint, k_word_with_futex,
                            number_of_mutex(which), caller);
}

void tell_lock_destroy(mutex kind, const void* which, address caller) noexcept {
    tell<events::lock_destroy>(static_cast<int>(kind), number_of_mutex(which), caller);
}

void tell_nested(const void* which, int endpoint, address caller) noexcept {
    tell<events::nest_lock>(endpoint, number_of_mutex(which), caller);
}

// -- work -------------------------------------------------------------------------------------

void tell_work_begins(construct what, std::uint64_t count, address caller) noexcept {
    task_record* const at = tls_thread.current;
    if (at == nullptr) {
        return;
    }
    if (at->at_work != construct::none) {
        tell_work_ends(caller);
    }
    at->at_work = what;
    at->count = count;
    tell_work(what, k_begin, count, caller);
}

void tell_work_ends(address caller) noexcept {
    task_record* const at = tls_thread.current;
    if (at != nullptr && at->at_work != construct::none) {
        tell_work(std::exchange(at->at_work, construct::none), k_end, at->count, caller);
    }
}

void tell_single(bool executes, address caller) noexcept {
    tell_work_begins(executes ? construct::single_executor : construct::single_other, 1, caller);
    if (!executes) {
        tell_work_ends(caller);
    }
}

void tell_taskloop(int endpoint, std::uint64_t count, address caller) noexcept {
    tell_work(construct::taskloop, endpoint, count, caller);
}

void tell_masked(int endpoint, address caller) noexcept {
    tell<events::masked>(endpoint, data_of(region_of(tls_thread)), data_of(tls_thread.current),
                         caller);
}

void tell_cancel(int what, address caller) noexcept {
    tell<events::cancel>(data_of(tls_thread.current), what | k_cancel_activated, caller);
}

void tell_flush(address caller) noexcept { tell<events::flush>(&tls_thread.data, caller); }

}  // namespace quern::omp::tools
