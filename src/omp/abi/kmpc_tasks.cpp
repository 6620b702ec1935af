// SPDX-License-Identifier: BSL-1.0
// clang's entry points for tasks.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/kmpc_tasks.hpp"

#include "abi/exported.hpp"
#include "abi/kmpc_told.hpp"
#include "core/accesses.hpp"
#include "core/cancellation.hpp"
#include "core/events.hpp"
#include "core/observing.hpp"
#include "core/stacks.hpp"
#include "core/waiting.hpp"
#include "tools/tools.hpp"

#include <array>
#include <new>
#include <utility>
#include <vector>

using namespace quern::omp;

namespace quern::omp {

namespace {

std::int32_t number_of_caller() noexcept { return static_cast<std::int32_t>(this_member().number); }

kmpc_task* set_up(kmpc_head& head, std::int32_t flags, std::size_t task_bytes,
                  std::size_t shared_bytes, kmpc_routine routine) noexcept {
    head.task_bytes = static_cast<std::uint32_t>(task_bytes);
    head.shared_bytes = static_cast<std::uint32_t>(shared_bytes);
    head.flags = flags;
    kmpc_task* const made = head.visible();
    made->shared = shared_bytes != 0 ? reinterpret_cast<std::byte*>(made) + task_bytes : nullptr;
    made->routine = routine;
    made->part = 0;
    return made;
}

/// Runs the parts of a task, one after another on this thread, and its destructors.
void run_parts(kmpc_head& head) noexcept {
    kmpc_task* const what = head.visible();
    head.is_running = true;
    const member& here = this_member();
    head.runs_again = !is_discarded(here, *here.current);
    while (std::exchange(head.runs_again, false)) {
        what->routine(number_of_caller(), what);
    }
    if ((head.flags & k_task_has_destroy) != 0) {
        what->destroy(number_of_caller(), what);
    }
}

}  // namespace

void run_task_of_head(void* head) { run_parts(*static_cast<kmpc_head*>(head)); }

kmpc_task* begin_task_in(deferred_task& owner, const kmpc_head& like) noexcept {
    auto* const head = ::new (owner.argument) kmpc_head;
    head->owner = &owner;
    return set_up(*head, like.flags, like.task_bytes, like.shared_bytes, like.visible()->routine);
}

namespace {

/// Free blocks of the thread, by size: a team of one has no worker whose cache would serve it.
struct lone_blocks {
    static constexpr std::size_t k_step = 64;
    static constexpr std::size_t k_sizes = 8;
    struct block {
        block* next;
    };
    std::array<block*, k_sizes + 1> free;
    bool are_kept = false;  ///< by a thread that makes tasks, until it ends
};
constinit thread_local lone_blocks tls_lone_blocks{};

QUERN_COLD void* allocate_new_block(std::size_t size) {
    struct at_exit {
        at_exit() noexcept { tls_lone_blocks.are_kept = true; }
        ~at_exit() {
            tls_lone_blocks.are_kept = false;
            for (lone_blocks::block*& first : tls_lone_blocks.free) {
                while (lone_blocks::block* const each = first) {
                    first = each->next;
                    ::operator delete (each, std::align_val_t{alignof(kmpc_head)});
                }
            }
        }
    };
    thread_local const at_exit frees;
    static_cast<void>(&frees);
    return ::operator new (size, std::align_val_t{alignof(kmpc_head)});
}

kmpc_head* allocate_lone(std::size_t bytes) noexcept {
    const std::size_t steps = (bytes + lone_blocks::k_step - 1) / lone_blocks::k_step;
    void* memory = nullptr;
    if (steps <= lone_blocks::k_sizes && tls_lone_blocks.free[steps] != nullptr) {
        lone_blocks::block*& first = tls_lone_blocks.free[steps];
        memory = std::exchange(first, first->next);
    } else {
        memory = allocate_new_block(steps * lone_blocks::k_step);
    }
    auto* const head = ::new (memory) kmpc_head;
    head->steps = static_cast<std::uint32_t>(steps);
    return head;
}

/// Perhaps on another thread than the one that has made it, which only fulfills events.
void free_lone(kmpc_head& head) noexcept {
    const std::size_t steps = head.steps;
    head.~kmpc_head();
    if (steps > lone_blocks::k_sizes || !tls_lone_blocks.are_kept) {
        ::operator delete (static_cast<void*>(&head), std::align_val_t{alignof(kmpc_head)});
        return;
    }
    lone_blocks::block*& first = tls_lone_blocks.free[steps];
    first = ::new (static_cast<void*>(&head)) lone_blocks::block{first};
}

/// A task without owner has run.
void end_lone(kmpc_head& head) noexcept {
    if ((head.flags & k_task_is_detachable) != 0) {
        add_lone_event();
        if (head.event.fetch_or(k_body_ended, std::memory_order_acq_rel) == 0) {
            return;  // who fulfills the event frees it
        }
        remove_lone_event();
    }
    free_lone(head);
}

void run_lone(member& here, kmpc_head& head) noexcept {
    run_included(here, run_task_of_head, &head, (head.flags & k_task_is_final) != 0);
    end_lone(head);
}

kmpc_head* allocate_owned(member& here, std::size_t bytes, std::int32_t flags) noexcept {
    deferred_task* const owner = prepare_deferred(here, bytes, alignof(kmpc_head));
    auto* const head = ::new (owner->argument) kmpc_head;
    head->owner = owner;
    owner->body = run_task_of_head;
    owner->is_final = (flags & k_task_is_final) != 0;
    owner->runs_always = true;
    if ((flags & k_task_is_detachable) != 0) {
        owner->event = &head->event;
        owner->of = here.of;
    }
    return head;
}

}  // namespace

kmpc_task* allocate_task(member& here, std::int32_t flags, std::size_t task_bytes,
                         std::size_t shared_bytes, kmpc_routine routine) noexcept {
    task_bytes = (task_bytes + sizeof(void*) - 1) & ~(sizeof(void*) - 1);
    const std::size_t bytes = sizeof(kmpc_head) + task_bytes + shared_bytes;
    kmpc_head* const head =
        runs_at_once(here) ? allocate_lone(bytes) : allocate_owned(here, bytes, flags);
    return set_up(*head, flags, task_bytes, shared_bytes, routine);
}

void add_task(member& here, kmpc_task* made) noexcept {
    kmpc_head& head = head_of(made);
    tell_created(head, 0, false);
    if (head.owner == nullptr) {
        run_lone(here, head);
    } else if (has_enough_ready(here)) {
        run_in_place(here, *head.owner);
    } else {
        add_deferred(here, *head.owner);
    }
}

void run_undeferred(member& here, kmpc_task* made) noexcept {
    kmpc_head& head = head_of(made);
    tell_created(head, tools::k_undeferred_task, false);
    if (head.owner == nullptr) {
        run_lone(here, head);
    } else {
        run_in_place(here, *head.owner);
    }
}

void discard_task(member& here, kmpc_task* made) noexcept {
    kmpc_head& head = head_of(made);
    if ((head.flags & k_task_has_destroy) != 0) {
        made->destroy(number_of_caller(), made);
    }
    if (head.owner == nullptr) {
        free_lone(head);
    } else {
        end_deferred(here, *head.owner);
    }
}

}  // namespace quern::omp

