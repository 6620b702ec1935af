// SPDX-License-Identifier: BSL-1.0
// The stacks of a worker: the contexts between which it switches, its spare ones, its thread's own
// stack, and that of a guest. Only the worker's own thread, or the guest in its place. A base of
// `worker`, so that a switch stores the address of the worker without computing it.
#pragma once

#include <quern/base/detail/assert.hpp>
#include <quern/context/detail/execution_stack.hpp>
#include <quern/scheduler/detail/worker_shared.hpp>

#include <cstdint>
#include <vector>

namespace quern::detail {

class worker_stacks : public worker_shared {
public:
    /// Whether a thread from outside runs what runs here.
    bool has_guest() const noexcept { return m_guest != nullptr; }

    /// A stack of at least that class, from this worker's spare ones if possible.
    context& take_context(stack_class at_least) noexcept;
    void recycle(context& left) noexcept;

    /// Leaves `from` for `to`; `after(argument, from)` runs once `from` has been left.
    struct after_switch {
        void (*run)(context& left, void* argument) = nullptr;
        void* argument = nullptr;
    };
    void switch_context(context& from, context& to, after_switch after) noexcept;
    /// The two halves of it, for a context that runs elsewhere in between: leave_context returns
    /// where the context is resumed, arrived reports that it is back on this worker.
    void leave_context(context& from, context& to, after_switch after) noexcept;
    void arrived() noexcept;
    /// For the code that a new context begins with.
    void landed() noexcept;
    [[noreturn]] void leave_for(context& from, context& to) noexcept;

    /// Calls `entry(to)` on the empty stack `to` instead of switching, and recycles that stack when
    /// the entry has returned. False: `has_ended` was not set, so `from` was resumed by a switch,
    /// and arrived() must follow on the worker that runs it now.
    bool call_context(context& from, context& to, stack_entry entry,
                      const bool& has_ended) noexcept {
        own_contexts_away().add();
        adopt(to);
        from.call(to, *m_exceptions, entry, &to);
        if (!has_ended) {
            return false;
        }
        QUERN_DEBUG_ASSERT(&to.host() == this, "a creator aside has changed its worker");
        from.returned(*m_exceptions);
        adopt(from);
        own_contexts_away().take_back();
        recycle(to);
        own_stats().overhead.ends(overhead_clock::next::user_code);
        return true;
    }

protected:
    /// What a guest finds, and leaves as it was.
    struct guest_place {
        execution_stack own;  ///< the guest's stack
        context* sleeping = nullptr;
        exception_globals* exceptions = nullptr;
    };

    worker_stacks(pool& home, std::uint32_t rank);
    ~worker_stacks();

    /// Runs the loop from the thread's own stack, beginning on `first`. Returns when a context has
    /// left the pool.
    void run_thread(const stack_span& first) noexcept;
    void begin_guest(guest_place& of) noexcept;
    void run_guest_from(guest_place& of, context& first) noexcept;
    void end_guest(const guest_place& of) noexcept;
    [[noreturn]] void leave_pool(context& self) noexcept;

private:
    void adopt(context& c) noexcept;
    [[noreturn]] void switch_away(context& from, execution_stack& to) noexcept;

    /// In lines of their own: used at each switch.
    alignas(k_cache_line) exception_globals* m_exceptions = nullptr;
    after_switch m_after;
    context* m_left = nullptr;           ///< whom m_after concerns
    execution_stack* m_guest = nullptr;  ///< that of the thread that has its place, or null
    std::vector<context*> m_spare;
    execution_stack m_native;  ///< the thread's own stack: runs nothing but the first switch
};

}  // namespace quern::detail
