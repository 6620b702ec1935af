// SPDX-License-Identifier: BSL-1.0
// Explicit tasks. A member runs tasks on its own stack, while it waits or because it has enough of
// them ready, so none changes its thread. Protocol: ../README.md.
#include "core/tasks.hpp"

#include "core/accesses.hpp"
#include "core/cancellation.hpp"
#include "core/observing.hpp"
#include "core/waiting.hpp"
#include "tools/tools.hpp"

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/blocks.hpp>
#include <quern/scheduler/detail/fresh_stack.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace quern::omp {

namespace {

/// A member with so many tasks ready runs the next one at once. More for large teams, since several
/// thieves may come for them.
constexpr unsigned k_enough_ready = 16;
constexpr unsigned k_enough_ready_of_each = 4;

detail::context* run_in_loop(detail::work& item) noexcept {
    const auto& astray = static_cast<deferred_task&>(static_cast<detail::runnable&>(item));
    fatal("a task of a team (%p) has come to a worker that is none of its members; report this",
          reinterpret_cast<void*>(astray.body));
}

struct call {
    void (*body)(void*);
    void* argument;
};

QUERN_COLD void call_on_fresh(void (*body)(void*), void* argument) noexcept {
    call what{body, argument};
    detail::call_on_fresh_stack(
        [](void* p) {
            const call& of = *static_cast<call*>(p);
            of.body(of.argument);
        },
        &what);
}

QUERN_ALWAYS_INLINE void call_body(void (*body)(void*), void* argument) noexcept {
    if (detail::stack_runs_low()) [[unlikely]] {
        call_on_fresh(body, argument);
    } else {
        body(argument);
    }
}

void free_task(task& ended) noexcept {
    if (ended.accesses != nullptr) {
        delete_accesses(ended);
    }
    auto& whole = static_cast<deferred_task&>(ended);
    void* const block = whole.block;
    const std::size_t bytes = whole.bytes;
    whole.~deferred_task();
    detail::free_block(block, bytes);
}

/// One use of the object fewer. With the last one goes the object, and its use of its parent.
void release(member& here, task* of, std::uint64_t use) noexcept {
    for (;;) {
        const std::uint64_t left = of->word.fetch_sub(use, std::memory_order_acq_rel) - use;
        if (static_cast<std::uint32_t>(left) == 0) {
            wake_sleepers(*here.of);  // perhaps a member waits for the children
        }
        if (left != 0) {
            return;
        }
        task* const parent = of->parent;
        free_task(*of);
        of = parent;
        use = task::k_self;
    }
}

/// A task has ended: tells its parent.
void tell_parent(member& here, deferred_task& ended) noexcept {
    task* const parent = ended.parent;
    if (ended.word.load(std::memory_order_acquire) == task::k_self) {
        free_task(ended);
        release(here, parent, task::k_child);
        return;
    }
    // Its children still need the object, and by it the parent.
    const std::uint64_t before = parent->word.fetch_sub(1, std::memory_order_acq_rel);
    if (static_cast<std::uint32_t>(before) == 1) {
        wake_sleepers(*here.of);
    }
    release(here, &ended, task::k_self);
}

/// A task has ended that has run as part of its parent, which is still running.
void end_in_place(member& here, deferred_task& ended) noexcept {
    if (ended.word.load(std::memory_order_acquire) == task::k_self) {
        free_task(ended);
        return;
    }
    ended.parent->word.fetch_add(task::k_self, std::memory_order_relaxed);  // for its children
    release(here, &ended, task::k_self);
}

void complete(member& here, deferred_task& ended) noexcept {
    if (!ended.is_counted) {
        end_in_place(here, ended);
        return;
    }
    if (ended.node != nullptr) {
        release_followers(here, ended);
    }
    if (task_group* const group = ended.group) {
        if (group->left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            wake_sleepers(*here.of);
        }
    }
    tell_parent(here, ended);
}

/// What a tool calls a task that runs where it is made.
unsigned flags_of(const task& included) noexcept {
    return tools::k_undeferred_task | (included.is_final ? tools::k_final_task : 0);
}

/// Runs the body of a task that is the present one, with a tool.
QUERN_COLD void call_told(const member& here, const task& included, void (*body)(void*),
                          void* argument) noexcept {
    tools::task_record* const told = tools::included_begins(flags_of(included));
    if (is_observed() && here.at != nullptr) {
        call_observed_task(body, argument);
    } else {
        call_body(body, argument);
    }
    tools::included_ends(told);
}

std::size_t rounded_up(std::size_t bytes) noexcept {
    constexpr std::size_t k_step = alignof(std::max_align_t);
    return (bytes + k_step - 1) & ~(k_step - 1);
}

/// As end_body(), with a tool.
QUERN_COLD void end_told(member& here, deferred_task& next, task* before,
                         tools::status how) noexcept {
    here.current = before;
    here.at->stats().tasks.add();
    tools::task_ends(next, how);
    if (next.event != nullptr) {
        if (next.event->fetch_or(k_body_ended, std::memory_order_acq_rel) == 0) {
            return;
        }
        if (how == tools::status::detached) {
            tools::task_fulfilled(next);
        }
    }
    complete(here, next);
}

}  // namespace

