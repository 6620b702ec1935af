// SPDX-License-Identifier: BSL-1.0
// A stack on which the scheduler's loop and, on top of it, user code runs. It holds the fork deque
// that moves with the stack, its queue links, and the worker that runs it now. It lies at the top
// of its own stack, so that masking a pointer to one of its slots finds it.
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/intrusive_list.hpp>
#include <quern/base/detail/relaxed.hpp>
#include <quern/base/detail/thread_word.hpp>
#include <quern/context/detail/execution_stack.hpp>
#include <quern/scheduler/detail/completion.hpp>
#include <quern/scheduler/detail/fork_deque.hpp>
#include <quern/scheduler/detail/task_locals.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>
#include <quern/scheduler/work.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace quern::detail {

class pool;
class stealable_contexts;
class stop_signal;
class task_holds;
class worker_shared;

/// A forked child that its parent will join; lies in the parent's frame. `run` runs the child and
/// stores its result in the entry; the thread that ran it then calls `joined.complete()`.
struct fork_entry : work {
    explicit fork_entry(run_function f) noexcept : work(f) {}
    completion<std_atomics, context> joined;
};

/// A creator that is aside while some of its tasks run on another context, one after the other. It
/// resumes on the same worker when one of them suspends or there are no more. Lies in the creator's
/// frame.
struct creator_link {
    context* creator = nullptr;
    /// The next item to run, or null.
    runnable* (*more)(creator_link& self) noexcept = nullptr;
    bool is_over = false;         ///< there were no more items, and none has suspended
    bool waits_for_task = false;  ///< one has suspended, until another task ends
};

/// What reports show of a task that has begun.
struct task_description {
    relaxed<const char*> name = nullptr;               ///< given by the user, or null
    relaxed<const void*> site = nullptr;               ///< where it was created, or null
    relaxed<work::run_function> entry = nullptr;       ///< the function that runs it
    relaxed<std::uint64_t> id = 0;                     ///< assigned on the first request
    relaxed<const void*> result = nullptr;             ///< the state of its future, or null
    relaxed<const task_description*> outer = nullptr;  ///< the task inside which it runs inline, or
                                                       ///< null
    relaxed<void*> front_end = nullptr;  ///< its front end's object, of a type given by `entry`:
                                         ///< see queued_task
};

/// The `outer` of a task that began while its creator was aside: it was inlined, and its creator
/// does not wait for it.
extern const task_description g_creator_aside;

/// The whole record of a task; the members added here are the task's own. Lies in the context on
/// which the task began, or, for an inlined task, in the frame of the task that runs it.
struct task_record : task_description {
    const stop_signal* stop = nullptr;  ///< stop requests to this task, if any
    task_locals locals{};
    task_holds* holds = nullptr;  ///< what it waits for at its end; null before it begins
    traced_task trace{};          ///< used only by the trace hooks

    /// Resets the record for a new task. Field by field: copying a record just after it was
    /// written, in portions of another width, takes longer than the rest of a tiny task.
    QUERN_ALWAYS_INLINE void restart(work::run_function run) noexcept {
        name = nullptr;
        site = nullptr;
        entry = run;
        id = 0;
        result = nullptr;
        outer = nullptr;
        stop = nullptr;
        locals = {};
        trace = {};
    }
};

using fork_slot = fork_deque<std_atomics, fork_entry>::slot;

