// SPDX-License-Identifier: BSL-1.0
// fork_join(f, g): runs two functions, possibly in parallel, and returns when both are done. The
// fast path is a handful of stores: no allocation, no fence, no read-modify-write unless a thief
// steals. Design: docs/design/0001-fork-join-fast-path.md; the deque:
// scheduler/detail/fork_deque.hpp.
#pragma once

#include <quern/base/detail/trivial_copy.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/task/detail/enough_stack.hpp>
#include <quern/task/detail/run_on.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace quern {

/// The slot of the running task for the next fork. Pass it down a recursion by value to keep it in
/// a register; overloads without it look it up in thread-local memory. Valid until the function
/// that received it returns, and only in the task that received it.
class fork_context {
public:
    explicit fork_context(detail::fork_slot* slot) noexcept : m_slot(slot) {}

    detail::fork_slot* slot() const noexcept { return m_slot; }

private:
    // One pointer, not two: gcc 12 stores a two-word struct by halves and reads it back whole,
    // which stalls (docs/design/0001-fork-join-fast-path.md).
    detail::fork_slot* m_slot;
};

namespace detail {

/// Calls a child, with the context if it accepts one.
template <class F>
QUERN_ALWAYS_INLINE auto call_child(F& f, fork_slot* slot) {
    if constexpr (std::is_invocable_v<F&, fork_context>) {
        return detail::call_stored(f, fork_context(slot));
    } else {
        return detail::call_stored(f);
    }
}

template <class F>
struct child_result {
    using type = std::invoke_result_t<F&>;
};
template <class F>
    requires std::is_invocable_v<F&, fork_context>
struct child_result<F> {
    using type = std::invoke_result_t<F&, fork_context>;
};
template <class F>
using child_result_t = typename child_result<std::remove_reference_t<F>>::type;

/// Closures up to this size in bytes are copied into the entry, so the parent's own copy can stay
/// in registers. Larger ones are referred to.
inline constexpr std::size_t k_copied_closure = 64;

template <class F>
inline constexpr bool k_copy_closure =
    !std::is_lvalue_reference_v<F> && k_copies_trivially<std::remove_cvref_t<F>> &&
    sizeof(std::remove_cvref_t<F>) <= k_copied_closure;

/// The forked child, in its parent's frame.
template <class F>
struct child final : fork_entry {
    using function = std::remove_reference_t<F>;
    using held = std::conditional_t<k_copy_closure<F>, function, function*>;
    using result = child_result_t<F>;

    QUERN_ALWAYS_INLINE explicit child(function& f) noexcept
        : fork_entry(run_stolen), m_held(hold(f)) {}

    /// The outcome that a thief stored.
    stored_result<result> take() { return m_outcome.take(); }
    void drop() noexcept { m_outcome.drop(); }

private:
    QUERN_ALWAYS_INLINE static held hold(function& f) noexcept {
        if constexpr (k_copy_closure<F>) {
            return f;
        } else {
            return &f;
        }
    }

    function& callee() noexcept {
        if constexpr (k_copy_closure<F>) {
            return m_held;
        } else {
            return *m_held;
        }
    }

    static context* run_stolen(work& item) {
        auto& self = static_cast<child&>(item);
        fork_slot* slot = current_context()->bottom();
        return detail::run_stolen_fork(self, [&] {
            self.m_outcome.set_from([&]() -> result {
                const task_body body(task_body::part_of::task);
                if constexpr (std::is_invocable_v<function&, fork_context>) {
                    return self.callee()(fork_context(slot));
                } else {
                    return self.callee()();
                }
            });
        });
    }

