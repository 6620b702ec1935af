// SPDX-License-Identifier: BSL-1.0
// Calls on fresh stacks. A worker uses contexts (context::call_on_fresh). Other threads borrow a
// large stack from the store, switch to it, and switch back when the call has returned. The thread
// stays the same and does not become a worker.
#include <quern/scheduler/detail/fresh_stack.hpp>

#include <quern/base/detail/assert.hpp>
#include <quern/scheduler/detail/spare_threads.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace quern::detail {

namespace {

/// The stack on which a thread that is not a worker runs: its own or a borrowed one.
struct thread_bounds {
    const char* low = nullptr;
    const char* top = nullptr;  ///< null: not known yet
};
[[gnu::tls_model("initial-exec")]] constinit thread_local thread_bounds tls_bounds{};

/// Threads with small stacks keep half.
std::size_t reserve_of(const thread_bounds& stack) noexcept {
    const auto bytes = static_cast<std::size_t>(stack.top - stack.low);
    return std::min(stack_reserve(stack_class::large), bytes / 2);
}

/// The task on whose stack a spare thread runs, if `sp` lies there.
const context* spare_thread_context_at(const void* sp) noexcept {
    const context* const lent = spare_thread_context();
    return lent != nullptr && lent->span().contains(sp) ? lent : nullptr;
}

thread_bounds& bounds_of_thread() noexcept {
    if (tls_bounds.top == nullptr) {
        const stack_span own = this_thread_stack();
        static constexpr char k_nowhere = 0;  // marks unknown bounds, so that they are not queried
                                              // again
        tls_bounds = own.top != nullptr ? thread_bounds{own.low, own.top}
                                        : thread_bounds{&k_nowhere, &k_nowhere};
    }
    return tls_bounds;
}

stack_span span_of(const void* sp) noexcept {
    if (const context* const lent = spare_thread_context_at(sp)) {
        return lent->span();
    }
    const thread_bounds here = bounds_of_thread();
    stack_span span;
    span.low = const_cast<char*>(here.low);
    span.top = const_cast<char*>(here.top);
    return span;
}

/// A call on a borrowed stack. Lies in the caller's frame.
struct borrowed_call {
    void (*body)(void*);
    void* argument;
    execution_stack caller{};
    execution_stack fresh;

    static void run(void* p) {
        auto& self = *static_cast<borrowed_call*>(p);
        self.fresh.entered();
        self.body(self.argument);
        self.fresh.switch_to(self.caller, this_thread_exceptions(), true);
        invariant_broken("false", "a call on a fresh stack that has returned was resumed", __FILE__,
                         __LINE__);
    }
};

/// False: there is no memory for a stack.
bool call_on_borrowed_stack(void (*body)(void*), void* argument) noexcept {
    stack_span span;
    try {
        span = allocate_stack(stack_class::large);
    } catch (const std::bad_alloc&) {
        return false;
    }
    borrowed_call call{body, argument, {}, execution_stack(span)};
    call.caller.adopt(span_of(stack_position()));
    call.fresh.restart(borrowed_call::run, &call);
    const thread_bounds before = std::exchange(bounds_of_thread(), {span.low, span.top});
    call.caller.switch_to(call.fresh, this_thread_exceptions(), false);
    bounds_of_thread() = before;
    call.fresh.forget();
    release_stack(span);
    return true;
}

}  // namespace

stack_span stack_of_caller() noexcept { return span_of(stack_position()); }

QUERN_NOINLINE bool thread_runs_low(const void* sp) noexcept {
    compiler_barrier();
    if (const context* const lent = spare_thread_context_at(sp)) {
        return lent->is_low(sp);
    }
    const thread_bounds& here = bounds_of_thread();
    const auto* const at = static_cast<const char*>(sp);
    return at >= here.low && at < here.low + reserve_of(here);
}

std::size_t bytes_left_of_stack(const void* sp) noexcept {
    const context* const here = current_context();
    const stack_span span = here != nullptr ? here->span() : span_of(sp);
    const auto* const at = static_cast<const char*>(sp);
    return at > span.low ? static_cast<std::size_t>(at - span.low) : 0;
}

void call_on_fresh_stack(void (*body)(void* argument), void* argument) noexcept {
    if (context* const here = current_context()) {
        here->call_on_fresh(body, argument);
    } else if (!call_on_borrowed_stack(body, argument)) {
        body(argument);
    }
}

}  // namespace quern::detail
