// SPDX-License-Identifier: BSL-1.0
// The state shared by a future and its producer: a single-assignment result and the chain of its
// waiters (waiter_chain.hpp), which is closed when the result is ready. Producers: tasks, promises,
// dataflow frames. A waiter lies in the frame or object that waits.
#pragma once

#include <quern/base/detail/blocks.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/external_event.hpp>
#include <quern/scheduler/detail/stop_or_time.hpp>
#include <quern/scheduler/detail/timers.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>
#include <quern/task/detail/outcome.hpp>
#include <quern/task/detail/waiter_chain.hpp>
#include <quern/task/exceptions.hpp>

#include <atomic>
#include <cstdint>
#include <exception>

namespace quern::detail {

/// Notified when a state becomes ready.
struct state_waiter {
    /// Called once, on the thread that makes the state ready; may destroy the waiter. If it makes
    /// another state ready, it returns the chain of that state's waiters for the caller to notify.
    /// So a chain of states takes no more stack than one.
    using notify_function = state_waiter* (*)(state_waiter& self) noexcept;

    notify_function notify = nullptr;
    state_waiter* next = nullptr;
    /// It runs user code, which may wait. Waiters without user code are notified first.
    bool runs_code = false;
    bool can_leave = false;  ///< it is a leaving_waiter
    bool is_linked = false;  ///< belongs to the chain

    state_waiter** newer() noexcept;
};

/// One that may leave the chain before the state is ready.
struct leaving_waiter : state_waiter {
    explicit leaving_waiter(notify_function f = nullptr) noexcept
        : state_waiter{.notify = f, .can_leave = true} {}
    leaving_waiter(const leaving_waiter&) = delete;
    leaving_waiter& operator=(const leaving_waiter&) = delete;

    state_waiter* newer_one = nullptr;  ///< belongs to the chain
};

inline state_waiter** state_waiter::newer() noexcept {
    return can_leave ? &static_cast<leaving_waiter*>(this)->newer_one : nullptr;
}

/// Notifies a chain of waiters, and the chains that these return.
void tell(state_waiter* chain) noexcept;

class state_base : public in_blocks, waiter_chain<std_atomics, state_waiter> {
    using waiters = waiter_chain<std_atomics, state_waiter>;

public:
    /// The kind of producer, for reports.
    enum class maker : std::uint8_t { task, promise, continuation };

    static const wait_kind k_wait;

    state_base(const state_base&) = delete;
    state_base& operator=(const state_base&) = delete;

    bool ready() const noexcept { return is_closed(); }

    /// False: the state is ready already; the waiter will not be notified.
    bool add_waiter(state_waiter& w) noexcept {
        start_if_deferred();
        return waiters::add(w);
    }

    /// Takes out a waiter that add_waiter() has put in. True: it will not be notified, and may be
    /// destroyed. False: the state is ready, and the waiter has been or will be notified.
    bool remove_waiter(leaving_waiter& w) noexcept { return waiters::leave(w); }

    /// Which threads may access the state during a wait: any, or only its producer.
    enum class sharing : std::uint8_t { any, producer };

    /// Returns when the state is ready. A task that has not begun is run here, which is legal
    /// because the caller depends on it. Otherwise the task is suspended, or the thread sleeps if
    /// it is no worker.
    void wait(sharing with = sharing::any) noexcept;

    /// Waits with a deadline; true: the state is ready. Never runs the task here, because it could
    /// not be interrupted; a deferred task is made ready. If the deadline has passed, the call only
    /// checks, and a task yields. Throws std::bad_alloc.
    bool wait_until(timer::clock::time_point deadline);

    /// The same until a stop is requested. After a request the call only checks.
    bool wait_until(const stop_or_time& limit);

    /// Any thread. The holder of the last reference destroys the state.
    void add_reference() noexcept { m_references.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        // acq_rel: the destroying thread sees the effects of all former holders. acquire is enough
        // for the last reference, because no other thread can add one.
        if (m_references.load(std::memory_order_acquire) == 1 ||
            m_references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            destroy_self();
        }
    }

    // -- for its producer

    using begin_function = void (*)(state_base& self, sharing with) noexcept;
    using start_function = void (*)(state_base& self) noexcept;
    /// What a waiter may do for the task.
    struct help {
        /// Runs it here. Does nothing if the task has begun.
        begin_function begin = nullptr;
        /// Makes a deferred task ready. Or null.
        start_function start = nullptr;
    };
    /// Waiters may help from now on. Requires: `how` lives as long as the state.
    void allow(const help& how) noexcept { m_help = &how; }

    /// Publishes the result, which is there. Returns the waiters to notify, oldest first. The
    /// caller holds a reference until then.
    [[nodiscard]] state_waiter* mark_ready() noexcept;
    /// As above; no read-modify-write if there is no waiter and none can come.
    [[nodiscard]] state_waiter* mark_ready(sharing with) noexcept {
        if (with == sharing::producer && is_empty()) {
            close_empty();
            return nullptr;
        }
        return mark_ready();
    }
    /// As above, and notifies the waiters.
    void publish(sharing with) noexcept {
        if (state_waiter* const chain = mark_ready(with)) {
            detail::tell(chain);
        }
    }

    /// Drops the producer's reference. Requires: the caller holds another one.
    QUERN_ALWAYS_INLINE void release_of_producer(sharing with) noexcept {
        if (with == sharing::producer && m_references.load(std::memory_order_acquire) == 2) {
            m_references.store(1, std::memory_order_relaxed);
        } else {
            release();
        }
    }

protected:
    using destroy_function = void (*)(state_base& self) noexcept;

    state_base(std::uint32_t references, destroy_function destroy, maker who) noexcept
        : m_maker(who), m_references(references), m_destroy(destroy) {}
    ~state_base() = default;

