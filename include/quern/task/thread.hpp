// SPDX-License-Identifier: BSL-1.0
// quern::thread: std::thread with tasks in place of OS threads, for programs written with threads.
// jthread.hpp has the one that joins automatically.
#pragma once

#include <quern/task/async.hpp>
#include <quern/task/this_task.hpp>

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <type_traits>
#include <utility>

namespace quern {

/// A task used as a thread. Like std::thread, but it begins when a worker is free (or when it is
/// joined), waits without a worker, and may resume on another OS thread after a wait. It costs as
/// much as a task; a hundred thousand are possible. It shares its worker with others: a loop that
/// polls for another thread's progress must wait or yield.
///
/// As with std::thread, an exception that leaves the function ends the program; so does the
/// destructor of, or an assignment to, a joinable one. The function and the task's locals
/// (task_local) are destroyed before join() returns. A runtime ends after its ready threads have
/// ended, detached ones included.
///
/// There is no native_handle(): a task has no OS thread of its own (see pin_to_worker).
///
/// Errors: the constructor throws std::bad_alloc and errors of starting the default runtime.
/// Thread safety: as std::thread; any thread. Cost: as async.
///
///     quern::thread reader([&] { parse(input); });
///     reader.join();
class thread {
public:
    /// Identifies a thread, also after its end; a default-constructed one identifies none. In the
    /// thread itself, this_task::id() returns the same number.
    class id {
    public:
        constexpr id() noexcept = default;
        constexpr explicit id(std::uint64_t number) noexcept : m_number(number) {}
        constexpr std::uint64_t number() const noexcept { return m_number; }
        friend constexpr auto operator<=>(const id&, const id&) noexcept = default;
        template <class Char, class Traits>
        friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                            id which) {
            return out << which.m_number;
        }

    private:
        std::uint64_t m_number = 0;
    };

    thread() noexcept = default;

    template <class F, class... Args>
        requires(!std::is_same_v<std::remove_cvref_t<F>, thread> &&
                 !std::is_same_v<std::remove_cvref_t<F>, task_attributes>)
    QUERN_ALWAYS_INLINE explicit thread(F&& f, Args&&... args)
        : thread(task_attributes{}, std::forward<F>(f), std::forward<Args>(args)...) {}

    /// With a name, priority, stack or pool; the launch policy does not apply.
    template <class F, class... Args>
    QUERN_ALWAYS_INLINE thread(const task_attributes& wanted, F&& f, Args&&... args) {
        static_assert(
            !detail::k_needs_ref<F, Args...>,
            "quern::thread: the function takes a reference, but the thread keeps copies of its "
            "arguments: pass std::ref(x)");
        static_assert(std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...> ||
                          detail::k_needs_ref<F, Args...>,
                      "quern::thread: the function cannot be called with these arguments");
        start<detail::bound_t<F, Args...>>(detail::made_at(detail::code_address(), wanted),
                                           std::forward<F>(f), std::forward<Args>(args)...);
    }

    thread(thread&& other) noexcept { swap(other); }
    thread& operator=(thread&& other) noexcept {
        terminate_if_joinable();
        swap(other);
        return *this;
    }
    ~thread() { terminate_if_joinable(); }

    void swap(thread& other) noexcept {
        std::swap(m_id, other.m_id);
        std::swap(m_end, other.m_end);
    }
    friend void swap(thread& a, thread& b) noexcept { a.swap(b); }

    bool joinable() const noexcept { return m_id != id(); }
    id get_id() const noexcept { return m_id; }

    /// Waits for the end: suspends a task, blocks an outside thread. Throws std::system_error:
    /// invalid_argument unless joinable, resource_deadlock_would_occur in the thread itself.
    void join();

    /// Lets it run unattended. Throws std::system_error (invalid_argument) unless joinable.
    void detach();

    /// The number of workers on which a thread created here could run; 0 if the default runtime
    /// cannot be started.
    static unsigned hardware_concurrency() noexcept;

private:
    friend class jthread;

    /// The task's function object.
    template <class Call>
    class body {
    public:
        template <class... Parts>
        explicit body(id own, Parts&&... parts)
            : m_id(own), m_call(std::forward<Parts>(parts)...) {}

        void operator()() && noexcept {
            enter(m_id);
            std::move(m_call)();
        }

    private:
        id m_id;
        Call m_call;
    };

    template <class Call, class... Parts>
    void start(task_attributes wanted, Parts&&... parts) {
        wanted.how = launch::async;
        const id mine(detail::new_task_id());
        m_end = detail::start_task<body<Call>>(wanted, mine, std::forward<Parts>(parts)...);
        m_id = mine;
    }

    static void enter(id own) noexcept;
    void terminate_if_joinable() const noexcept;

    id m_id;
    future<void> m_end;
};

}  // namespace quern

template <>
struct std::hash<quern::thread::id> {
    std::size_t operator()(quern::thread::id which) const noexcept {
        return std::hash<std::uint64_t>{}(which.number());
    }
};
