// SPDX-License-Identifier: BSL-1.0
// The parts of task_group that do not depend on the task's type.
#include <quern/task/task_group.hpp>

#include <quern/base/detail/assert.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/task/detail/enough_stack.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern {

namespace {

/// The context on which the calling task began, or null if a thread outside calls.
detail::context* own_root() noexcept {
    detail::context* here = detail::current_context();
    return here != nullptr ? &here->root() : nullptr;
}

const detail::task_record* record_of_task(const detail::context* root) noexcept {
    return root != nullptr ? &root->task() : nullptr;
}

}  // namespace

const detail::wait_kind task_group::k_wait{
    "task group",
    sizeof(task_group),
    [](const void* copy, detail::wait_findings& into) noexcept {
        const auto left = static_cast<const task_group*>(copy)->m_count.outstanding();
        std::snprintf(into.words.data(), into.words.size(), "%lld of its tasks have not ended",
                      static_cast<long long>(left));
    },
    false,
    false,
    false,
    [](const void*) noexcept { return true; }};

const detail::wait_kind task_group::k_bound_wait{
    "room in a bounded task group", sizeof(task_group),
    [](const void* copy, detail::wait_findings& into) noexcept {
        const auto& bound = static_cast<const task_group*>(copy)->m_bound;
        std::snprintf(into.words.data(), into.words.size(),
                      "%lld of its tasks have not begun, the bound is %u",
                      static_cast<long long>(bound.queued()), bound.most());
    }};

std::uint32_t bounded::checked(long long tasks) {
    if (tasks < 1 || tasks > k_most) {
        throw std::invalid_argument("quern: bounded(" + std::to_string(tasks) +
                                    "): a task group can be bounded to 1 to " +
                                    std::to_string(k_most) + " tasks");
    }
    return static_cast<std::uint32_t>(tasks);
}

task_group::task_group() : task_group(current_pool()) {}

task_group::task_group(std::stop_token outer) : task_group(current_pool(), std::move(outer)) {}

task_group::task_group(pool_ref where, std::stop_token outer)
    : task_group(where, 0U, std::move(outer)) {}

task_group::task_group(bounded most, std::stop_token outer)
    : task_group(current_pool(), most, std::move(outer)) {}

task_group::task_group(pool_ref where, bounded most, std::stop_token outer)
    : task_group(where, most.tasks(), std::move(outer)) {}

task_group::task_group(pool_ref where, std::uint32_t most, std::stop_token outer)
    : m_pool(where.get()),
      m_owner(own_root()),
      m_owner_task(record_of_task(m_owner)),
      m_bound(most),
      m_stop(std::move(outer)) {
    if (m_owner == nullptr) {
        m_owner_thread = std::this_thread::get_id();
    }
}

task_group::~task_group() {
    QUERN_ASSERT(owner_calls(),
                 "a task_group was destroyed by a task or thread that did not make it");
    wait_for_all();
    if (m_failed.load(std::memory_order_relaxed)) {
        detail::report_exception(std::move(m_error), exception_origin::unobserved_group);
    }
}

/// True on the owner's stack, or in the outside thread that made the group.
bool task_group::owned_here() const noexcept {
    return own_root() == m_owner &&
           (m_owner != nullptr || std::this_thread::get_id() == m_owner_thread);
}

/// As owned_here(), but false for a task that runs on the stack of the waiting owner.
bool task_group::owner_calls() const noexcept {
    return owned_here() && record_of_task(m_owner) == m_owner_task;
}

void task_group::count_spawned() noexcept {
    if (m_owner != nullptr && owned_here()) {
        m_count.owner_spawned();
    } else {
        m_count.spawned();
    }
}

void task_group::launch_task(detail::runnable& item) noexcept {
    count_spawned();
    if (m_bound.exists() && !stays_in_deque(item.has_place() || item.is_hinted())) {
        item.counts_to_bound = true;
        m_bound.will_queue();
    }
    m_pool.make_ready(item);
}

/// True if such a task of the caller goes into the deque of the caller's worker. The deque's size
/// includes it; other tasks are counted separately.
bool task_group::stays_in_deque(bool goes_elsewhere) const noexcept {
    const detail::worker* const here = detail::current_worker();
    return here != nullptr && &here->home() == &m_pool && here->keeps_in_deque() && !goes_elsewhere;
}

/// True if the caller must run its new task itself, because the bound is reached. An owner whose
/// tasks are counted waits for room instead.
bool task_group::runs_at_bound(bool goes_elsewhere) noexcept {
    if (stays_in_deque(goes_elsewhere)) {
        detail::worker& here = *detail::current_worker();
        const auto is_full = [&] { return here.deque().private_size() >= m_bound.most(); };
        if (!is_full()) [[unlikely]] {
            return false;
        }
        here.offer_if_wanted();
        return is_full() && detail::may_step_aside();
    }
    if (!m_bound.is_reached()) {
        return false;
    }
    if (owned_here()) {
        wait_for_room();
        return false;
    }
    // A task of the group does not wait: otherwise all tasks that create tasks would wait, each
    // holding a stack.
    const detail::worker* const here = detail::current_worker();
    return here != nullptr && &here->home() == &m_pool && detail::may_step_aside();
}

