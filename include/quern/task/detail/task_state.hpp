// SPDX-License-Identifier: BSL-1.0
// A task with a result: the closure, the shared state and the item of the ready queue in one
// allocation. It is begun exactly once, by a worker that takes it from a queue or by a waiter,
// whichever claims it first. What does not depend on the types is task_item.
#pragma once

#include <quern/task/attributes.hpp>
#include <quern/task/detail/call_item.hpp>
#include <quern/task/future.hpp>
#include <quern/task/stop.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace quern::detail {

/// The item of a task_state, with all that queues and waiters do with it.
class task_item : public call_item {
public:
    /// Of a task_state: the functions by which a waiter begins it are typed too.
    struct typed : call_item::typed {
        state_base::help begin;           ///< for a waiter
        state_base::help begin_or_start;  ///< for a waiter of a deferred task
    };

    /// Starts the task as its attributes ask. The state's second reference belongs to the queue.
    void start(state_base& state, const typed& as, const task_attributes& wanted,
               pool& where) noexcept;
    /// The same of one without attributes.
    QUERN_ALWAYS_INLINE void start_usual(state_base& state, const typed& as, bool is_child,
                                         pool& where) noexcept {
        if (is_child && starts_as_child(where, 0)) [[unlikely]] {
            return;
        }
        allow_waiter_to_begin(state, as, where);
        where.make_ready(*this);
    }

    /// A waiter may run it if it is a worker of that pool.
    void allow_waiter_to_begin(state_base& state, const typed& as, pool& of) noexcept {
        m_pool = &of;
        state.allow(as.begin);
    }

protected:
    constexpr explicit task_item(run_function f) noexcept : call_item(f) {}
    ~task_item() = default;

    /// The run function.
    context* run_queued(state_base& state, const typed& as) noexcept;
    /// For a waiter: runs it here unless it has begun, or its place is elsewhere.
    void begin_if_possible(state_base& state, const typed& as, sharing with) noexcept;
    /// For a waiter of a deferred task: makes it ready, once, in the pool of the calling thread.
    void start_when_watched(state_base& state) noexcept;

private:
    bool claim() noexcept;
    bool may_run_here(const context* here) const noexcept;
    void begin_in_place(context* here, state_base& state, const typed& as, sharing with) noexcept;
    void begin_now(state_base& state, const typed& as) noexcept;
    context* pass_over(state_base& state) noexcept;

    std::atomic<bool> m_queued{false};  ///< a deferred task was made ready
    pool* m_pool = nullptr;             ///< whose workers may begin it; null: any thread
};

/// Token: std::stop_token, or no_token where none was given.
template <class F, class T, class Token = std::stop_token>
class task_state final : public shared_state<T>, public task_item {
public:
    /// Two references: the future's and the queue's. The function is constructed in place from the
    /// parts.
    template <class... Parts>
    explicit task_state(const Token& stop, Parts&&... parts)
        : shared_state<T>(
              2, [](state_base& self) noexcept { delete &cast(self); }, state_base::maker::task),
          task_item(run_queued),
          m_stop(stop),
          m_function(std::in_place, std::forward<Parts>(parts)...) {}

    void start(const task_attributes& wanted, pool& where) noexcept {
        task_item::start(*this, k_typed, wanted, where);
    }
    QUERN_ALWAYS_INLINE void start_usual(bool is_child, pool& where) noexcept {
        task_item::start_usual(*this, k_typed, is_child, where);
    }
    void allow_waiter_to_begin(pool& of) noexcept {
        task_item::allow_waiter_to_begin(*this, k_typed, of);
    }

private:
    static task_state& cast(state_base& self) noexcept {
        return static_cast<task_state&>(static_cast<shared_state<T>&>(self));
    }
    static task_state& cast(call_item& self) noexcept {
        return static_cast<task_state&>(static_cast<task_item&>(self));
    }

    static context* run_queued(work& item) {
        task_state& self = cast(static_cast<call_item&>(static_cast<runnable&>(item)));
        return self.task_item::run_queued(self, k_typed);
    }
    static void begin(state_base& base, state_base::sharing with) noexcept {
        cast(base).begin_if_possible(base, k_typed, with);
    }
    static void start_deferred(state_base& base) noexcept { cast(base).start_when_watched(base); }

    static void call(call_item& item) {
        task_state& self = cast(item);
        self.emplace_result([&self]() -> T { return (*std::move(self.m_function))(); });
    }
    static void fail(call_item& item, std::exception_ptr error) noexcept {
        cast(item).emplace_error(std::move(error));
    }
    static void drop(call_item& item) noexcept { cast(item).m_function.reset(); }
    static std::stop_token* stop(call_item& item) noexcept {
        if constexpr (k_has_token) {
            return &cast(item).m_stop;
        } else {
            return nullptr;
        }
    }

    static constexpr bool k_has_token = !std::is_same_v<Token, no_token>;
    static constexpr typed k_typed{
        {call, fail, k_owns_something<F> ? drop : nullptr, k_has_token ? stop : nullptr},
        {begin},
        {begin, start_deferred}};

    [[no_unique_address]] Token m_stop;
    std::optional<F> m_function;  ///< empty before the result is known, unless it owns nothing
};

}  // namespace quern::detail