    /// The part of the result that does not depend on its type. These four are placed where padding
    /// of the chain would be.
    enum class kind : std::uint8_t { none, value, error };
    kind m_kind = kind::none;
    std::atomic<bool> m_observed{false};  ///< the error was read

private:
    maker m_maker;
    std::atomic<std::uint32_t> m_references;
    const help* m_help = nullptr;

    void start_if_deferred() noexcept {
        if (m_help != nullptr && m_help->start != nullptr) {
            m_help->start(*this);
        }
    }

    bool wait_within(const stop_or_time& limit);

    /// Runs on enough stack: the value may hold the last reference to another state, and so on.
    void destroy_self() noexcept;

    destroy_function m_destroy;
};
static_assert(sizeof(void*) != 8 || sizeof(state_base) == 32, "each task would be larger");

template <class T>
class shared_state : public state_base {
public:
    using result = T;

    /// The value, to move from (future) or refer to (shared_future); throws the exception.
    /// Requires: ready.
    stored_result<T>& value() {
        if (m_kind == kind::error) {
            throw_error();
        }
        return m_value;
    }

    bool failed() const noexcept { return m_kind == kind::error; }

    template <class... Args>
    void set_value(Args&&... args) {
        new (&m_value) stored_result<T>(std::forward<Args>(args)...);  // may throw; then not ready
        m_kind = kind::value;
        detail::tell(mark_ready());
    }

    void set_error(std::exception_ptr error) noexcept {
        detail::tell(settle_error(std::move(error)));
    }

    /// As above; returns the waiters to notify.
    [[nodiscard]] state_waiter* settle_error(std::exception_ptr error) noexcept {
        emplace_error(std::move(error));
        return mark_ready();
    }

    template <class F>
    void set_from(F&& f) noexcept {
        detail::tell(settle_from(std::forward<F>(f)));
    }

    /// As above; returns the waiters to notify.
    template <class F>
    [[nodiscard]] state_waiter* settle_from(F&& f) noexcept {
        try {
            emplace_result(std::forward<F>(f));
        } catch (...) {
            emplace_error(std::current_exception());
        }
        return mark_ready();
    }

protected:
    /// Keeps what `f` returns. Not ready yet; nothing is kept if it throws.
    template <class F>
    void emplace_result(F&& f) {
        new (&m_value) stored_result<T>(detail::call_stored(std::forward<F>(f)));
        m_kind = kind::value;
    }
    void emplace_error(std::exception_ptr error) noexcept {
        new (&m_error) std::exception_ptr(std::move(error));
        m_kind = kind::error;
    }

    shared_state(std::uint32_t references, destroy_function destroy,
                 maker who = maker::continuation) noexcept
        : state_base(references, destroy, who) {}

    ~shared_state() {
        if (m_kind == kind::value) {
            std::destroy_at(&m_value);
        } else if (m_kind == kind::error) {
            drop_error();
        }
    }

private:
    [[noreturn]] QUERN_COLD void throw_error() {
        m_observed.store(true, std::memory_order_relaxed);
        std::rethrow_exception(m_error);
    }
    QUERN_COLD void drop_error() noexcept {
        if (!m_observed.load(std::memory_order_relaxed)) {
            report_exception(std::move(m_error), exception_origin::unobserved_future);
        }
        m_error.~exception_ptr();
    }

    union {
        stored_result<T> m_value;
        std::exception_ptr m_error;
    };
};

/// Yields once: the task's worker, or the thread's processor.
void give_way() noexcept;

/// A state that its holder makes ready: a promise or a packaged task. Several threads may try at
/// once; one of them delivers the result.
template <class T>
class plain_state final : public shared_state<T> {
public:
    explicit plain_state(std::uint32_t references) noexcept
        : shared_state<T>(
              references,
              [](state_base& self) noexcept {
                  delete static_cast<plain_state*>(static_cast<shared_state<T>*>(&self));
              },
              state_base::maker::promise) {}

    /// True: the caller must deliver the result or unclaim. False: another thread has claimed it.
    bool claim() noexcept {
        return !m_claimed.exchange(true, std::memory_order_acquire);  // pairs with unclaim
    }
    void unclaim() noexcept { m_claimed.store(false, std::memory_order_release); }  // with claim

    /// As claim(), but waits for another thread's attempt to finish. False: that has delivered.
    bool claim_in_turn() noexcept {
        while (!claim()) {
            if (this->ready()) {
                return false;
            }
            give_way();
        }
        return true;
    }

    /// False: the future was retrieved before. relaxed: exclusion only.
    bool retrieve() noexcept { return !m_retrieved.exchange(true, std::memory_order_relaxed); }

private:
    std::atomic<bool> m_claimed{false};
    std::atomic<bool> m_retrieved{false};
};

template <class State>
class state_ref {
public:
    state_ref() noexcept = default;
    /// Adopts a reference that was counted at construction.
    explicit state_ref(State* state) noexcept : m_state(state) {}
    state_ref(const state_ref& other) noexcept : m_state(other.m_state) {
        if (m_state != nullptr) {
            m_state->add_reference();
        }
    }
    state_ref(state_ref&& other) noexcept : m_state(std::exchange(other.m_state, nullptr)) {}
    state_ref& operator=(state_ref other) noexcept {
        std::swap(m_state, other.m_state);
        return *this;
    }
    ~state_ref() {
        if (m_state != nullptr) {
            m_state->release();
        }
    }

    State* get() const noexcept { return m_state; }
    State* operator->() const noexcept { return m_state; }
    explicit operator bool() const noexcept { return m_state != nullptr; }

private:
    State* m_state = nullptr;
};

}  // namespace quern::detail
