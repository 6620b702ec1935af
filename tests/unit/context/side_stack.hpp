// SPDX-License-Identifier: BSL-1.0
// A function on a stack of its own, for tests of the switch: it is entered from a thread's own
// stack, leaves in the middle, is entered again. A small model of the scheduler's contexts.
#pragma once

#include <quern/context/detail/execution_stack.hpp>

#include <functional>
#include <utility>

namespace quern_test {

class side_stack {
public:
    using body = std::function<void(side_stack&)>;

    explicit side_stack(body function, quern::stack_class size = quern::stack_class::small)
        : m_stack(quern::detail::allocate_stack(size)), m_function(std::move(function)) {
        m_stack.restart(run, this);
    }
    side_stack(const side_stack&) = delete;
    side_stack& operator=(const side_stack&) = delete;
    ~side_stack() {
        m_stack.forget();
        quern::detail::release_stack(m_stack.span());
    }

    /// Resumes the function until it leaves or ends. From any thread, one at a time.
    void enter() {
        quern::detail::execution_stack here;
        here.adopt_thread();
        m_from = &here;
        m_exceptions = &quern::detail::this_thread_exceptions();
        here.switch_to(m_stack, *m_exceptions, false);
    }

    const quern::detail::execution_stack& stack() const { return m_stack; }

    /// Called by the function: returns to the caller of enter().
    void leave() { m_stack.switch_to(*m_from, *m_exceptions, false); }

    /// Restarts the function. Requires: it has ended.
    void restart(body function) {
        m_function = std::move(function);
        m_ended = false;
        m_stack.restart(run, this);
    }

    bool ended() const noexcept { return m_ended; }
    const quern::detail::stack_span& span() const noexcept { return m_stack.span(); }

private:
    static void run(void* argument) {
        auto& self = *static_cast<side_stack*>(argument);
        self.m_stack.entered();
        self.m_function(self);
        self.m_ended = true;
        self.m_stack.switch_to(*self.m_from, *self.m_exceptions, true);
    }

    quern::detail::execution_stack m_stack;
    quern::detail::execution_stack* m_from = nullptr;
    quern::detail::exception_globals* m_exceptions = nullptr;
    body m_function;
    bool m_ended = false;
};

}  // namespace quern_test