deferred_task::deferred_task() noexcept : runnable(run_in_loop) {}

void call_task_body(void (*body)(void*), void* argument) noexcept { call_body(body, argument); }

bool has_enough_ready(const member& here) noexcept {
    // A creator with a task above itself could not continue while that waits for what comes later.
    return here.stacks == nullptr &&
           here.at->deque().size() >=
               std::max(k_enough_ready, k_enough_ready_of_each * here.of->size);
}

bool runs_at_once(member& here) noexcept { return here.at == nullptr || here.current->is_final; }

void run_included(member& here, void (*body)(void*), void* argument, bool is_final) noexcept {
    if (here.at == nullptr || is_final || here.current->is_final) {
        // All of its descendants run at once too, so nothing outlives this frame.
        task own;
        own.parent = here.current;
        own.group = here.current->group;
        own.values = here.current->values;
        own.is_explicit = true;
        own.is_final = is_final || here.current->is_final;
        task* const before = here.current;
        here.current = &own;
        if (tools::is_active()) [[unlikely]] {
            call_told(here, own, body, argument);
        } else if (is_observed() && here.at != nullptr) [[unlikely]] {
            call_observed_task(body, argument);
        } else {
            call_body(body, argument);
        }
        here.current = before;
        return;
    }
    deferred_task* const own = prepare_deferred(here, 0, 1);
    own->body = body;
    own->argument = argument;
    if (tools::is_active()) [[unlikely]] {
        tools::task_created(*own, tools::k_undeferred_task, false);
    }
    run_in_place(here, *own);
}

deferred_task* prepare_deferred(member& here, std::size_t size, std::size_t alignment) noexcept {
    alignment = std::max(alignment, alignof(deferred_task));
    const std::size_t head = (sizeof(deferred_task) + alignment - 1) & ~(alignment - 1);
    const std::size_t slack = alignment > detail::k_block_step ? alignment : 0;
    const std::size_t told = tools::record_bytes();
    const std::size_t bytes =
        told == 0 ? head + size + slack : rounded_up(head + size + slack) + told;
    void* const block = detail::allocate_block(bytes);
    auto at = reinterpret_cast<std::uintptr_t>(block);
    at = (at + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
    auto* const made = ::new (reinterpret_cast<void*>(at)) deferred_task;
    made->argument = reinterpret_cast<void*>(at + head);
    made->block = block;
    made->bytes = bytes;
    if (told != 0) [[unlikely]] {
        tools::make_record(*made);
    }
    task& parent = *here.current;
    made->parent = &parent;
    made->group = parent.group;
    made->values = parent.values;
    made->is_explicit = true;
    return made;
}

void count(deferred_task& made) noexcept {
    made.is_counted = true;
    made.parent->word.fetch_add(task::k_child, std::memory_order_relaxed);
    if (made.group != nullptr) {
        made.group->left.fetch_add(1, std::memory_order_relaxed);
    }
}

void add_deferred(member& here, deferred_task& made) noexcept {
    count(made);
    make_ready(here, made);
}

void run_in_place(member& here, deferred_task& made) noexcept {
    if (made.event != nullptr) {
        count(made);  // it may end after its body
    }
    run_deferred(here, made);
}

void make_ready(member& here, deferred_task& made) noexcept {
    if (is_observed()) [[unlikely]] {
        tell_ready(here, made);
    }
    here.at->push(made);
    if (here.of->sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]] {
        const errno_kept kept;
        here.at->publish_work();  // a member that is woken looks once, and sleeps again
        detail::std_atomics::futex_wake(here.of->epoch, 1);
    }
}