class context final : public fork_deque<std_atomics, fork_entry>,
                      public runnable,
                      public execution_stack,
                      public list_link {
public:
    static context& make(const stack_span& span) noexcept;

    /// The context that a slot belongs to: one mask, no load.
    static context& of(fork_slot* slot) noexcept {
        return *reinterpret_cast<context*>(
            (reinterpret_cast<std::uintptr_t>(slot) & ~(std::uintptr_t{k_block} - 1)) +
            k_room_offset);
    }

    /// Resets the context: the next switch to it runs the loop, with `first` as its first item if
    /// any.
    void reopen_for_loop(work* first = nullptr) noexcept;

    /// Resets the context: the next switch to it calls body(argument), which must end in
    /// leave_for().
    void reopen_for_call(void (*body)(context& self, void* argument), void* argument) noexcept;

    /// Whether `sp` is so close to the end that the next call needs another stack.
    QUERN_ALWAYS_INLINE bool is_low(const void* sp) const noexcept { return sp < m_low_mark; }

    /// The slow path of a push; see `quern::detail::fork_deque`.
    QUERN_COLD void push_trapped() noexcept;

    /// For an owner that holds private entries but does not push for a while: publishes half of
    /// them if a thief has asked.
    void offer_if_wanted() noexcept {
        if (wanted() && has_private()) {
            answer_request();
        }
    }

    /// The slow path of a pop. True: the caller must run the entry. False: a thief has run it, and
    /// its result is in it. May suspend.
    QUERN_COLD bool join(fork_slot* place) noexcept;

    /// Calls `body(argument)` on a fresh context and returns when it has returned. Requires: the
    /// caller runs here; `body` does not throw.
    QUERN_COLD void call_on_fresh(void (*body)(void* argument), void* argument) noexcept;

    /// The worker that runs it, or ran it last. Exact for code that runs on this context, for which
    /// this_worker() gives the worker's own type; any other thread may read it too, but the context
    /// may be moving meanwhile.
    worker_shared& host() const noexcept { return *m_worker.load(std::memory_order_relaxed); }

    /// The context on which the present task began: this one, unless the task continued on a fresh
    /// stack.
    context& root() noexcept { return *m_root.load(std::memory_order_relaxed); }

    /// The record of the task that runs here: the task that began here, or the one inlined in it.
    /// Requires: this context is its own root(). Code that runs outside this task takes a
    /// record_copy instead.
    task_record& task() const noexcept { return *m_task.load(std::memory_order_relaxed); }
    /// Called when an inlined task begins, and with the outer task's record when it has ended.
    void set_task(task_record& now) noexcept { m_task.store(&now, std::memory_order_release); }

    stack_class size() const noexcept { return span().size; }

    /// The context, if the item is one; else null.
    static context* from(work& item) noexcept;

    /// Identifies the running task in the word of a lock. It changes with each task, so that a lock
    /// left held by one task is not taken for its successor's. Never 0, lowest bit 0.
    std::uintptr_t holder() const noexcept { return m_holder.load(std::memory_order_relaxed); }
    void next_holder() noexcept {
        const std::uintptr_t next = (holder() + 2) % k_room_offset;
        m_holder.store(reinterpret_cast<std::uintptr_t>(this) + next, std::memory_order_relaxed);
    }
    /// The address of a holder's context.
    static std::uintptr_t of_holder(std::uintptr_t holder) noexcept {
        return holder - holder % k_room_offset;
    }

    /// The context whose call runs here on a fresh stack, or null.
    context* below() const noexcept { return m_below.load(std::memory_order_relaxed); }
    context* made_before() const noexcept { return m_made_before; }
    void set_made_before(context* other) noexcept { m_made_before = other; }

    // -- called on the worker that runs it, or is about to run it -------------------------------

    void set_host(worker_shared& now) noexcept { m_worker.store(&now, std::memory_order_relaxed); }

    /// The item that its loop runs before any other, or null.
    work* first_item() const noexcept { return m_first; }
    work* take_first_item() noexcept { return std::exchange(m_first, nullptr); }
    void set_first_item(work& item) noexcept { m_first = &item; }

    /// Makes all its fork entries public. True: it has some, and stands where thieves find it.
    bool publish() noexcept;

    /// Runs the item and the link's further ones on the other context, while this one is aside.
    void call_beside(context& fresh, runnable& first, creator_link& aside) noexcept;

    wait_note waits;               ///< while it is suspended
    task_record own_task;          ///< of the task that began here
    int held_locks = 0;            ///< locks held by the task on this stack: see held_locks.hpp
    worker_shared* pin = nullptr;  ///< the worker that the task must not leave (pin_to_worker), or
                                   ///< null
    creator_link* link = nullptr;  ///< the creator that is aside for the task that began here, or
                                   ///< null
    std::uint32_t creators_aside = 0;  ///< number of creators aside, including the creator's own
                                       ///< creators

    /// Whether the worker may resume it.
    bool may_run_on(const worker_shared& w) noexcept {
        const worker_shared* const only = root().pin;
        return only == nullptr || only == &w;
    }

private:
    friend class stealable_contexts;

    explicit context(const stack_span& span) noexcept;
    static void enter(void* self) noexcept;
    void set_low_mark() noexcept;
    QUERN_COLD void answer_request() noexcept;

    const void* m_low_mark = nullptr;
    std::atomic<worker_shared*> m_worker{nullptr};  ///< the worker that runs it; changes only while
                                                    ///< none does
    std::atomic<stealable_contexts*> m_listed_in{nullptr};  ///< the list in which thieves find it
                                                            ///< while it does not run
    std::atomic<context*> m_below{nullptr};  ///< its call runs here and it waits for that, or null
    std::atomic<context*> m_root{this};      ///< the last context reached by m_below, or itself
    std::atomic<task_record*> m_task{&own_task};
    std::atomic<std::uintptr_t> m_holder{reinterpret_cast<std::uintptr_t>(this)};
    static void call_entry(void* self) noexcept;

    context* m_made_before = nullptr;  ///< links all contexts of a pool, youngest first
    work* m_first = nullptr;           ///< the item that its loop runs before any other
    void (*m_body)(context&, void*) = nullptr;
    void* m_body_argument = nullptr;
    tick_count m_last_slow_path = 0;
    std::uint32_t m_eager_pushes = 0;  ///< pushes that stay on the slow path
};

