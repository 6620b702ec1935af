// SPDX-License-Identifier: BSL-1.0
// scope: forks any number of children, which end before the scope does. Like fork_join for n: the
// children are in the deque of the running stack, where thieves take the oldest. The parent runs
// the rest at the end, youngest first, without an atomic operation.
#pragma once

#include <quern/task/fork_join.hpp>
#include <quern/task/stop.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

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

private:
    template <class Body>
    friend void scope(fork_context c, std::stop_token stop, Body&& body);

    /// The body and the joins of a scope.
    template <class Body>
    static void run(fork_context c, std::stop_token&& stop, Body& body) {
        fork_scope s(c.slot(), std::move(stop));
        const detail::under_signal running(&s.m_stop);
        try {
            body(s);
        } catch (...) {
            s.body_failed();
        }
        s.join_all();
        if (s.m_error != nullptr) {
            std::rethrow_exception(std::move(s.m_error));
        }
        detail::throw_if_stopped(s.m_stop.token(), task_cancelled::subject::scope);
    }

    /// A forked child that the parent can also run or drop without knowing its type.
    struct child_base : detail::fork_entry {
        child_base(run_function f, fork_scope& s) noexcept : fork_entry(f), home(s) {}
        fork_scope& home;
        child_base* older = nullptr;
        void (*run_here)(child_base& self, detail::fork_slot* slot) = nullptr;
        void (*finish)(child_base& self, bool was_stolen) = nullptr;  ///< destroys; may throw
        bool on_heap = false;
    };

    template <class F>
    struct child final : child_base {
        template <class G>
        child(fork_scope& s, G&& f) : child_base(run_stolen, s), function(std::forward<G>(f)) {
            this->run_here = [](child_base& self, detail::fork_slot* slot) {
                detail::call_child(static_cast<child&>(self).function, slot);
            };
            this->finish = [](child_base& base, bool was_stolen) {
                auto& self = static_cast<child&>(base);
                struct destroyer {
                    child& self;
                    ~destroyer() { self.on_heap ? delete &self : self.~child(); }
                } const at_end{self};
                if (was_stolen) {
                    self.outcome.take();
                }
            };
        }

        static detail::context* run_stolen(detail::work& item) {
            auto& self = static_cast<child&>(static_cast<fork_entry&>(item));
            detail::fork_slot* slot = detail::current_context()->bottom();
            return detail::run_stolen_fork(self, [&] {
                self.outcome.set_from([&] { self.home.run_elsewhere(self.function, slot); });
            });
        }

        F function;
        detail::late_outcome<void> outcome;
    };

    fork_scope(detail::fork_slot* first, std::stop_token stop) noexcept
        : m_first(first),
          m_next(first),
          m_stop(std::move(stop), detail::context::of(first).root().task().stop) {}

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

    /// Called by a thief. Stops the siblings if the child throws.
    template <class F>
    void run_elsewhere(F& f, detail::fork_slot* slot) {
        if (m_stop.asks()) {
            return;
        }
        const detail::under_signal running(&m_stop);
        try {
            const detail::task_body body(detail::task_body::part_of::task);
            detail::call_child(f, slot);
        } catch (...) {
            m_stop.raise();
            throw;
        }
    }

    template <class Child, class F>
    Child* place_child(F&& f) {
        constexpr std::size_t k_align = alignof(Child);
        const std::size_t at = (m_used + k_align - 1) / k_align * k_align;
        if (alignof(Child) <= alignof(std::max_align_t) && at + sizeof(Child) <= sizeof m_buffer) {
            m_used = at + sizeof(Child);
            return new (m_buffer + at) Child(*this, std::forward<F>(f));
        }
        auto* forked = new Child(*this, std::forward<F>(f));
        forked->on_heap = true;
        return forked;
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
            const bool mine = place.pop(slot) || place.join(slot);
            place.offer_if_wanted();  // joining a long row of children executes no push
            try {
                if (mine && m_error == nullptr && !m_stop.asks()) {
                    struct finisher {
                        child_base& c;
                        ~finisher() { c.finish(c, false); }
                    } const at_end{youngest};
                    run_child(youngest, slot);
                } else {
                    youngest.finish(youngest, !mine);
                }
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

    static void run_child(child_base& c, detail::fork_slot* slot) {
        const auto call = [&c](fork_context here) { c.run_here(c, here.slot()); };
        detail::call_child_on_enough_stack(call, slot);
    }

    static constexpr std::size_t k_buffer = 768;  // bytes: eight children of typical size
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
/// Cost: about 5 ns per child that is not stolen, 1-2 ns per child that runs at once. No allocation
/// for the first eight.
///
///     quern::scope([&](quern::fork_scope& s) {
///         for (auto& child : node.children) s.spawn([&child] { visit(child); });
///     });
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