void run_deferred(member& here, deferred_task& next) noexcept {
    task* const before = here.current;
    here.current = &next;
    if (tools::is_active()) [[unlikely]] {
        tools::task_begins(next);
    }
    if (!next.runs_always && is_discarded(here, next)) [[unlikely]] {
        if (tools::is_active()) [[unlikely]] {
            end_told(here, next, before, tools::status::cancelled);
            return;
        }
    } else if (is_observed()) [[unlikely]] {
        run_observed_task(here, next, before);
        return;
    } else {
        call_body(next.body, next.argument);
    }
    end_body(here, next, before);
}

void end_body(member& here, deferred_task& next, task* before) noexcept {
    if (tools::is_active()) [[unlikely]] {
        const bool waits =
            next.event != nullptr && next.event->load(std::memory_order_acquire) == 0;
        end_told(here, next, before, waits ? tools::status::detached : tools::status::complete);
        return;
    }
    here.current = before;
    here.at->stats().tasks.add();
    if (next.event != nullptr) [[unlikely]] {
        if (next.event->fetch_or(k_body_ended, std::memory_order_acq_rel) == 0) {
            return;
        }
    }
    complete(here, next);
}

void end_deferred(member& here, deferred_task& ended) noexcept { complete(here, ended); }

namespace {

/// The task is run by its creator, here and now.
void run_now(member& here, const task_request& what) noexcept {
    const bool is_final = what.is_final;
    if (what.copy == nullptr) {
        run_included(here, what.body, what.argument, is_final);
        return;
    }
    const std::size_t alignment = std::max<std::size_t>(what.alignment, 16);
    void* const room = __builtin_alloca(what.size + alignment);
    const auto at =
        (reinterpret_cast<std::uintptr_t>(room) + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
    auto* const data = reinterpret_cast<void*>(at);
    what.copy(data, what.argument);
    run_included(here, what.body, data, is_final);
}

}  // namespace

void create_task(member& here, const task_request& what) noexcept {
    const bool at_once = runs_at_once(here);
    const bool is_undeferred = at_once || !what.is_deferred;
    if (what.dependences != nullptr && !at_once) {
        if (is_undeferred) {
            wait_for_accesses(here, what.dependences);
        } else {
            create_dependent_task(here, what);
            return;
        }
    }
    if (is_undeferred || has_enough_ready(here)) {
        run_now(here, what);
        return;
    }
    deferred_task* const made = prepare_deferred(here, what.size, what.alignment);
    fill_deferred(*made, what);
    add_deferred(here, *made);
}

void fill_deferred(deferred_task& made, const task_request& what) noexcept {
    made.body = what.body;
    made.is_final = what.is_final;
    if (tools::is_active()) [[unlikely]] {
        tools::task_created(made, 0, what.dependences != nullptr);
    }
    if (what.copy != nullptr) {
        what.copy(made.argument, what.argument);
        made.runs_always = true;  // it destroys what has been copied
    } else if (what.size != 0) {
        std::memcpy(made.argument, what.argument, what.size);
    }
}

void wait_for_children(member& here) noexcept {
    task& waiting = *here.current;
    if (here.at == nullptr || !waiting.has_children()) {
        return;
    }
    wait_until(here, eligible::descendants, k_taskwait_wait,
               [&waiting] { return !waiting.has_children(); });
}

void wait_for_group(member& here, task_group& group) noexcept {
    const auto is_over = [&group] { return group.left.load(std::memory_order_acquire) == 0; };
    if (!is_over()) {
        wait_until(here, eligible::descendants, k_taskgroup_wait, is_over);
    }
}

}  // namespace quern::omp