    held m_held;
    late_outcome<result> m_outcome;
};

/// Removes the forked child from the deque when its sibling throws. If it has not begun, it is
/// dropped; else it is waited for, and its exception, if any, is reported as a later one.
template <class F>
QUERN_COLD void drop_child(fork_slot* slot) noexcept {
    context& place = context::of(slot);
    if (!place.pop(slot) && !place.join(slot)) {
        static_cast<child<F>&>(**slot).drop();
    }
}

/// The slow path of a pop; see context::join. A child of a task with branches of its own is run
/// here (scheduler/detail/branches.hpp): then it is as if a thief had run it.
bool join_child(fork_slot* slot) noexcept;

/// Runs a child on a fresh stack because this one is nearly used up.
template <class F>
QUERN_COLD auto call_child_on_fresh_stack(F& f) {
    const auto call = [&f] { return detail::call_child(f, current_context()->bottom()); };
    return detail::on_fresh_stack(call);
}

/// Calls a child with the context of the stack it runs on: this one, or a fresh one if this one is
/// nearly used up.
template <class F>
QUERN_ALWAYS_INLINE auto call_child_on_enough_stack(F& f, fork_slot* slot) {
    if (context::of(slot).is_low(stack_position())) [[unlikely]] {
        return detail::call_child_on_fresh_stack(f);
    }
    return detail::call_child(f, slot);
}

/// Combines the two stored results into the caller's.
template <class RF, class RG>
QUERN_ALWAYS_INLINE auto combine(stored_result<RF>&& f, stored_result<RG>&& g) {
    if constexpr (std::is_void_v<RF> && std::is_void_v<RG>) {
        return;
    } else if constexpr (std::is_void_v<RG>) {
        return std::move(f);
    } else if constexpr (std::is_void_v<RF>) {
        return std::move(g);
    } else {
        return std::pair<stored_result<RF>, stored_result<RG>>(std::move(f), std::move(g));
    }
}

/// Hides the origin of a value from the compiler, so that it recomputes derived values instead of
/// keeping them in callee-saved registers across the children.
template <class T>
QUERN_ALWAYS_INLINE T* opaque(T* value) noexcept {
    asm("" : "+r"(value));
    return value;
}

/// How a closure is passed: by value if it will be copied anyway.
template <class F>
using passed = std::conditional_t<k_copy_closure<F>, std::remove_cvref_t<F>, F&>;

/// The rest of a fork_join on a nearly used-up stack: each child runs on a fresh one.
template <class HowF, class HowG>
QUERN_COLD auto finish_elsewhere(fork_slot* slot, passed<HowF> f, passed<HowG> g) {
    using child_type = child<HowF>;
    using RF = typename child_type::result;
    using RG = child_result_t<HowG>;
    stored_result<RG> second = [&] {
        try {
            return detail::call_child_on_fresh_stack(g);
        } catch (...) {
            detail::drop_child<HowF>(slot);
            throw;
        }
    }();
    if (context::of(slot).pop(slot) || join_child(slot)) {
        return detail::combine<RF, RG>(detail::call_child_on_fresh_stack(f), std::move(second));
    }
    return detail::combine<RF, RG>(static_cast<child_type&>(**slot).take(), std::move(second));
}

/// Only the slot is live across each child: the context is found by masking it, the forked entry by
/// reading it. Every further live value costs the leaf calls a push and a pop.
template <class HowF, class HowG, class F, class G>
QUERN_ALWAYS_INLINE auto fork_join_at(fork_slot* slot, F& f, G& g) {
    using child_type = child<HowF>;
    using RF = typename child_type::result;
    using RG = child_result_t<G>;
    child_type forked(f);
    context& before = *opaque(&context::of(slot));
    if (before.push(slot, &forked)) [[unlikely]] {
        context::of(slot).push_trapped();
    }
    if (before.is_low(stack_position())) [[unlikely]] {
        return detail::finish_elsewhere<HowF, HowG>(slot, f, g);
    }
    stored_result<RG> second = [&]() __attribute__((always_inline)) {
        try {
            return detail::call_child(g, opaque(slot) + 1);
        } catch (...) {
            detail::drop_child<HowF>(slot);
            throw;
        }
    }
    ();
    context& place = *opaque(&context::of(opaque(slot)));
    if (place.pop(slot) || join_child(slot)) [[likely]] {
        return detail::combine<RF, RG>(detail::call_child(f, slot), std::move(second));
    }
    return detail::combine<RF, RG>(static_cast<child_type&>(**slot).take(), std::move(second));
}

/// Deliberately not inlined. The forking function stays small, so the compiler inlines *it* where
/// the children call it. Its leaves then cost a comparison and no frame.
template <class F, class G>
QUERN_NOINLINE auto fork_join_on(fork_slot* slot, passed<F> f, passed<G> g) {
    return detail::fork_join_at<F, G>(slot, f, g);
}

template <class F, class G>
QUERN_COLD auto fork_join_from_outside(const void* site, F& f, G& g) {
    return detail::run_on(current_pool().get(), site, [&] {
        return detail::fork_join_at<F&, G&>(current_context()->bottom(), f, g);
    });
}

template <class F, class G>
QUERN_NOINLINE auto fork_join_here(passed<F> f, passed<G> g) {
    context* here = current_context();
    if (here == nullptr) [[unlikely]] {
        const void* site =
            static_cast<const char*>(__builtin_return_address(0)) - 1;  // inside the call
        return detail::fork_join_from_outside(site, f, g);
    }
    return detail::fork_join_at<F, G>(here->bottom(), f, g);
}

template <class F>
concept forkable = std::is_invocable_v<std::add_lvalue_reference_t<F>> ||
    std::is_invocable_v<std::add_lvalue_reference_t<F>, fork_context>;

}  // namespace detail

/// Runs `f` and `g`, in parallel if a worker is free, and returns when both are done. `g` runs at
/// once on the calling stack. `f` may be stolen; otherwise it runs here after `g`. Either may take
/// a fork_context to fork further. Running g, then f, sequentially must be correct (serial
/// elision).
///
/// Returns std::pair of the results. If one function returns void, only the other's result; if both
/// do, void. A reference result is returned as a pointer.
/// Errors: the exception of `g`, else that of `f`. If `g` throws before `f` has begun, `f` is
/// dropped. Both have ended when the exception leaves. If both throw, that of `f` goes to the
/// handler (exceptions.hpp).
/// Thread safety: any thread; outside a worker the call runs on the default runtime and blocks the
/// calling thread. If the caller had to wait, it may continue on another thread.
/// Cost: about 1 ns (2-3 ns without the explicit context) when `f` is not stolen.
///
///     long fib(quern::fork_context c, int n) {
///         if (n < 2) return n;
///         auto [a, b] = quern::fork_join(c, [n](auto c) { return fib(c, n - 1); },
///                                           [n](auto c) { return fib(c, n - 2); });
///         return a + b;
///     }
template <detail::forkable F, detail::forkable G>
QUERN_ALWAYS_INLINE auto fork_join(fork_context c, F&& f, G&& g) {
    return detail::fork_join_on<F, G>(c.slot(), f, g);
}

