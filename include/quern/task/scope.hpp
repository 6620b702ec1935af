// SPDX-License-Identifier: BSL-1.0
// scope: forks any number of children, which end before the scope does. Like fork_join for n: the
// children are in the deque of the running stack, where thieves take the oldest. The parent runs
// the rest at the end, youngest first, without an atomic operation.
#pragma once

#include <quern/base/detail/blocks.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/stop.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace quern {

/// Passed to the function that scope() calls. Belongs to the task that received it.
class fork_scope {
public:
    fork_scope(const fork_scope&) = delete;
    fork_scope& operator=(const fork_scope&) = delete;

    /// Forks f() or f(fork_context). What f refers to must live until the scope ends. If 64
    /// unstolen children are ready on this stack, f runs at once, so a loop that spawns a million
    /// children keeps only a few. So f must not wait for what happens after its spawn; tasks that
    /// wait for one another belong in a task_group. When the scope is asked to stop, f is dropped,
    /// perhaps later.
    template <class F>
        requires detail::forkable<F>
    void spawn(F&& f) {
        detail::context& place = detail::context::of(m_next);
        if (place.has_private(k_plenty) || (place.no_room_at(m_next) && !make_room(place))) {
            run_now(place, f);
            return;
        }
        auto* forked = make<std::decay_t<F>>(std::forward<F>(f));
        if (place.push(m_next++, forked)) [[unlikely]] {
            place.push_trapped();
        }
    }

    /// As spawn(), and assigns the result: `result = f()`, or `result = f(fork_context)`. `result`
    /// is written by the child's thread, and may be read when the scope has ended. It is unchanged
    /// if the child has thrown or was dropped; a std::optional tells that. What the assignment
    /// throws is the child's exception. Cost: as spawn(), with a pointer more in the child; no
    /// allocation for the result.
    ///
    ///     std::optional<double> north, south;
    ///     quern::scope([&](quern::fork_scope& s) {
    ///         s.spawn_into(north, [&] { return norm(upper); });
    ///         s.spawn_into(south, [&] { return norm(lower); });
    ///     });
    ///     use(*north + *south);
    template <class T, class F>
        requires detail::forkable<F>
    void spawn_into(T& result, F&& f) {
        using given = detail::child_result_t<F>;
        static_assert(!std::is_void_v<given>,
                      "quern: scope: spawn_into keeps what the function returns, and this one "
                      "returns nothing: use spawn");
        if constexpr (!std::is_void_v<given>) {
            static_assert(std::is_assignable_v<T&, given>,
                          "quern: scope: what the function returns cannot be assigned to the "
                          "result of spawn_into");
            spawn(into<T, std::decay_t<F>>{&result, std::forward<F>(f)});
        }
    }

private:
    template <class Body>
    friend void scope(fork_context c, std::stop_token stop, Body&& body);

    /// The body and the joins of a scope.
    template <class Body>
    static void run(fork_context c, std::stop_token&& stop, Body& body) {
        // As an under_signal, without the search for the running task.
        detail::context& root = detail::context::of(c.slot()).root();
        const detail::stop_signal* const around = root.task().stop;
        fork_scope s(c.slot(), std::move(stop), around);
        root.task().stop = &s.m_stop;
        try {
            body(s);
        } catch (...) {
            s.body_failed();
        }
        s.join_all();
        root.task().stop = around;
        if (s.m_error != nullptr) {
            std::rethrow_exception(std::move(s.m_error));
        }
        detail::throw_if_stopped(s.m_stop.token(), task_cancelled::subject::scope);
    }

    /// A function whose result is assigned.
    template <class T, class F>
    struct into {
        void operator()(fork_context c) {
            if constexpr (std::is_invocable_v<F&, fork_context>) {
                *result = function(c);
            } else {
                *result = function();
            }
        }

        T* result;
        F function;
    };

    /// How the parent ends a child: it runs it, drops it, or takes its error from the thief.
    enum class ending : std::uint8_t { run, drop, take };

    /// A forked child that the parent ends without knowing its type, in one indirect call: families
    /// of ten children are common, and cost what their children cost.
    struct child_base : detail::fork_entry {
        using end_function = void (*)(child_base& self, ending how, detail::fork_slot* slot);

