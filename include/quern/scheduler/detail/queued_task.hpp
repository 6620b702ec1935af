// SPDX-License-Identifier: BSL-1.0
// The one protocol by which tasks run: begin, the body, the end, the count, completion. All that
// makes tasks (async, groups, continuations, coroutines, forks) is built of these parts, and so are
// the layers above: see queued_task.
#pragma once

#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/ready_batch.hpp>
#include <quern/scheduler/detail/task_holds.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/scheduler/work.hpp>

#include <cstdint>
#include <new>
#include <type_traits>

namespace quern::detail {

// -- the body: a stretch of user code ----------------------------------------------------------

/// User code begins, and ends: what is before it and after it is the runtime's own work. The first
/// result is for the second call.
QUERN_ALWAYS_INLINE std::uint32_t body_begins(
    overhead_clock::next what = overhead_clock::next::user_code) noexcept {
    worker* const here = k_counters ? current_worker() : nullptr;
    return here != nullptr ? here->stats().overhead.ends(what) : 0;
}
QUERN_ALWAYS_INLINE void body_ends(std::uint32_t timed) noexcept {
    if (timed != 0) [[unlikely]] {
        if (worker* const here = current_worker()) {
            here->stats().overhead.resumes(timed);
        }
    }
}

/// A task's function has returned, and its result is not known to anyone yet: destroys what is
/// local to the task, and waits for what holds it. Two branches when there is neither.
QUERN_ALWAYS_INLINE void end_task() noexcept {
    if (context* const here = current_context()) {
        task_record& task = here->root().task();
        task.locals.destroy_all();
        if (task.holds != nullptr) [[unlikely]] {
            wait_for_holds(task);
        }
    }
}

/// Stands around the call of a task's function. `task`: a task begins and ends with it; `first`: a
/// task begins with it and ends elsewhere; `caller`: it is part of a task that continues
/// afterwards.
class task_body {
public:
    enum class part_of : std::uint8_t { task, first, caller };

    QUERN_ALWAYS_INLINE explicit task_body(part_of what) noexcept
        : m_timed(body_begins(what == part_of::caller ? overhead_clock::next::user_code
                                                      : overhead_clock::next::task)),
          m_what(what) {}
    task_body(const task_body&) = delete;
    task_body& operator=(const task_body&) = delete;
    QUERN_ALWAYS_INLINE ~task_body() {
        body_ends(m_timed);
        if (m_what == part_of::task) {
            end_task();
        }
    }

private:
    std::uint32_t m_timed;
    part_of m_what;
};

/// Stands around what the runtime does for a running task: makes another one, or runs the one that
/// it waits for.
class own_work {
public:
    explicit own_work(overhead_clock::part what) noexcept {
        if constexpr (k_counters) {
            worker* const here = current_worker();
            m_timed = here != nullptr && here->stats().overhead.begins(what);
        }
    }
    own_work(const own_work&) = delete;
    own_work& operator=(const own_work&) = delete;
    ~own_work() {
        if (m_timed) [[unlikely]] {
            body_begins();
        }
    }

private:
    bool m_timed = false;
};

/// Stands around the making of a task.
class creation_timing : own_work {
public:
    creation_timing() noexcept : own_work(overhead_clock::part::making) {}
};

// -- a task from a queue -----------------------------------------------------------------------

/// A task that called fork() has returned in the child, where its worker is not: a message, and the
/// end.
[[noreturn]] QUERN_COLD void returned_in_child() noexcept;

/// The worker on which a task has ended.
QUERN_ALWAYS_INLINE worker& worker_of_task() noexcept {
    context* const here = current_context();
    if (here == nullptr) [[unlikely]] {
        returned_in_child();
    }
    return this_worker(*here);
}

QUERN_ALWAYS_INLINE void count_task() noexcept { worker_of_task().stats().tasks.add(); }

/// In the place of that when the item was an empty entry: its task has been begun elsewhere, and is
/// counted there.
inline void count_no_task() noexcept {
    context& here = *current_context();
    here.root().task().trace.did_nothing = true;
    this_worker(here).stats().activations.take_back();
}

/// A larger context with the task as its first item.
QUERN_COLD inline context& begin_on_larger(runnable& item) noexcept {
    context& larger = this_worker().take_context(item.stack);
    larger.reopen_for_loop(&item);
    return larger;
}

/// For the beginning of a run function: lends the task's name, site and lasting attributes to the
/// context that runs it, or returns a larger context with the task as its first item when the
/// present one is too small.
QUERN_ALWAYS_INLINE context* begin_task(runnable& item) noexcept {
    context& here = *current_context();
    if (here.size() >= item.stack) [[likely]] {
        task_record& task = here.root().task();
        task.name = item.name;
        task.site = item.site;
        here.last_as(item);
        return nullptr;
    }
    return &begin_on_larger(item);
}

/// The run function of an item that is a task: begins it, calls `body`, counts it, and calls
/// `complete`, which tells those who wait for it. `body` encloses the user's function in a
/// task_body, and may destroy the item. `complete` may return a context that the worker resumes
/// next.
template <class Body, class Complete>
QUERN_ALWAYS_INLINE context* run_from_queue(runnable& item, Body&& body, Complete&& complete) {
    if (context* const larger = begin_task(item)) {
        return larger;
    }
    body();
    count_task();
    if constexpr (std::is_void_v<std::invoke_result_t<Complete>>) {
        complete();
        return nullptr;
    } else {
        return complete();
    }
}

/// The same of a forked child that was stolen, which has no name and no stack of its own choice.
template <class Body>
QUERN_ALWAYS_INLINE context* run_stolen_fork(fork_entry& entry, Body&& body) {
    body();
    count_task();
    worker_of_task().stats().stolen_forks.add();
    return entry.joined.complete();  // the entry may be gone now
}

// -- a task in the place of another one --------------------------------------------------------

/// While tasks run on the stack of one that waits for them, one after the other: what is known of
/// the one that waits is kept, and their records take its place. Does nothing outside a worker.
class inline_scope {
public:
    /// `here`: the calling thread's, or null outside a worker.
    QUERN_ALWAYS_INLINE explicit inline_scope(context* here) noexcept : m_here(here) {
        if (m_here != nullptr) {
            m_outer = &m_here->root().task();
            m_lasting.last_as(*m_here);
        }
    }
    inline_scope(const inline_scope&) = delete;
    inline_scope& operator=(const inline_scope&) = delete;
    QUERN_ALWAYS_INLINE ~inline_scope() {
        if (m_here != nullptr) {
            m_here->root().set_task(*m_outer);
            m_here->last_as(m_lasting);
        }
    }