namespace {

/// Bits of a dependence.
constexpr std::uint8_t k_reads = 1;
constexpr std::uint8_t k_writes = 2;
constexpr std::uint8_t k_excludes = 4;
constexpr std::uint8_t k_of_set = 8;
constexpr std::uint8_t k_all_memory = 0x80;

/// The dependences in the order in which the core reads them: a head of five words, those that
/// write, those that exclude each other, and those that only read.
class translated_dependences {
public:
    translated_dependences(std::int32_t count, const kmpc_dependence* first, std::int32_t more,
                           const kmpc_dependence* second) {
        m_words.resize(k_head);
        const auto add = [&](auto&& matches) {
            std::uintptr_t found = 0;
            for (std::int32_t i = 0; i < count + more; ++i) {
                const kmpc_dependence& one = i < count ? first[i] : second[i - count];
                if ((one.flags & k_all_memory) != 0) {
                    m_is_of_all = true;
                } else if (matches(one.flags)) {
                    m_words.push_back(reinterpret_cast<void*>(one.address));
                    ++found;
                }
            }
            return found;
        };
        constexpr std::uint8_t k_other = k_excludes | k_of_set | k_writes;
        const std::uintptr_t written =
            add([](std::uint8_t flags) { return (flags & (k_writes | k_of_set)) != 0; });
        const std::uintptr_t excluding = add([](std::uint8_t flags) {
            return (flags & k_excludes) != 0 && (flags & (k_writes | k_of_set)) == 0;
        });
        const std::uintptr_t read = add(
            [](std::uint8_t flags) { return (flags & k_reads) != 0 && (flags & k_other) == 0; });
        m_words[1] = reinterpret_cast<void*>(written + excluding + read);
        m_words[2] = reinterpret_cast<void*>(written);
        m_words[3] = reinterpret_cast<void*>(excluding);
        m_words[4] = reinterpret_cast<void*>(read);
    }