/// The context that the calling thread runs, or null on a thread that is not a worker. Read anew at
/// every call, because the thread may change across a suspension.
context* current_context() noexcept;

QUERN_THREAD_WORD context* quern_tls_context;

QUERN_ALWAYS_INLINE context* current_context() noexcept {
    QUERN_READ_THREAD_WORD(context, quern_tls_context);
}

/// The context on which the calling thread's task began, or null. Also valid in a blocking region,
/// where the thread is not a worker.
context* task_root() noexcept;

/// Leaves the current context until it is resumed. `publish(self, argument)` runs after the stack
/// has been left and passes the context to the code that will resume it. False from `publish` means
/// that the event has already happened; the context is resumed at once. May return on another
/// thread. `why` is for reports.
/// Requires: called on a worker.
void suspend(bool (*publish)(context& self, void* argument), void* argument,
             const wait_reason& why) noexcept;

/// The same with a callable, which must live until the context is resumed.
template <class Publish>
void suspend(Publish& publish, const wait_reason& why = {}) noexcept {
    detail::suspend([](context& self, void* p) { return (*static_cast<Publish*>(p))(self); },
                    &publish, why);
}

/// Runs the item next on this worker, on a fresh context. The caller resumes when a worker is free,
/// possibly another one. Requires: called on a worker.
void run_before_self(runnable& item) noexcept;

/// Runs the item, then the link's further items, on a fresh context of this worker. The caller
/// resumes when there are no more or one of them suspends. Their stacks must be no larger than the
/// first one's. Requires: called on a worker; may_step_aside().
void run_beside_self(runnable& first, creator_link& link) noexcept;

/// For a task that leaves its context before it has ended. The first returns the creator that is
/// aside for the task, or null, and unlinks it. The second makes that creator ready through a
/// queue, and with it those that are aside for it in turn.
context* take_creator(context& leaving) noexcept;
void send_creators_on(context& leaving) noexcept;

/// Whether the caller may step aside. Recursion through such calls holds a stack for each level,
/// which this limits. Requires: called on a worker.
inline constexpr std::uint32_t k_most_creators_aside = 1000;
inline bool may_step_aside() noexcept {
    return current_context()->root().creators_aside < k_most_creators_aside;
}

/// Makes a suspended context ready. Any thread. Exactly once per suspension.
void resume(context& suspended) noexcept;
/// The same for a timer: queued last among work from outside, so that many short waits cannot
/// starve other work.
void resume_in_turn(context& suspended) noexcept;

}  // namespace quern::detail
