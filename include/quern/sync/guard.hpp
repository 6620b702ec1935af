// SPDX-License-Identifier: BSL-1.0
// quern::guard and run_guarded, HPX's composable guards: functions that run one after another
// without blocking a caller. A guard is only the future of the end of its last function; that end
// makes the next function ready.
#pragma once

#include <quern/base/detail/blocks.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern {

namespace detail {
class guarded_place;
}

/// Names a resource that one function at a time may access. For run_guarded.
///
/// May be destroyed at any time, even while functions are outstanding.
class guard {
public:
    guard() noexcept = default;
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

private:
    friend class detail::guarded_place;

    detail::spin_lock m_lock;
    shared_future<void> m_last;  ///< ready when the last function has ended; invalid: none
};

/// Guards that are taken together. Cheap to copy; the guards must outlive it.
class guard_set {
public:
    guard_set(std::initializer_list<guard*> guards) : guard_set(std::vector<guard*>(guards)) {}
    explicit guard_set(std::vector<guard*> guards);

private:
    friend class detail::guarded_place;

    std::vector<guard*> m_guards;  ///< Invariant: sorted by address, unique.
};

namespace detail {

/// The position of a function in the order of its guards. Not movable, because other states point
/// to it. Owned by its task.
class guarded_place : public in_blocks {
public:
    /// Allocates all that enter() needs, without entering. Throws std::bad_alloc.
    explicit guarded_place(guard& g);
    explicit guarded_place(const guard_set& all);
    guarded_place(const guarded_place&) = delete;
    guarded_place& operator=(const guarded_place&) = delete;

    /// Enters behind the last function of each guard. True: those have all ended, and the caller
    /// makes the task ready. False: their end makes it ready in this pool. Called once; this object
    /// may be destroyed when it returns.
    bool enter(runnable& task, pool& where) noexcept;

    /// The function has ended; releases the next ones. The destructor does so too.
    void leave() { m_end.set_value(); }

private:
    /// A preceding function, and the waiter for its end.
    struct predecessor : state_waiter {
        explicit predecessor(guard* g = nullptr) noexcept : at(g) {}

        guard* at;
        shared_future<void> ended;
        guarded_place* next_one = nullptr;
    };

    void prepare(guard* const* guards, std::size_t count);
    template <class Function>
    void each_before(Function&& f);
    static state_waiter* told(state_waiter& w) noexcept;

    promise<void> m_end;
    predecessor m_before;                ///< at the first guard, by address
    std::vector<predecessor> m_others;   ///< at each further guard
    std::atomic<std::size_t> m_left{0};  ///< preceding functions, plus enter() itself
    runnable* m_task = nullptr;
    pool* m_where = nullptr;
};

/// The function and its position, which it leaves when the function has ended and is destroyed.
template <class F>
class guarded_call {
public:
    template <class G>
    guarded_call(G&& f, std::unique_ptr<guarded_place> place)
        : m_place(std::move(place)), m_function(std::in_place, std::forward<G>(f)) {}

    std::invoke_result_t<F> operator()() && {
        struct leaver {
            guarded_place& mine;
            ~leaver() { mine.leave(); }
        } const at_end{*m_place};
        const emptied_at_end function_ends(m_function);
        return (*std::move(m_function))();
    }

private:
    std::unique_ptr<guarded_place> m_place;
    std::optional<F> m_function;  ///< destroyed first
};

/// Runs `f` in a task, in the order of the guard or guards. All that may throw precedes enter().
template <class Guards, class F>
auto run_at(const task_attributes& how, Guards& guards, F&& f) {
    pool& where = pool_of(how);
    const creation_timing making;
    auto place = std::make_unique<guarded_place>(guards);
    guarded_place& mine = *place;
    using call = guarded_call<std::decay_t<F>>;
    using T = std::invoke_result_t<call>;
    auto* state = new task_state<call, T>(how.stop, std::forward<F>(f), std::move(place));
    detail::apply_attributes(how, *state);
    future<T> result{state_ref<shared_state<T>>(state)};
    if (mine.enter(*state, where)) {
        state->allow_waiter_to_begin(where);
        where.make_ready(*state);
    }
    return result;
}

}  // namespace detail

/// Starts f() as a task when all functions given to the guard before have ended. Returns the future
/// of its result. The caller does not wait.
///
///     quern::guard account;
///     auto paid = quern::run_guarded(account, [&] { balance += 10; });
///     auto doubled = quern::run_guarded(account, [&] { balance *= 2; });   // after that
///
/// Functions of one guard run in the order of the calls, each after the previous one has returned
/// or thrown and was destroyed, whose effects happen before. A function may suspend. It may give
/// the guard further functions, but must not wait for them. Errors: the future gets what f throws;
/// later functions run regardless. Throws std::bad_alloc, and what copying or moving f throws; then
/// the call has no effect. Thread safety: any thread. Outside a worker the default runtime runs it,
/// unless `how` names a pool; launch policies do not apply. Cost: an async() and two small
/// allocations.
template <class F>
QUERN_ALWAYS_INLINE auto run_guarded(const task_attributes& how, guard& g, F&& f) {
    return detail::run_at(detail::made_at(detail::code_address(), how), g, std::forward<F>(f));
}
template <class F>
QUERN_ALWAYS_INLINE auto run_guarded(guard& g, F&& f) {
    return quern::run_guarded(task_attributes{}, g, std::forward<F>(f));
}

/// With several guards: starts f() when all functions given to any of them before have ended.
///
///     auto moved = quern::run_guarded({&from, &to}, [&] { from_balance -= 5; to_balance += 5; });
///
/// It enters all guards in one step. So two functions that share guards have the same order at
/// each, and there is no deadlock.
template <class F>
QUERN_ALWAYS_INLINE auto run_guarded(const task_attributes& how, const guard_set& all, F&& f) {
    return detail::run_at(detail::made_at(detail::code_address(), how), all, std::forward<F>(f));
}
template <class F>
QUERN_ALWAYS_INLINE auto run_guarded(const guard_set& all, F&& f) {
    return quern::run_guarded(task_attributes{}, all, std::forward<F>(f));
}

}  // namespace quern