    void** words() noexcept { return m_words.data(); }
    /// depend(inout: omp_all_memory)
    bool is_of_all() const noexcept { return m_is_of_all; }

private:
    static constexpr std::size_t k_head = 5;
    std::vector<void*> m_words;
    bool m_is_of_all = false;
};

/// Waits for all children. One that has been allocated and has not been added is not counted yet.
void wait_for_others(member& here) noexcept {
    const task& waiting = *here.current;
    const auto is_over = [&waiting] { return !waiting.has_children(); };
    if (here.at != nullptr && !is_over()) {
        wait_until(here, eligible::descendants, k_depend_wait, is_over);
    }
}

void wait_for_dependences(member& here, translated_dependences& on) noexcept {
    if (on.is_of_all()) {
        wait_for_others(here);
    } else if (!runs_at_once(here)) {
        wait_for_accesses(here, on.words());
    }
}

}  // namespace

QUERN_OMP_ENTRY kmpc_task* __kmpc_omp_task_alloc(kmpc_place*, std::int32_t, std::int32_t flags,
                                                 std::size_t task_bytes, std::size_t shared_bytes,
                                                 kmpc_routine routine) {
    kmpc_task* const made = allocate_task(this_member(), flags, task_bytes, shared_bytes, routine);
    note_site(head_of(made).owner, QUERN_OMP_CALLER);
    return made;
}

QUERN_OMP_ENTRY std::int32_t __kmpc_omp_task(kmpc_place*, std::int32_t, kmpc_task* made) {
    kmpc_head& head = head_of(made);
    if (head.is_running) {
        head.runs_again = true;  // an untied task that runs; its next part follows on this thread
    } else {
        add_task(this_member(), made);
    }
    return 0;
}
QUERN_OMP_ENTRY std::int32_t __kmpc_omp_task_parts(kmpc_place* place, std::int32_t thread,
                                                   kmpc_task* made) {
    return __kmpc_omp_task(place, thread, made);
}

QUERN_OMP_ENTRY std::int32_t __kmpc_omp_task_with_deps(kmpc_place*, std::int32_t, kmpc_task* made,
                                                       std::int32_t count,
                                                       const kmpc_dependence* first,
                                                       std::int32_t more,
                                                       const kmpc_dependence* second) {
    member& here = this_member();
    kmpc_head& head = head_of(made);
    if (count + more != 0) {
        wait_for_lone_events(here);
    }
    if (head.owner == nullptr || count + more == 0) {
        add_task(here, made);
        return 0;
    }
    translated_dependences on(count, first, more, second);
    if (on.is_of_all()) {
        wait_for_others(here);
        run_undeferred(here, made);
    } else {
        tell_task_with_dependences(head);
        add_dependent(here, *head.owner, on.words());
    }
    return 0;
}

