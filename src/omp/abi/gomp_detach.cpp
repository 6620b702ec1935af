// SPDX-License-Identifier: BSL-1.0
// Tasks of gcc's programs with the clause detach: each has an event, whose address is the handle.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/gomp_detach.hpp"

#include "abi/exported.hpp"
#include "core/accesses.hpp"
#include "core/events.hpp"
#include "core/waiting.hpp"

#include <atomic>
#include <new>

using namespace quern::omp;

namespace quern::omp {

namespace {

struct detach_event {
    std::atomic<unsigned> state{0};
    deferred_task* owner = nullptr;  ///< null: the task is run where it is made, at once
    bool is_waited_for = false;      ///< by the thread that runs the task
};

void hand_out(detach_event& event, const task_request& what, void** place) noexcept {
    *place = &event;
    *static_cast<void**>(what.argument) = &event;
}

/// The task is deferred, but its team has one member: who fulfills the event may come later on this
/// thread.
void create_lone(member& here, const task_request& what, void** place) {
    auto* const event = new detach_event;
    hand_out(*event, what, place);
    create_task(here, what);
    add_lone_event();
    if (event->state.fetch_or(k_body_ended, std::memory_order_acq_rel) != 0) {
        delete event;
        remove_lone_event();
    }
}

void create_undeferred(member& here, const task_request& what, void** place) noexcept {
    detach_event event;
    event.is_waited_for = true;
    hand_out(event, what, place);
    create_task(here, what);
    const auto is_fulfilled = [&event] { return event.state.load(std::memory_order_acquire) != 0; };
    if (here.at == nullptr) {
        wait_idly_until(here, is_fulfilled);
    } else {
        wait_until(here, eligible::descendants, is_fulfilled);
    }
}

void create_deferred(member& here, const task_request& what, void** place) noexcept {
    const std::size_t offset =
        (what.size + alignof(detach_event) - 1) & ~(alignof(detach_event) - 1);
    deferred_task* const made =
        prepare_deferred(here, offset + sizeof(detach_event), what.alignment);
    auto* const event =
        ::new (static_cast<void*>(static_cast<std::byte*>(made->argument) + offset)) detach_event;
    event->owner = made;
    made->event = &event->state;
    made->of = here.of;
    hand_out(*event, what, place);
    fill_deferred(*made, what);
    if (what.dependences != nullptr) {
        add_dependent(here, *made, what.dependences);
    } else {
        add_deferred(here, *made);
    }
}

}  // namespace

void create_detachable_task(member& here, const task_request& what, void** place) {
    if (what.is_deferred && here.at == nullptr && !here.current->is_final) {
        create_lone(here, what, place);
    } else if (!what.is_deferred || runs_at_once(here)) {
        create_undeferred(here, what, place);
    } else {
        create_deferred(here, what, place);
    }
}

}  // namespace quern::omp

QUERN_OMP_ENTRY void omp_fulfill_event(detach_event* event) {
    if (event->owner != nullptr) {
        fulfill(*event->owner);
        return;
    }
    const bool is_waited_for = event->is_waited_for;
    if (event->state.fetch_or(k_fulfilled, std::memory_order_acq_rel) != 0 && !is_waited_for) {
        delete event;  // the body ended before
        remove_lone_event();
    }
}
// Fortran passes the handle itself.
QUERN_OMP_ENTRY void omp_fulfill_event_(detach_event* event) { omp_fulfill_event(event); }

// NOLINTEND(readability-identifier-naming)
