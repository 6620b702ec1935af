// SPDX-License-Identifier: BSL-1.0
// quern::guard and run_guarded: HPX's composable guards: functions that are run one after another
// without anybody waiting. A guard is nothing but the future of the end of the last function that
// was given to it; the next one is a continuation of that.
#pragma once

#include <quern/base/spin_lock.hpp>
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/when.hpp>

#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern {

namespace detail {
class guarded_place;
}

/// Something that one function at a time may touch. For run_guarded.
///
/// It may be destroyed at any time, also while functions are still to be run.
class guard {
public:
    guard() noexcept = default;
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

private:
    friend class detail::guarded_place;

    detail::spin_lock m_lock;
    shared_future<void> m_last;  ///< ready when the last function has ended; invalid: there is none
};

/// Guards that are taken together. Cheap to copy; the guards must outlive it.
class guard_set {
public:
    guard_set(std::initializer_list<guard*> guards) : guard_set(std::vector<guard*>(guards)) {}
    explicit guard_set(std::vector<guard*> guards);

private:
    friend class detail::guarded_place;

    std::vector<guard*> m_guards;  ///< Invariant: by address, each once.
};

namespace detail {

/// The place of a function in the order of its guards. When it is gone the next ones are run; so
/// one that is given up, for want of memory, first waits for those before.
class guarded_place {
public:
    /// Behind the last function of that guard, or of all of these. Throws std::bad_alloc.
    explicit guarded_place(guard& g);
    explicit guarded_place(const guard_set& all);

    guarded_place(guarded_place&&) noexcept = default;
    guarded_place& operator=(guarded_place&&) = delete;
    ~guarded_place() {
        for (const shared_future<void>& each : m_before) {
            each.wait();
        }
    }

    /// Ready when the functions before have ended.
    const std::vector<shared_future<void>>& before() const noexcept { return m_before; }

    /// They have, and this one too.
    void leave() {
        m_before.clear();
        m_end.set_value();
    }

private:
    void enter(guard* const* first, guard* const* last);

    std::vector<shared_future<void>> m_before;
    promise<void> m_end;
};

/// Runs `f` in a task, at a place at the guard or guards. Everything that user code may throw comes
/// before the place is taken.
template <class Guards, class F>
auto run_at(task_attributes how, Guards& guards, F&& f) {
    using function = std::decay_t<F>;
    static_assert(std::is_nothrow_move_constructible_v<function>,
                  "a function for a guard must be movable without exceptions");
    how.how = launch::async;
    how.pool = &pool_of(how);
    function own(std::forward<F>(f));
    guarded_place place(guards);
    const std::size_t behind = place.before().size();
    const auto one = behind == 1 ? place.before().front() : shared_future<void>();
    auto several = behind > 1 ? place.before() : std::vector<shared_future<void>>();
    auto call = [f = std::move(own),
                 place = std::move(place)](auto&&...) mutable -> decltype(auto) {
        struct leaver {
            guarded_place& mine;
            ~leaver() { mine.leave(); }
        } const at_end{place};
        return std::move(f)();
    };
    using result = decltype(one.then(how, std::move(call)));
    if (behind == 0) {
        return result(async(how, std::move(call)));
    }
    if (behind == 1) {
        return one.then(how, std::move(call));
    }
    return result(when_all(std::move(several)).then(how, std::move(call)));
}

}  // namespace detail

/// Starts f() as a task when all functions have ended that were given to the guard before, and
/// returns the future of its result. The caller does not wait.
///
///     quern::guard account;
///     auto paid = quern::run_guarded(account, [&] { balance += 10; });
///     auto doubled = quern::run_guarded(account, [&] { balance *= 2; });   // after that
///
/// Functions of one guard are run in the order of the calls, each after the one before has
/// returned or thrown; what that did happens before. A function may suspend, and it may give the
/// guard further functions, but must not wait for them.
/// Errors: what f throws comes out of the future; later functions are run all the same. Throws
/// std::bad_alloc, when the functions before have ended.
/// Thread safety: any thread. Outside a worker the default runtime runs it, unless `how` names a
/// pool; a launch policy does not apply. Cost: an async() or a then(), and a future.
template <class F>
QUERN_ALWAYS_INLINE auto run_guarded(const task_attributes& how, guard& g, F&& f) {
    return detail::run_at(detail::made_at(detail::code_address(), how), g, std::forward<F>(f));
}
template <class F>
QUERN_ALWAYS_INLINE auto run_guarded(guard& g, F&& f) {
    return run_guarded(task_attributes{}, g, std::forward<F>(f));
}

/// The same with several guards: when all functions have ended that were given to any of them.
///
///     auto moved = quern::run_guarded({&from, &to}, [&] { from_balance -= 5; to_balance += 5; });
///
/// It takes its place at all of them in one step, so two that share guards are run in the same
/// order at each, and no two ever wait for each other.
template <class F>
QUERN_ALWAYS_INLINE auto run_guarded(const task_attributes& how, const guard_set& all, F&& f) {
    return detail::run_at(detail::made_at(detail::code_address(), how), all, std::forward<F>(f));
}
template <class F>
QUERN_ALWAYS_INLINE auto run_guarded(const guard_set& all, F&& f) {
    return run_guarded(task_attributes{}, all, std::forward<F>(f));
}

}  // namespace quern