QUERN_OMP_ENTRY void __kmpc_omp_task_begin_if0(kmpc_place*, std::int32_t, kmpc_task* made) {
    member& here = this_member();
    kmpc_head& head = head_of(made);
    head.before = here.current;
    head.is_running = true;
    if (head.owner != nullptr) {
        here.current = head.owner;
        if (tools::is_active()) [[unlikely]] {
            tell_undeferred_begins(head);
        }
        return;
    }
    head.included = new task;
    head.included->parent = here.current;
    head.included->group = here.current->group;
    head.included->values = here.current->values;
    head.included->is_explicit = true;
    head.included->is_final = here.current->is_final || (head.flags & k_task_is_final) != 0;
    here.current = head.included;
    if (tools::is_active()) [[unlikely]] {
        tell_undeferred_begins(head);
    }
}

QUERN_OMP_ENTRY void __kmpc_omp_task_complete_if0(kmpc_place*, std::int32_t, kmpc_task* made) {
    member& here = this_member();
    kmpc_head& head = head_of(made);
    while (std::exchange(head.runs_again, false)) {
        made->routine(static_cast<std::int32_t>(here.number), made);
    }
    if ((head.flags & k_task_has_destroy) != 0) {
        made->destroy(static_cast<std::int32_t>(here.number), made);
    }
    if (tools::is_active()) [[unlikely]] {
        tell_undeferred_ends(head);
    }
    here.current = head.before;
    if ((head.flags & k_task_is_detachable) != 0) {
        wait_idly_until(here, [&head] { return head.event.load(std::memory_order_acquire) != 0; });
    }
    if (head.owner != nullptr) {
        end_deferred(here, *head.owner);
    } else {
        delete head.included;
        free_lone(head);
    }
}

QUERN_OMP_ENTRY std::int32_t __kmpc_omp_taskwait(kmpc_place*, std::int32_t) {
    member& here = this_member();
    const tools::sync_scope told(tools::sync::taskwait);
    wait_for_lone_events(here);
    wait_for_children(here);
    return 0;
}

QUERN_OMP_ENTRY void __kmpc_omp_wait_deps(kmpc_place*, std::int32_t, std::int32_t count,
                                          const kmpc_dependence* first, std::int32_t more,
                                          const kmpc_dependence* second) {
    member& here = this_member();
    const tools::sync_scope told(tools::sync::taskwait);
    if (count + more != 0) {
        wait_for_lone_events(here);
    }
    translated_dependences on(count, first, more, second);
    wait_for_dependences(here, on);
}
// With `nowait` the tasks that follow would wait instead of the caller: it waits for them.
QUERN_OMP_ENTRY void __kmpc_omp_taskwait_deps_51(kmpc_place* place, std::int32_t thread,
                                                 std::int32_t count, const kmpc_dependence* first,
                                                 std::int32_t more, const kmpc_dependence* second,
                                                 std::int32_t) {
    __kmpc_omp_wait_deps(place, thread, count, first, more, second);
}

QUERN_OMP_ENTRY std::int32_t __kmpc_omp_taskyield(kmpc_place*, std::int32_t, int) {
    member& here = this_member();
    if (here.stacks != nullptr) [[unlikely]] {
        yield_with_stacks(here);
    } else {
        run_some_task(here, eligible::descendants);
    }
    return 0;
}

QUERN_OMP_ENTRY void* __kmpc_task_allow_completion_event(kmpc_place*, std::int32_t,
                                                         kmpc_task* made) {
    return &head_of(made);
}

// omp_fulfill_event in programs of clang, see kmpc_names.cpp.
extern "C" __attribute__((visibility("hidden"))) void quern_omp_fulfill_event(void* event) {
    kmpc_head& head = *static_cast<kmpc_head*>(event);
    if (head.owner != nullptr) {
        fulfill(*head.owner);
    } else if (head.event.fetch_or(k_fulfilled, std::memory_order_acq_rel) != 0) {
        free_lone(head);
        remove_lone_event();
    }
}

extern "C" __attribute__((visibility("hidden"))) void quern_omp_fulfill_event_of(void** event) {
    quern_omp_fulfill_event(*event);
}

// NOLINTEND(readability-identifier-naming)