    /// A task begins, and has ended. Called in turns.
    QUERN_ALWAYS_INLINE void begin(const runnable& item) noexcept {
        if (m_here != nullptr) {
            // One by one: the compiler would load several of what has just been written at once,
            // and wait for the writes longer than the rest of a tiny task takes.
            auto* const inner = ::new (&m_inner) task_record;
            inner->name = item.name;
            inner->site = item.site;
            inner->entry = item.run;
            inner->outer = m_outer;
            m_here->root().set_task(m_inner);
            m_here->last_as(item);
            if (const hooks* const h = hooks_here()) [[unlikely]] {
                h->inline_begins(*h, this_worker(*m_here), *m_outer, item);
            }
        }
    }
    QUERN_ALWAYS_INLINE void end() noexcept {
        if (m_here != nullptr) {
            m_inner.locals.destroy_all();
            if (const hooks* const h = hooks_here()) [[unlikely]] {
                h->inline_ends(*h, this_worker(*m_here), *m_outer);
            }
        }
    }
    /// And counts it: perhaps on another worker by now. An item's run function counts it itself.
    QUERN_ALWAYS_INLINE void end_and_count() noexcept {
        end();
        if (m_here != nullptr) {
            worker_stats& stats = worker_of_task().stats();
            stats.overhead.ends_in_place();
            stats.inlined.add();
        }
    }

private:
    const hooks* hooks_here() const noexcept { return m_here->host().home().hooks(); }

    context* m_here;
    task_record* m_outer = nullptr;
    lasting_attributes m_lasting;
    union {
        task_record m_inner;  ///< from begin() on
    };
};

// -- tasks of the layers above -----------------------------------------------------------------

/// Base of the tasks of a front end: data-dependence tasks, OpenMP, messages. `Self` derives from
/// it and has two members. `call()` is the task's function. `completed(batch)` is called once, when
/// the function has returned and all holds have been dropped: by the worker that ran it, or by the
/// thread that dropped the last hold. It may destroy the task. Tasks that it adds to the batch
/// become ready together, in this task's pool; the worker that ran this task runs the first of them
/// next, without a queue. Neither may throw.
///
///     struct step final : quern::detail::queued_task<step> {
///         using queued_task::queued_task;
///         void call() noexcept { ++done; }
///         void completed(quern::detail::ready_batch& batch) noexcept {
///             if (following != nullptr) batch.add(*following);
///         }
///         int done = 0;
///         step* following = nullptr;
///     };
template <class Self>
class queued_task : public runnable {
public:
    explicit queued_task(pool& where) noexcept : runnable(run_queued), m_pool(where) {}
    queued_task(const queued_task&) = delete;
    queued_task& operator=(const queued_task&) = delete;

    /// Makes it ready, once. Thread safe.
    void make_ready() noexcept { m_pool.make_ready(*this); }

    pool& home_pool() const noexcept { return m_pool; }

    /// How tasks of this kind are recognised in their records (task_description).
    static work::run_function entry() noexcept { return &run_queued; }
    static Self* from_front_end(void* front_end) noexcept {
        return static_cast<Self*>(static_cast<queued_task*>(front_end));
    }
    /// Holds that are left. Any thread; on a copy of the task's bytes too.
    std::uint32_t holds_left() const noexcept { return m_holds.outstanding(); }

    /// The task of this kind that runs here, or null: of another kind, or none.
    static Self* current() noexcept {
        context* const root = task_root();
        task_record* const task = root != nullptr ? &root->task() : nullptr;
        return task != nullptr && task->entry == &run_queued ? from_front_end(task->front_end)
                                                             : nullptr;
    }

protected:
    ~queued_task() = default;

    /// In completed(): the task may be made ready once more.
    void reopen() noexcept { m_holds.reopen(); }

private:
    static context* run_queued(work& item) {
        auto& self = static_cast<queued_task&>(static_cast<runnable&>(item));
        if (context* const larger = detail::begin_task(self)) {
            return larger;
        }
        task_record& task = current_context()->root().task();
        task.holds = &self.m_holds;
        task.front_end = &self;
        {
            const task_body body(task_body::part_of::first);
            static_cast<Self&>(self).call();
        }
        task_record& ended = current_context()->root().task();
        ended.locals.destroy_all();
        ended.holds = nullptr;
        count_task();
        if (self.m_holds.has_ended(complete_later, &self)) {
            ready_batch ready;
            pool& where = self.m_pool;
            static_cast<Self&>(self).completed(ready);
            where.continue_with(ready);
        }
        return nullptr;
    }

    static void complete_later(void* task) noexcept {
        auto& self = *static_cast<queued_task*>(task);
        ready_batch ready;
        pool& where = self.m_pool;
        static_cast<Self&>(self).completed(ready);
        where.make_ready(ready);
    }

    pool& m_pool;
    task_holds m_holds;
};

}  // namespace quern::detail