struct task_group::creator_aside final : detail::creator_link {
    creator_aside(task_group& g, bool owner) noexcept : group(g), is_owner(owner) {
        more = [](creator_link& self) noexcept {
            return static_cast<creator_aside&>(self).group.next_to_run_here();
        };
    }
    task_group& group;
    bool is_owner;
};

/// Runs the new task, and then others until half of the bound is left, so one change of stacks
/// serves many tasks.
void task_group::run_here(detail::runnable& item) noexcept {
    count_spawned();
    creator_aside link(*this, m_owner != nullptr && owned_here());
    detail::run_beside_self(item, link);
}

detail::runnable* task_group::next_to_run_here() noexcept {
    detail::context& self = *detail::current_context();
    detail::worker& here = detail::this_worker(self);
    if (!here.keeps_in_deque() || here.deque().private_size() <= m_bound.most() / 2) {
        return nullptr;
    }
    detail::runnable* const item = here.pop();
    if (item != nullptr && (!is_own(*item) || item->stack > self.size())) {
        here.put_back(*item);
        return nullptr;
    }
    return item;
}

/// True if the owner is aside for this task. It is not running then, so a thread that ends a task
/// here may write the owner's members.
bool task_group::owner_is_aside() const noexcept {
    const auto* const link = static_cast<creator_aside*>(detail::current_context()->link);
    return link != nullptr && &link->group == this && link->is_owner;
}

void task_group::counted_task_begins() noexcept {
    if (waiting* const owner = m_bound.begins()) {
        wake(*owner);
    }
}

void task_group::wake(waiting& owner) noexcept {
    if (owner.task != nullptr) {
        detail::resume(*owner.task);
    } else {
        owner.thread.set();
    }
}

void task_group::wait_for_room() noexcept {
    waiting self;
    if (m_owner == nullptr) {
        if (m_bound.wait(self)) {
            self.thread.wait({&k_bound_wait, this});
        }
        return;
    }
    self.task = detail::current_context();
    auto publish = [this, &self](detail::context&) { return m_bound.wait(self); };
    detail::suspend(publish, {&k_bound_wait, this});
}

detail::context* task_group::task_ended() noexcept {
    if (m_owner != nullptr && (owned_here() || owner_is_aside())) {  // or in run_own_tasks
        m_count.owner_finished();
        return nullptr;
    }
    waiting* waiter = m_count.finished();
    if (waiter == nullptr) {
        return nullptr;
    }
    if (waiter->task == nullptr) {
        waiter->thread.set();
        return nullptr;
    }
    // This worker continues with the owner, unless that belongs to another pool.
    if (&waiter->task->host().home() == &detail::current_context()->host().home()) {
        return waiter->task;
    }
    detail::resume(*waiter->task);
    return nullptr;
}

void task_group::failed(std::exception_ptr error) noexcept {
    if (!m_failed.exchange(true, std::memory_order_relaxed)) {
        m_error = std::move(error);  // read after the count has reached zero
    } else {
        detail::report_exception(std::move(error), exception_origin::later_exception);
    }
    cancel();
}

/// The youngest ready item of the calling worker, if it belongs to the group and can run on any
/// stack; else null.
detail::runnable* task_group::next_own_task() noexcept {
    detail::worker& here = detail::this_worker();
    if (&here.home() != &m_pool) {
        return nullptr;
    }
    if (m_pool.has_placed() && here.best_placed() > detail::key_of(priority::normal)) {
        return nullptr;
    }
    detail::runnable* const item = here.pop();
    if (item == nullptr) {
        return nullptr;
    }
    if (!is_own(*item) || item->stack != stack_class::small) {
        here.put_back(*item);
        return nullptr;
    }
    here.note_wait_of(*item);
    return item;
}

/// Runs the group's tasks here, which the waiting owner depends on.
void task_group::run_own_tasks() noexcept {
    detail::overhead_clock& overhead = detail::this_worker().stats().overhead;
    overhead.ends(detail::overhead_clock::next::own_work);
    overhead.begins(detail::overhead_clock::part::running);
    detail::runnable* item = next_own_task();
    if (item == nullptr) {
        return;
    }
    detail::on_enough_stack([this, item]() mutable noexcept {
        detail::inline_scope inlined(detail::current_context());
        do {
            inlined.begin(*item);
            item->run(*item);
            inlined.end();
            detail::this_worker().stats().overhead.between_bodies();
            item = next_own_task();
        } while (item != nullptr);
    });
}

void task_group::wait_for_all() noexcept {
    if (m_owner != nullptr) {
        run_own_tasks();
        detail::body_begins();
    }
    if (m_count.owner_done()) {
        return;
    }
    waiting self;
    if (m_owner == nullptr) {
        if (m_count.wait(self)) {
            self.thread.wait({&k_wait, this});
        }
    } else {
        self.task = detail::current_context();
        auto publish = [this, &self](detail::context&) { return m_count.wait(self); };
        detail::suspend(publish, {&k_wait, this});
    }
    m_count.reset();
}

void task_group::wait() {
    if (!owner_calls()) {
        throw std::logic_error(
            "quern: task_group::wait() was called by a task or thread that did "
            "not make the group");
    }
    wait_for_all();
    m_stop.renew();
    if (m_failed.load(std::memory_order_relaxed)) {
        m_failed.store(false, std::memory_order_relaxed);
        std::rethrow_exception(std::exchange(m_error, nullptr));
    }
    detail::throw_if_stopped(m_stop.token(), task_cancelled::subject::group);
}

}  // namespace quern
