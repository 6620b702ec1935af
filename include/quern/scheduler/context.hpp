// SPDX-License-Identifier: BSL-1.0
// A stack on which the scheduler's loop and, on top of it, user code runs: the fork deque that
// moves with it, its place in queues, and the worker that runs it now. It lies in the room at the
// top of its own stack, so that a pointer to one of its slots finds it by masking.
#pragma once

#include <quern/base/clock.hpp>
#include <quern/base/intrusive_list.hpp>
#include <quern/base/relaxed.hpp>
#include <quern/base/thread_word.hpp>
#include <quern/context/execution_stack.hpp>
#include <quern/scheduler/completion.hpp>
#include <quern/scheduler/fork_deque.hpp>
#include <quern/scheduler/task_locals.hpp>
#include <quern/scheduler/wait_reason.hpp>
#include <quern/scheduler/work.hpp>

#include <atomic>
#include <cstdint>

namespace quern::detail {

class pool;
class shelf;
class stop_signal;
class worker;
struct lent_task;

/// A forked child that its parent will join: lies in the parent's frame. `run` runs the child and
/// keeps its result in the entry; whoever ran it then calls `joined.complete()`.
struct fork_entry : work {
    explicit fork_entry(run_function f) noexcept : work(f) {}
    completion<std_atomics, context> joined;
};

/// A creator that stands aside while some of its tasks run on another context, one after the other.
/// It goes on, on the same worker, when one of them suspends or there are no more. Lies in its
/// frame.
struct creator_link {
    context* creator = nullptr;
    /// The next item to run there, or null.
    runnable* (*more)(creator_link& self) noexcept = nullptr;
    bool is_over = false;  ///< there were no more, and none has suspended
};

/// What reports say of a task that has begun.
struct task_description {
    relaxed<const char*> name = nullptr;               ///< given by the user, or null
    relaxed<const void*> site = nullptr;               ///< where it was made, or null
    relaxed<work::run_function> entry = nullptr;       ///< what runs it
    relaxed<std::uint64_t> id = 0;                     ///< once somebody has asked
    relaxed<const void*> result = nullptr;             ///< the state of its future, or null
    relaxed<const task_description*> outer = nullptr;  ///< of whom it runs in the place, or null
};

/// All that is known of it; what is added here is the task's own. Lies in the context on which the
/// task began, or in the frame of the one in whose place it runs.
struct task_record : task_description {
    const stop_signal* stop = nullptr;  ///< who may ask it to stop, if anybody
    task_locals locals{};               ///< its task-local variables
    traced_task trace{};                ///< the hooks' own

    /// Begins afresh. Field by field: a copy of a record that has just been written, in other
    /// portions than it was written in, takes longer than the rest of a tiny task.
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
    /// Makes a context in the room of the span.
    static context& make(const stack_span& span) noexcept;

    /// The context to which a slot belongs: one mask, no load.
    static context& of(fork_slot* slot) noexcept {
        return *reinterpret_cast<context*>(
            (reinterpret_cast<std::uintptr_t>(slot) & ~(std::uintptr_t{k_block} - 1)) +
            k_room_offset);
    }

    /// Begins afresh: the next switch to it runs the loop, with `first` as its first item if any.
    void reopen_for_loop(work* first = nullptr) noexcept;

    /// Begins afresh: the next switch to it calls body(argument), which must end in leave_for().
    void reopen_for_call(void (*body)(context& self, void* argument), void* argument) noexcept;

    /// Whether `sp` has come so close to the end that what is called next needs another stack.
    QUERN_ALWAYS_INLINE bool is_low(const void* sp) const noexcept { return sp < m_low_mark; }

    /// The slow path of a push: `quern::detail::fork_deque` says when.
    QUERN_COLD void push_trapped() noexcept;

    /// For an owner that does not push for a while but holds private entries: makes half of them
    /// public if somebody has asked.
    void offer_if_wanted() noexcept {
        if (wanted() && has_private()) {
            answer_hunger();
        }
    }

    /// The slow path of a pop. True: the entry is the caller's to run. False: it has been run by a
    /// thief, and its result is in it. May suspend.
    QUERN_COLD bool join(fork_slot* place) noexcept;

    /// Calls `body(argument)` on a fresh context and returns when it has returned. Requires: the
    /// caller runs here; `body` does not throw.
    QUERN_COLD void call_on_fresh(void (*body)(void* argument), void* argument) noexcept;

    worker& host() const noexcept { return *m_worker; }

    /// The context on which the present task began: this one, unless the task went on on a fresh
    /// stack.
    context& root() noexcept { return *m_root.load(std::memory_order_relaxed); }

    /// Of the task that runs here now: of the one that began here, unless another one runs in its
    /// place. Requires: it is its own root(). Who does not run it takes a record_copy.
    task_record& task() const noexcept { return *m_task.load(std::memory_order_relaxed); }
    /// The next task that runs here in another one's place; and again the one before.
    void set_task(task_record& now) noexcept { m_task.store(&now, std::memory_order_release); }

    stack_class size() const noexcept { return span().size; }

    /// The context that the item is, or null.
    static context* from(work& item) noexcept;

    /// Stands for the task that runs here, in the word of a lock. Another one for the next task, so
    /// that what a task has left locked is not taken for its successor's. Never 0, lowest bit 0.
    std::uintptr_t holder() const noexcept { return m_holder.load(std::memory_order_relaxed); }
    void next_holder() noexcept {
        const std::uintptr_t next = (holder() + 2) % k_room_offset;
        m_holder.store(reinterpret_cast<std::uintptr_t>(this) + next, std::memory_order_relaxed);
    }
    /// The address of the context of a holder.
    static std::uintptr_t of_holder(std::uintptr_t holder) noexcept {
        return holder - holder % k_room_offset;
    }

