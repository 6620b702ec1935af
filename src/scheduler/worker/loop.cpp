// SPDX-License-Identifier: BSL-1.0
// The loop of a worker: take an item (take.cpp), run it, repeat. Every context runs this loop at
// its bottom, so a worker whose task blocks continues with the loop of another context.
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/task_holds.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/scheduler/held_locks.hpp>

#include <utility>

namespace quern::detail {

namespace {

/// Destroys the task's locals and waits for its holds, if the item has not done so. May suspend.
void end_own_task(context& self) noexcept {
    self.own_task.locals.destroy_all();
    if (self.own_task.holds != nullptr) [[unlikely]] {
        wait_for_holds(self.own_task);
    }
}

}  // namespace

void worker::run_loop(context& self) noexcept {
    for (;;) {
        worker& before = this_worker(self);
        before.stats().overhead.ends(overhead_clock::next::own_work);
        before.stats().overhead.begins(overhead_clock::part::running);
        work* item = before.next_item();
        if (item == nullptr) {
            before.leave_pool(self);
        }
        before.begin_item(*item);
        context* next = item->run(*item);
        end_own_task(self);
        self.next_holder();
        if constexpr (k_check_held_locks) {
            check_left_locks(self);
        }
        worker& after =
            this_worker(self);  // the item may have moved this context to another worker
        if (next != nullptr && !after.sends_home(*item, *next)) {
            after.hand_over(self, *item, *next);
        }
        after.end_item();
    }
}

work* worker::next_item() noexcept {
    if (work* first = running(std::memory_order_relaxed)->take_first_item()) {
        return first;
    }
    if (has_guest()) [[unlikely]] {
        return nullptr;  // the guest's item has ended or waits
    }
    if (is_throttled()) {
        if (work* item = m_idle.obey_throttle()) {
            return item;
        }
    }
    const bool waits_for_time = home().time().any();
    if (waits_for_time) {
        m_idle.look_after_time(idle_part::none);
    }
    work* item = m_successor != nullptr
                     ? m_selector.take_successor(*std::exchange(m_successor, nullptr))
                     : nullptr;
    if (item == nullptr) {
        item = m_selector.take_ready();
    }
    if (item == nullptr) {
        return m_idle.search_and_park();
    }
    if (waits_for_time) {
        m_idle.see_to_watch();
    }
    return item;
}

/// The loop for items whose creator is aside. While the creator is aside no clock is read, and
/// nothing counts as a suspension. True: the creator is still aside and must resume now.
bool worker::run_beside(context& self, runnable& first) noexcept {
    runnable* item = &first;
    do {
        this_worker(self).begin_item(*item);
        self.own_task.outer = &g_creator_aside;
        context* const next = item->run(*item);
        self.next_holder();
        if constexpr (k_check_held_locks) {
            check_left_locks(self);
        }
        if (self.link == nullptr) [[unlikely]] {
            self.creators_aside = 0;
            worker& after = this_worker(self);
            if (next != nullptr && !after.sends_home(*item, *next)) {
                after.hand_over(self, *item, *next);
            }
            after.end_item();
            return false;
        }
        if (self.host().home().hooks(std::memory_order_relaxed) != nullptr) [[unlikely]] {
            this_worker(self).end_item();
        }
        item = self.link->more(*self.link);
    } while (item != nullptr);
    std::exchange(self.link, nullptr)->is_over = true;
    return true;
}

/// A creator that was aside resumes.
void worker::resumes(context& creator) noexcept {
    if (const hooks* const h = begin_running()) {
        h->item_begins(*h, *this, creator, nullptr);
    }
}

void worker::begin_item(work& item) noexcept {
    const hooks* const h = begin_running();
    note_wait(item);
    context& here = *running(std::memory_order_relaxed);
    here.force_slow_path();
    here.own_task.restart(item.run);  // until begin_task sets the rest
    here.pin = nullptr;
    here.last_as({});
    if (h != nullptr) {
        h->item_begins(*h, *this, item,
                       m_thief.has_stolen_fork(item) ? m_thief.forking_context() : nullptr);
    }
}

/// A task begins or resumes. Returns the hooks, or null. Reads the clock only if there are hooks.
const hooks* worker::begin_running() noexcept {
    own_stats().activations.add();
    own_stats().is_now(worker_phase::running);
    const hooks* const h = home().hooks();
    if (h != nullptr) {
        own_stats().look();
    }
    return h;
}

/// Counts the time that the item was queued. Forked children are not queued. Only sampled items
/// carry a time; while hooks are installed, all do. The time of a context is cleared, because a
/// context becomes ready again; hooks read it first. A task becomes ready only once.
void worker::note_wait(work& item) noexcept {
    if (!k_counters || m_thief.has_stolen_fork(item)) {
        return;
    }
    auto& queued = static_cast<runnable&>(item);
    if (queued.ready.at != 0) [[unlikely]] {
        own_stats().waited(queued.ready.at, ticks(), queued.staged);
        if (!queued.staged && home().hooks(std::memory_order_relaxed) == nullptr) {
            queued.ready = {};
        }
    }
}

void worker::end_item() noexcept {
    own_stats().is_now(worker_phase::managing);
    if (const hooks* h = home().hooks()) {
        own_stats().look();
        h->item_ends(*h, *this);
    }
}

/// The task on `self` is about to leave this worker. Records the time, which reports show.
void worker::give_up(context& self) noexcept {
    m_idle.leave_if_asking();
    own_stats().overhead.ends(overhead_clock::next::own_work);
    own_stats().overhead.begins(overhead_clock::part::running);
    own_stats().suspensions.add();
    if constexpr (k_counters) {
        site_tally& site = own_sites()->of(self.root().task());
        site.suspensions = site.suspensions + 1;
    }
    own_stats().is_now(worker_phase::managing);
    own_stats().look();
    if (const hooks* h = home().hooks()) {
        h->suspends(*h, *this);
    }
    if (self.publish()) {
        notify_work_of(*this);
    }
}

/// A waiter must resume on a certain worker if it is pinned or if the policy does not steal. True:
/// that is another worker, and the waiter has been sent there.
bool worker::sends_home(const work& item, context& next) const noexcept {
    const bool is_waiter = next.first_item() == nullptr && &static_cast<const work&>(next) != &item;
    const bool stays =
        is_waiter && !home().policy().steals ? &next.host() == this : next.may_run_on(*this);
    if (!stays) {
        resume(next);
    }
    return !stays;
}

/// `next` is one of three: the item itself, a context from a queue that now resumes; a waiter that
/// the item has completed; or a fresh, larger context on which the item begins again.
void worker::hand_over(context& self, work& item, context& next) noexcept {
    if (next.first_item() != nullptr) {
        own_stats().activations.take_back();
    } else if (&static_cast<const work&>(next) != &item) {
        home().tell_ready(next, m_timed.comes());
        end_item();
        begin_item(next);
    }
    leave_for(self, next);
}

/// The context to switch to when a task suspends. First choice: the creator that is aside for the
/// task. Second: a ready context, which saves a loop and one of two switches. Else a loop on a
/// fresh stack. The choice is made before the suspending task is published to the thread that will
/// resume it. Runs no user code: the task may hold a spin lock, which is released only after its
/// stack has been left.
context& worker::next_context(context& leaving) noexcept {
    if (context* const creator = take_creator(leaving)) {
        resumes(*creator);
        return *creator;
    }
    const bool waits_for_time = home().time().any();
    const bool sees_to_others =
        has_guest() || is_throttled() || (waits_for_time && m_idle.has_due());
    work* const item = sees_to_others ? nullptr : m_selector.take_ready();
    context* const ready = item != nullptr ? context::from(*item) : nullptr;
    if (waits_for_time && item != nullptr) {
        m_idle.see_to_watch();
    }
    if (ready != nullptr && ready->may_run_on(*this)) {
        const hooks* const h = begin_running();
        note_wait(*item);
        if (h != nullptr) {
            h->item_begins(*h, *this, *item, nullptr);
        }
        return *ready;
    }
    context& fresh = take_context(home().stacks());
    fresh.reopen_for_loop(item);
    return fresh;
}

}  // namespace quern::detail