template <detail::forkable F, detail::forkable G>
QUERN_ALWAYS_INLINE auto fork_join(F&& f, G&& g) {
    return detail::fork_join_here<F, G>(f, g);
}

namespace detail {

/// Calls a child; its result as a tuple of one, or of none if it returns void.
template <class F>
auto call_for_results(F& f, fork_slot* slot) {
    using R = child_result_t<F>;
    if constexpr (std::is_void_v<R>) {
        detail::call_child(f, slot);
        return std::tuple<>();
    } else {
        return std::tuple<stored_result<R>>(detail::call_child(f, slot));
    }
}

/// The first is forked beside all others. The results as one tuple.
template <class First, class... Others>
auto fork_all(fork_slot* slot, First& first, Others&... others) {
    if constexpr (sizeof...(Others) == 0) {
        return detail::call_for_results(first, slot);
    } else {
        const auto one = [&first](fork_context c) {
            return detail::call_for_results(first, c.slot());
        };
        const auto rest = [&others...](fork_context c) {
            return detail::fork_all(c.slot(), others...);
        };
        auto [of_one, of_rest] =
            detail::fork_join_on<decltype(one), decltype(rest)>(slot, one, rest);
        return std::tuple_cat(std::move(of_one), std::move(of_rest));
    }
}

/// As fork_join returns them: nothing, the only one, or all.
template <class... Results>
auto unpacked(std::tuple<Results...>&& all) {
    if constexpr (sizeof...(Results) == 1) {
        return std::get<0>(std::move(all));
    } else if constexpr (sizeof...(Results) > 1) {
        return std::move(all);
    }
}

}  // namespace detail

/// Calls f(fork_context) with the context of the running task: the first one, which a recursion
/// passes down. Returns what f returns.
///
/// Errors: the exception of f.
/// Thread safety: any thread; outside a worker the call runs on the default runtime and blocks the
/// calling thread.
/// Cost: a lookup in thread-local memory.
///
///     const long n = quern::with_fork_context([](quern::fork_context c) { return fib(c, 40); });
template <class F>
requires std::is_invocable_v<F&, fork_context> QUERN_ALWAYS_INLINE auto with_fork_context(F&& f)
    -> std::invoke_result_t<F&, fork_context> {
    detail::context* const here = detail::current_context();
    if (here == nullptr) [[unlikely]] {
        return detail::run_on(current_pool().get(), detail::code_address(),
                              [&f]() -> std::invoke_result_t<F&, fork_context> {
                                  return f(fork_context(detail::current_context()->bottom()));
                              });
    }
    if constexpr (detail::k_can_be_carried<std::invoke_result_t<F&, fork_context>>) {
        if (here->is_low(detail::stack_position())) [[unlikely]] {
            const auto call = [&f]() -> std::invoke_result_t<F&, fork_context> {
                return f(fork_context(detail::current_context()->bottom()));
            };
            return detail::on_fresh_stack(call);
        }
    }
    return f(fork_context(here->bottom()));
}

/// fork_join of three functions and more. The last runs at once on the calling stack; all others
/// may be stolen, the first one first, and those that are not run here in reverse order.
///
/// Returns std::tuple of the results, in the order of the functions, without those of functions
/// that return void; if one result is left, that; if none, void.
/// Errors: the exception of the function that comes last among those that threw; earlier ones that
/// had not begun are dropped, and all have ended when the exception leaves. Other exceptions go to
/// the handler (exceptions.hpp).
/// Thread safety: as with two functions.
/// Cost: about 1 ns for each function but the last, if it is not stolen.
///
///     auto [north, south, sum] = quern::fork_join([&] { return norm(upper); },
///                                                 [&] { return norm(lower); },
///                                                 [&] { return total(all); });
template <detail::forkable F, detail::forkable G, detail::forkable H, detail::forkable... More>
QUERN_ALWAYS_INLINE auto fork_join(fork_context c, F&& f, G&& g, H&& h, More&&... more) {
    return detail::unpacked(detail::fork_all(c.slot(), f, g, h, more...));
}

template <detail::forkable F, detail::forkable G, detail::forkable H, detail::forkable... More>
QUERN_ALWAYS_INLINE auto fork_join(F&& f, G&& g, H&& h, More&&... more) {
    return quern::with_fork_context([&](fork_context c) {
        return detail::unpacked(detail::fork_all(c.slot(), f, g, h, more...));
    });
}

}  // namespace quern
