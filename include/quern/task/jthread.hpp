// SPDX-License-Identifier: BSL-1.0
// quern::jthread: std::jthread with tasks in place of OS threads. Its destructor requests a stop
// and joins.
#pragma once

#include <quern/task/thread.hpp>

#include <stop_token>
#include <type_traits>
#include <utility>

namespace quern {

/// A quern::thread that its destructor, and an assignment to it, stop and join. If the function
/// takes a std::stop_token before its other arguments, it gets this thread's token.
/// this_task::stop_token() returns the same token in the thread. Callbacks (std::stop_callback) run
/// in the thread that requests the stop and must not wait.
///
/// Errors, thread safety, cost: as thread, and one allocation more.
///
///     quern::jthread ticker([](std::stop_token stop) {
///         while (!stop.stop_requested()) { tick(); quern::this_task::sleep_for(1s); }
///     });
class jthread {
public:
    using id = thread::id;

    jthread() noexcept : m_stop(std::nostopstate) {}

    template <class F, class... Args>
        requires(!std::is_same_v<std::remove_cvref_t<F>, jthread> &&
                 !std::is_same_v<std::remove_cvref_t<F>, task_attributes>)
    QUERN_ALWAYS_INLINE explicit jthread(F&& f, Args&&... args)
        : jthread(task_attributes{}, std::forward<F>(f), std::forward<Args>(args)...) {}

    /// With a name, priority, stack or pool; the launch policy does not apply.
    template <class F, class... Args>
    QUERN_ALWAYS_INLINE jthread(const task_attributes& wanted, F&& f, Args&&... args) : m_stop() {
        start(detail::made_at(detail::code_address(), wanted), std::forward<F>(f),
              std::forward<Args>(args)...);
    }

    jthread(jthread&&) noexcept = default;
    jthread& operator=(jthread&& other) noexcept {
        jthread(std::move(other)).swap(*this);
        return *this;
    }
    ~jthread() {
        if (joinable()) {
            request_stop();
            join();
        }
    }

    void swap(jthread& other) noexcept {
        std::swap(m_stop, other.m_stop);
        m_thread.swap(other.m_thread);
    }
    friend void swap(jthread& a, jthread& b) noexcept { a.swap(b); }

    bool joinable() const noexcept { return m_thread.joinable(); }
    id get_id() const noexcept { return m_thread.get_id(); }
    void join() { m_thread.join(); }
    void detach() { m_thread.detach(); }
    static unsigned hardware_concurrency() noexcept { return thread::hardware_concurrency(); }

    std::stop_source get_stop_source() noexcept { return m_stop; }
    std::stop_token get_stop_token() const noexcept { return m_stop.get_token(); }
    bool request_stop() noexcept { return m_stop.request_stop(); }

private:
    /// Runs a call under the token. The token is not passed as an attribute of the task, because a
    /// stop request would then drop a thread that has not begun.
    template <class Call>
    class stoppable {
    public:
        template <class... Parts>
        explicit stoppable(std::stop_token token, Parts&&... parts)
            : m_token(std::move(token)), m_call(std::forward<Parts>(parts)...) {}

        void operator()() && {
            const detail::stop_signal own(std::move(m_token), detail::running_signal());
            const detail::under_signal running(&own);
            std::move(m_call)();
        }

    private:
        std::stop_token m_token;
        Call m_call;
    };

    template <class F, class... Args>
    void start(const task_attributes& wanted, F&& f, Args&&... args) {
        if constexpr (std::is_invocable_v<std::decay_t<F>, std::stop_token,
                                          std::decay_t<Args>...>) {
            using call = detail::bound_t<F, std::stop_token, Args...>;
            m_thread.start<stoppable<call>>(wanted, m_stop.get_token(), std::forward<F>(f),
                                            m_stop.get_token(), std::forward<Args>(args)...);
        } else {
            static_assert(!detail::k_needs_ref<F, Args...>,
                          "quern::jthread: the function takes a reference, but the thread keeps "
                          "copies of its "
                          "arguments: pass std::ref(x)");
            static_assert(std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...> ||
                              detail::k_needs_ref<F, Args...>,
                          "quern::jthread: the function cannot be called with these arguments");
            using call = detail::bound_t<F, Args...>;
            m_thread.start<stoppable<call>>(wanted, m_stop.get_token(), std::forward<F>(f),
                                            std::forward<Args>(args)...);
        }
    }

    std::stop_source m_stop;
    thread m_thread;
};

}  // namespace quern
