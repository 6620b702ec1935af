// SPDX-License-Identifier: BSL-1.0
// Events of threads, regions and tasks.
#include "core/tasks.hpp"

#include "core/observing.hpp"
#include "tools/state.hpp"

#include <sched.h>

#include <memory>
#include <new>
#include <utility>

namespace quern::omp::tools {

constinit thread_local thread_record tls_thread{};

namespace {

constexpr int k_frame_of_library = 0x20;  ///< a frame pointer, of the library

/// A region of one member that does not lie within one function, with its implicit task.
struct lone_record : task_record {
    region own;
};

task_record& record_of(const deferred_task& of) noexcept {
    auto* const end = static_cast<std::byte*>(of.block) + of.bytes;
    return *std::launder(reinterpret_cast<task_record*>(end - k_record_bytes));
}

/// The thread runs `next` from now on, within what it has run.
void enter_record(task_record& next) noexcept {
    thread_record& here = tls_thread;
    next.before = std::exchange(here.current, &next);
    next.state_before = std::exchange(here.now, working_state(here));
    next.frame.exit.pointer = __builtin_frame_address(0);
    next.frame.exit_flags = k_frame_of_library;
}

void leave_record(task_record& ended) noexcept {
    tls_thread.current = ended.before;
    tls_thread.now = ended.state_before;
}

void begin_implicit(task_record& made, region& of, unsigned number) noexcept {
    made.parent = of.met_by;
    made.within = &of;
    made.flags = k_implicit_task;
    made.number = number;
    enter_record(made);
    tell<events::implicit_task>(k_begin, &of.data, &made.data,
                                of.size.load(std::memory_order_relaxed), number, k_implicit_task);
}

void end_implicit(task_record& ended) noexcept {
    if (ended.at_work != construct::none) {
        tell_work_ends(nullptr);
    }
    // The region's data are not told any more: its end may be under way.
    tell<events::implicit_task>(k_end, static_cast<tool_data*>(nullptr), &ended.data, 0U,
                                ended.number, k_implicit_task);
    leave_record(ended);
}

void begin_told(region& made, const void* site) noexcept {
    thread_record& here = tls_thread;
    made.met_by = here.current;
    made.outer = region_of(here);
    tool_frame* const frame = here.current != nullptr ? &here.current->frame : nullptr;
    if (frame != nullptr) {
        frame->enter.pointer = __builtin_frame_address(0);
        frame->enter_flags = k_frame_of_library;
    }
    tell<events::parallel_begin>(data_of(made.met_by), static_cast<const tool_frame*>(frame),
                                 &made.data, made.size.load(std::memory_order_relaxed),
                                 k_region_flags, site);
}

void end_told(region& ended, const void* site) noexcept {
    tell<events::parallel_end>(&ended.data, data_of(ended.met_by), k_region_flags, site);
    if (ended.met_by != nullptr) {
        ended.met_by->frame.enter.pointer = nullptr;
    }
}

void begin_thread(int kind) noexcept {
    thread_record& here = tls_thread;
    if (!here.has_begun) {
        here.has_begun = true;
        tell<events::thread_begin>(kind, &here.data);
    }
}

void end_thread() noexcept {
    if (std::exchange(tls_thread.has_begun, false)) {
        tell<events::thread_end>(&tls_thread.data);
    }
}

/// A task is made by the one that runs here.
void create_record(task_record& made, unsigned flags, bool has_dependences) noexcept {
    thread_record& here = tls_thread;
    made.parent = here.current;
    made.within = region_of(here);
    made.flags = flags;
    const tool_frame* const frame = here.current != nullptr ? &here.current->frame : nullptr;
    tell<events::task_create>(data_of(here.current), frame, &made.data, flags,
                              has_dependences ? 1 : 0, static_cast<address>(nullptr));
}

void begin_task(task_record& next) noexcept {
    thread_record& here = tls_thread;
    task_record* const before = here.current;
    next.number = before != nullptr ? before->number : 0;
    tell<events::task_schedule>(data_of(before), static_cast<int>(status::other), &next.data);
    enter_record(next);
}

void end_task(task_record& ended, status how) noexcept {
    leave_record(ended);
    tell<events::task_schedule>(&ended.data, static_cast<int>(how), data_of(tls_thread.current));
}

}  // namespace

// -- threads ----------------------------------------------------------------------------------

void first_team_begins() noexcept {
    start();
    if (!is_active()) {
        return;
    }
    begin_thread(k_initial_thread);
    thread_record& here = tls_thread;
    if (here.current == nullptr) {
        here.first.flags = k_initial_task;
        here.first.within = &here.first_region;
        here.current = &here.first;
        tell<events::implicit_task>(k_begin, &here.first_region.data, &here.first.data, 1U, 1U,
                                    k_initial_task);
    }
}

void first_team_ends() noexcept {
    thread_record& here = tls_thread;
    if (here.current == &here.first) {
        tell<events::implicit_task>(k_end, static_cast<tool_data*>(nullptr), &here.first.data, 0U,
                                    1U, k_initial_task);
        here.current = nullptr;
    }
    end_thread();
}

void worker_begins() noexcept {
    if (is_active()) {
        begin_thread(k_worker_thread);
    }
}
void worker_ends() noexcept { end_thread(); }

// -- regions ----------------------------------------------------------------------------------

void run_told_body(void* data) noexcept {
    region& of = *static_cast<region*>(data);
    of.body(of.argument);
}

void run_told_region(void (*body)(void*), void* argument, unsigned wanted,
                     const first_share* begins_with) noexcept {
    member& creator = this_member();
    if (creator.next_site == nullptr) {
        creator.next_site = place_of(body);
    }
    const void* const site = creator.next_site;
    region own;
    own.body = body;
    own.argument = argument;
    own.begins_with = begins_with;
    own.size.store(size_of_region(creator, wanted), std::memory_order_relaxed);
    begin_told(own, site);
    run_region(run_told_body, &own, wanted, begins_with);
    // Members that are slow to leave still use the region.
    while (own.left.load(std::memory_order_acquire) != 0) {
        ::sched_yield();
    }
    end_told(own, site);
}

void implicit_scope::begin(const member& one, void* data) noexcept {
    region& of = *static_cast<region*>(data);
    m_record = std::make_unique<task_record>().release();
    of.size.store(one.of->size, std::memory_order_relaxed);
    of.left.fetch_add(1, std::memory_order_relaxed);  // before the barrier that the creator passes
    begin_implicit(*m_record, of, one.number);
    if (of.begins_with != nullptr) {
        const first_share& loop = *of.begins_with;
        tell_work_begins(loop.step == 0 ? construct::sections : construct::loop, loop.count,
                         nullptr);
    }
}

void implicit_scope::end() noexcept {
    region& of = *m_record->within;
    end_implicit(*m_record);
    delete m_record;
    of.left.fetch_sub(1, std::memory_order_acq_rel);
}

void lone_region_begins() noexcept {
    auto* const made = std::make_unique<lone_record>().release();
    begin_told(made->own, nullptr);
    begin_implicit(*made, made->own, 0);
}

void lone_region_ends() noexcept {
    task_record* const current = tls_thread.current;
    if (current == nullptr || current->within == nullptr || current->within->body != nullptr) {
        return;  // it began before the tool
    }
    auto* const ended = static_cast<lone_record*>(current);
    { const sync_scope barrier(sync::barrier_parallel, nullptr); }
    end_implicit(*ended);
    end_told(ended->own, nullptr);
    delete ended;
}

// -- tasks ------------------------------------------------------------------------------------

void make_record(deferred_task& made) noexcept {
    auto* const end = static_cast<std::byte*>(made.block) + made.bytes;
    ::new (static_cast<void*>(end - k_record_bytes)) task_record;
}

void task_created(deferred_task& made, unsigned flags, bool has_dependences) noexcept {
    const unsigned more = made.is_final ? k_final_task : 0;
    create_record(record_of(made), k_explicit_task | flags | more, has_dependences);
}

void task_depends(deferred_task& made, const tool_dependence* on, int count) noexcept {
    tell<events::dependences>(&record_of(made).data, on, count);
}

void task_begins(deferred_task& next) noexcept { begin_task(record_of(next)); }
void task_ends(deferred_task& ended, status how) noexcept { end_task(record_of(ended), how); }
void task_fulfilled(deferred_task& ended) noexcept {
    tell<events::task_schedule>(&record_of(ended).data, static_cast<int>(status::fulfilled_late),
                                data_of(tls_thread.current));
}

task_record* included_begins(unsigned flags) noexcept {
    auto* const made = std::make_unique<task_record>().release();
    create_record(*made, k_explicit_task | flags, false);
    begin_task(*made);
    return made;
}

task_record* present_record() noexcept { return tls_thread.current; }

void included_ends(task_record* ended) noexcept {
    if (ended == nullptr) {
        return;
    }
    end_task(*ended, status::complete);
    delete ended;
}

}  // namespace quern::omp::tools