        child_base(run_function f, end_function e, fork_scope& s) noexcept
            : fork_entry(f), home(s), end(e) {}
        fork_scope& home;
        child_base* older = nullptr;
        end_function end;  ///< destroys the child; may throw
    };

    template <class F>
    struct child final : child_base, detail::in_blocks {
        template <class G>
        child(fork_scope& s, G&& f)
            : child_base(run_stolen, end_child, s), function(std::forward<G>(f)) {}
        ~child() {}

        /// Of a child that lies in the scope.
        static void end_child(child_base& base, ending how, detail::fork_slot* slot) {
            auto& self = static_cast<child&>(base);
            struct destroyer {
                child& self;
                ~destroyer() { self.~child(); }
            } const at_end{self};
            if (how == ending::run) [[likely]] {
                detail::call_child_on_enough_stack(self.function, slot);
            } else if (how == ending::take) {
                self.take_error();
            }
        }

        static void end_block(child_base& base, ending how, detail::fork_slot* slot) {
            struct freer {
                child& self;
                ~freer() {
                    if constexpr (alignof(child) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
                        child::operator delete(&self, sizeof self,
                                               std::align_val_t(alignof(child)));
                    } else {
                        child::operator delete(&self, sizeof self);
                    }
                }
            } const at_end{static_cast<child&>(base)};
            end_child(base, how, slot);
        }

        static detail::context* run_stolen(detail::work& item) {
            auto& self = static_cast<child&>(static_cast<fork_entry&>(item));
            detail::fork_slot* slot = detail::current_context()->bottom();
            return detail::run_stolen_fork(self, [&] {
                new (&self.error) std::exception_ptr(self.home.run_elsewhere(self.function, slot));
            });
        }

        void take_error() {
            std::exception_ptr of_thief = std::move(error);
            error.~exception_ptr();
            if (of_thief != nullptr) {
                std::rethrow_exception(std::move(of_thief));
            }
        }

        F function;
        union {
            std::exception_ptr error;  ///< made by a thief
        };
    };

    fork_scope(detail::fork_slot* first, std::stop_token&& stop,
               const detail::stop_signal* around) noexcept
        : m_first(first), m_next(first), m_stop(std::move(stop), around) {
        detail::this_worker(detail::context::of(first)).stats().scopes.add();
    }

    /// The array is full of stolen children, thousands of them: waits for the unfinished ones.
    /// False: it is full of children that other frames of this stack forked.
    QUERN_COLD bool make_room(detail::context& place) {
        join_all();
        m_used = 0;
        return !place.no_room_at(m_next);
    }

    template <class F>
    void run_now(detail::context& place, F& f) {
        place.offer_if_wanted();
        if (m_stop.asks()) {
            return;
        }
        try {
            if (place.no_room_at(m_next)) [[unlikely]] {
                detail::call_child_on_fresh_stack(f);
            } else {
                detail::call_child_on_enough_stack(f, m_next);
            }
        } catch (...) {
            failed();
        }
    }

    /// Called by a thief. Returns what the child throws, and stops the siblings then.
    template <class F>
    std::exception_ptr run_elsewhere(F& f, detail::fork_slot* slot) noexcept {
        if (m_stop.asks()) {
            return nullptr;
        }
        const detail::under_signal running(&m_stop);
        try {
            const detail::task_body body(detail::task_body::part_of::task);
            detail::call_child(f, slot);
        } catch (...) {
            m_stop.raise();
            return std::current_exception();
        }
        return nullptr;
    }

    template <class Child, class F>
    Child* place_child(F&& f) {
        constexpr std::size_t k_align = alignof(Child);
        const std::size_t at = (m_used + k_align - 1) / k_align * k_align;
        if (alignof(Child) <= alignof(std::max_align_t) && at + sizeof(Child) <= sizeof m_buffer) {
            m_used = at + sizeof(Child);
            return new (m_buffer + at) Child(*this, std::forward<F>(f));
        }
        auto* const block = new Child(*this, std::forward<F>(f));
        block->end = Child::end_block;
        return block;
    }

    template <class F, class G>
    child_base* make(G&& f) {
        child_base* forked = place_child<child<F>>(std::forward<G>(f));
        forked->older = m_youngest;
        m_youngest = forked;
        return forked;
    }