    /// Whose call runs here on a fresh stack, or null.
    context* below() const noexcept { return m_below.load(std::memory_order_relaxed); }
    context* made_before() const noexcept { return m_made_before; }

    wait_note waits;               ///< while it is suspended
    task_record own_task;          ///< of the task that began here
    int held_locks = 0;            ///< what the task on this stack has locked: see held_locks.hpp
    worker* pin = nullptr;         ///< the worker that task must not leave (pin_to_worker), or null
    creator_link* link = nullptr;  ///< who stands aside for the task that began here, or null
    std::uint32_t creators_aside = 0;  ///< how many do, the creator's own creator included

    /// Whether a worker may go on with it.
    bool may_run_on(const worker& w) noexcept {
        const worker* const only = root().pin;
        return only == nullptr || only == &w;
    }

private:
    friend class pool;
    friend class shelf;
    friend class worker;
    friend void suspend(bool (*)(context&, void*), void*, const wait_reason&) noexcept;
    friend void run_before_self(runnable&) noexcept;
    friend void run_beside_self(runnable&, creator_link&) noexcept;
    friend void lend_to_spare_thread(lent_task&);

    explicit context(const stack_span& span) noexcept;
    static void enter(void* self) noexcept;
    void set_low_mark() noexcept;
    QUERN_COLD void answer_hunger() noexcept;
    bool lay_open_to_thieves() noexcept;

    const void* m_low_mark = nullptr;
    worker* m_worker = nullptr;              ///< who runs it; changes only while nobody does
    std::atomic<shelf*> m_shelf{nullptr};    ///< where thieves find it while it does not run
    std::atomic<context*> m_below{nullptr};  ///< who waits for the call that runs here, if any
    std::atomic<context*> m_root{this};      ///< the last one below it, or itself
    std::atomic<task_record*> m_task{&own_task};
    std::atomic<std::uintptr_t> m_holder{reinterpret_cast<std::uintptr_t>(this)};
    void call_beside(context& fresh, runnable& first, creator_link& aside) noexcept;
    static void call_entry(void* self) noexcept;

    context* m_made_before = nullptr;  ///< all contexts of a pool, the youngest first
    work* m_first = nullptr;           ///< what its loop runs before anything else
    void (*m_body)(context&, void*) = nullptr;
    void* m_body_argument = nullptr;
    tick_count m_last_trap = 0;
    std::uint32_t m_eager_pushes = 0;  ///< pushes that stay on the slow path
};

/// The context that the calling thread runs, or null on a thread that is no worker. Read afresh at
/// every call: after a suspension the thread may be another one.
context* current_context() noexcept;

QUERN_THREAD_WORD context* quern_tls_context;

QUERN_ALWAYS_INLINE context* current_context() noexcept {
    QUERN_READ_THREAD_WORD(context, quern_tls_context);
}

/// Whose task the calling thread runs, also where it does so in a blocking region and is no worker:
/// the context on which the task began, or null.
context* task_root() noexcept;

/// A task's function has returned and nobody has been told: destroys what is local to the task.
/// One branch when that is nothing.
QUERN_ALWAYS_INLINE void end_task() noexcept {
    if (context* const here = current_context()) {
        here->root().task().locals.destroy_all();
    }
}

/// Leaves the current context until somebody resumes it. `publish(self, argument)` runs after the
/// stack has been left and makes it known to whoever will resume it; when it returns false the
/// event has already happened and the context is resumed at once. May return on another thread.
/// `why` is for reports.
/// Requires: called on a worker.
void suspend(bool (*publish)(context& self, void* argument), void* argument,
             const wait_reason& why) noexcept;

/// The same with a callable, which must live until the context is resumed.
template <class Publish>
void suspend(Publish& publish, const wait_reason& why = {}) noexcept {
    detail::suspend([](context& self, void* p) { return (*static_cast<Publish*>(p))(self); },
                    &publish, why);
}

/// Gives way to an item that the current worker runs next, on a fresh context; the caller goes on
/// when a worker is free, perhaps another one. Requires: called on a worker.
void run_before_self(runnable& item) noexcept;

/// Runs the item, and what the link gives after it, on a fresh context of this worker; the caller
/// goes on when there is no more or one of them suspends. Their stacks must be no larger than the
/// first one's. Requires: called on a worker; may_stand_aside().
void run_beside_self(runnable& first, creator_link& link) noexcept;

/// For one that leaves its context before its task has ended: the creator that stands aside for
/// that task, who does so no longer, or null. And the same where it goes on by a queue.
context* take_creator(context& leaving) noexcept;
void send_creator_on(context& leaving) noexcept;

/// Whether the caller may: a recursion through such calls would hold a stack for each level, so it
/// may go no deeper than this. Requires: called on a worker.
inline constexpr std::uint32_t k_most_creators_aside = 1000;
inline bool may_stand_aside() noexcept {
    return current_context()->root().creators_aside < k_most_creators_aside;
}

/// Makes a suspended context ready. Any thread. Exactly once per suspension.
void resume(context& suspended) noexcept;
/// The same for a timer: last of the work from outside, so that many short waits cannot keep a
/// worker from all else.
void resume_in_turn(context& suspended) noexcept;

}  // namespace quern::detail