    /// Runs or waits for every child, youngest first. After an exception or a stop request,
    /// children that have not begun are dropped.
    void join_all() noexcept {
        while (m_next != m_first) {
            detail::fork_slot* slot = --m_next;
            child_base& youngest = *m_youngest;
            m_youngest = youngest.older;
            detail::context& place = detail::context::of(slot);
            const bool mine = place.pop(slot) || detail::join_child(slot);
            place.offer_if_wanted();  // joining a long row of children executes no push
            try {
                const bool is_wanted = m_error == nullptr && !m_stop.asks();
                youngest.end(youngest,
                             !mine       ? ending::take
                             : is_wanted ? ending::run
                                         : ending::drop,
                             slot);
            } catch (...) {
                failed();
            }
        }
    }

    /// Called in a handler.
    QUERN_COLD void failed() noexcept {
        m_stop.raise();
        if (m_error == nullptr) {
            m_error = std::current_exception();
        } else {
            detail::report_exception(std::current_exception(), exception_origin::later_exception);
        }
    }

    /// Called in a handler. The body's exception takes precedence over that of a child that ran at
    /// once.
    QUERN_COLD void body_failed() noexcept {
        std::exception_ptr of_child = std::exchange(m_error, nullptr);
        failed();
        if (of_child != nullptr) {
            detail::report_exception(std::move(of_child), exception_origin::later_exception);
        }
    }

    static constexpr std::size_t k_buffer =
        768;  // bytes: ten children whose functions keep three words
    /// Number of private entries that keeps any number of thieves busy until the owner's next
    /// spawn: each request publishes half of them.
    static constexpr std::size_t k_plenty = 64;

    detail::fork_slot* const m_first;
    detail::fork_slot* m_next;
    child_base* m_youngest = nullptr;
    detail::stop_signal m_stop;
    std::exception_ptr m_error;  ///< the first one of the body or a child
    std::size_t m_used = 0;
    alignas(std::max_align_t) std::byte m_buffer[k_buffer];
};

/// Calls body(fork_scope&) and returns when it and all spawned children have ended.
///
/// Errors: the exception of the body, else the first one of a child. Children that have not begun
/// by then are dropped; the others are asked to stop and waited for. Other exceptions go to the
/// handler (exceptions.hpp). With a token: task_cancelled if its stop was requested before the end.
/// Children that have not begun by then are dropped, so work may be missing.
/// Thread safety: any thread; outside a worker the call runs on the default runtime.
/// Cost: about 5 ns per child that is not stolen, 1-2 ns per child that runs at once. The first ten
/// children, if their functions keep three words each, lie in the scope; others are blocks of the
/// worker's cache, up to 440 bytes each, so malloc is not called for them in the long run.
///
///     quern::scope([&](quern::fork_scope& s) {
///         for (auto& child : node.children) s.spawn([&child] { visit(child); });
///     });
///
/// Results of children: fork_scope::spawn_into().
template <class Body>
void scope(fork_context c, std::stop_token stop, Body&& body) {
    const auto run = [&stop, &body](fork_context here) {
        fork_scope::run(here, std::move(stop), body);
    };
    detail::call_child_on_enough_stack(run, c.slot());
}

template <class Body>
void scope(fork_context c, Body&& body) {
    quern::scope(c, std::stop_token(), body);
}

namespace detail {

template <class Body>
QUERN_COLD void scope_from_outside(const void* site, std::stop_token stop, Body& body) {
    detail::run_on(current_pool().get(), site, [&] {
        quern::scope(fork_context(current_context()->bottom()), std::move(stop), body);
    });
}

}  // namespace detail

template <class Body>
QUERN_ALWAYS_INLINE void scope(std::stop_token stop, Body&& body) {
    detail::context* here = detail::current_context();
    if (here == nullptr) [[unlikely]] {
        detail::scope_from_outside(detail::code_address(), std::move(stop), body);
        return;
    }
    quern::scope(fork_context(here->bottom()), std::move(stop), body);
}

template <class Body>
QUERN_ALWAYS_INLINE void scope(Body&& body) {
    quern::scope(std::stop_token(), body);
}

}  // namespace quern
