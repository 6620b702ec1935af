// SPDX-License-Identifier: BSL-1.0
// What a future and its producer share: a result that comes once, and those who wait for it, in one
// word that is empty, ready, or the youngest of a chain of waiters. Producers: tasks, promises,
// dataflow frames. A waiter lies in the frame or the object of the one that waits.
#pragma once

#include <quern/base/blocks.hpp>
#include <quern/base/config.hpp>
#include <quern/scheduler/context.hpp>
#include <quern/scheduler/external_event.hpp>
#include <quern/scheduler/timers.hpp>
#include <quern/scheduler/wait_reason.hpp>
#include <quern/task/exceptions.hpp>
#include <quern/task/outcome.hpp>

#include <atomic>
#include <cstdint>
#include <exception>

namespace quern::detail {

/// Somebody to be told when a state becomes ready.
struct state_waiter {
    /// Called once, on the thread that makes the state ready; may destroy the waiter. If that makes
    /// another state ready, the result is the chain of its waiters, for the caller to tell: so a
    /// chain of states is as deep on the stack as one.
    using notify_function = state_waiter* (*)(state_waiter& self) noexcept;

    notify_function notify = nullptr;
    state_waiter* next = nullptr;
    /// It runs user code, which may wait: those who do not are told first.
    bool runs_code = false;
};

/// Tells a chain of waiters, and those whom that concerns in turn.
void tell(state_waiter* chain) noexcept;

class state_base : public in_blocks {
public:
    /// Who makes it ready, for reports.
    enum class maker : std::uint8_t { task, promise, continuation };

    static const wait_kind k_wait;

    state_base(const state_base&) = delete;
    state_base& operator=(const state_base&) = delete;

    bool ready() const noexcept {
        return m_word.load(std::memory_order_acquire) == k_ready;  // pairs with mark_ready
    }

    /// False: the state is ready already and the waiter will not be told.
    bool add_waiter(state_waiter& w) noexcept {
        start_if_deferred();
        std::uintptr_t seen = m_word.load(std::memory_order_acquire);
        do {
            if (seen == k_ready) {
                return false;
            }
            w.next = reinterpret_cast<state_waiter*>(seen);
        } while (!m_word.compare_exchange_weak(seen, reinterpret_cast<std::uintptr_t>(&w),
                                               std::memory_order_release,  // pairs with mark_ready
                                               std::memory_order_acquire));
        return true;
    }

    /// Who else may be at the state while one waits for it: anybody, or only its producer.
    enum class sharing : std::uint8_t { anybody, producer };

    /// Returns when the state is ready. A task that nobody has begun is run here and now, which is
    /// legal because the caller could not go on without it; else the task is suspended, or the
    /// thread put to sleep if it is no worker.
    void wait(sharing with = sharing::anybody) noexcept;

    /// The same until a time at the latest: true when the state is ready. It runs no task itself,
    /// because it could not stop it; a deferred task is made ready. A time that has passed is a
    /// look, after which a task yields; a wait that ends by its time keeps about 100 bytes until
    /// the state is ready. Throws std::bad_alloc.
    bool wait_until(timer::clock::time_point deadline);

    /// Any thread. The holder of the last reference destroys the state.
    void add_reference() noexcept { m_references.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        // acq_rel: the destroyer sees what every former holder has done; acquire is enough for one
        // who holds the last reference, for nobody else could make another.
        if (m_references.load(std::memory_order_acquire) == 1 ||
            m_references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            destroy_self();
        }
    }

protected:
    using begin_function = void (*)(state_base& self, sharing with) noexcept;
    using start_function = void (*)(state_base& self) noexcept;
    using destroy_function = void (*)(state_base& self) noexcept;

    state_base(std::uint32_t references, destroy_function destroy, maker who) noexcept
        : m_maker(who), m_references(references), m_destroy(destroy) {}
    ~state_base() = default;

    /// The result is there. Returns those who must be told now, the oldest first. The caller holds
    /// a reference until then.
    [[nodiscard]] state_waiter* mark_ready() noexcept;
    /// The same; no read-modify-write when nobody waits and nobody can come.
    [[nodiscard]] state_waiter* mark_ready(sharing with) noexcept {
        if (with == sharing::producer && m_word.load(std::memory_order_relaxed) == 0) {
            m_word.store(k_ready, std::memory_order_release);  // pairs with ready
            return nullptr;
        }
        return mark_ready();
    }

    /// Gives up the producer's reference. Requires: the caller has another one.
    void release_of_producer(sharing with) noexcept {
        if (with == sharing::producer && m_references.load(std::memory_order_acquire) == 2) {
            m_references.store(1, std::memory_order_relaxed);
        } else {
            release();
        }
    }

    /// What one who waits may do for the task.
    struct help {
        /// Runs it here and now. Does nothing when the task has begun.
        begin_function begin = nullptr;
        /// For a task that nobody runs before somebody is interested: makes it ready. Or null.
        start_function start = nullptr;
    };
    const help* m_help = nullptr;

    void start_if_deferred() noexcept {
        if (m_help != nullptr && m_help->start != nullptr) {
            m_help->start(*this);
        }
    }

    /// The result, as far as it does not depend on its type; here, where there is room for it.
    enum class kind : std::uint8_t { none, value, error };
    kind m_kind = kind::none;
    std::atomic<bool> m_observed{false};  ///< somebody has got the error

private:
    /// What it holds may hold the last reference to another state, and so on.
    void destroy_self() noexcept;

    static constexpr std::uintptr_t k_ready = 1;

    maker m_maker;
    std::atomic<std::uint32_t> m_references;
    std::atomic<std::uintptr_t> m_word{0};
    destroy_function m_destroy;
};

/// The state with its result.
template <class T>
class shared_state : public state_base {
public:
    using result = T;

    /// The value, to be moved from (future) or referred to (shared_future); throws the exception.
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
        new (&m_value) stored_result<T>(std::forward<Args>(args)...);  // may throw: not ready then
        m_kind = kind::value;
        detail::tell(mark_ready());
    }

    void set_error(std::exception_ptr error) noexcept {
        detail::tell(settle_error(std::move(error)));
    }

    /// The same; returns those who must be told.
    [[nodiscard]] state_waiter* settle_error(std::exception_ptr error) noexcept {
        new (&m_error) std::exception_ptr(std::move(error));
        m_kind = kind::error;
        return mark_ready();
    }

    /// Calls the function and keeps what comes of it.
    template <class F>
    void set_from(F&& f, sharing with = sharing::anybody) noexcept {
        if (state_waiter* const chain = settle_from(std::forward<F>(f), with)) {
            detail::tell(chain);
        }
    }

    /// The same; returns those who must be told.
    template <class F>
    [[nodiscard]] state_waiter* settle_from(F&& f, sharing with = sharing::anybody) noexcept {
        try {
            new (&m_value) stored_result<T>(detail::call_stored(std::forward<F>(f)));
            m_kind = kind::value;
        } catch (...) {
            new (&m_error) std::exception_ptr(std::current_exception());
            m_kind = kind::error;
        }
        return mark_ready(with);
    }

protected:
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

/// Gives way to others, once: the task's worker, or the thread's processor.
void give_way() noexcept;

/// A state that is made ready by its holder: a promise, a packaged task. Several threads may try
/// at once; one of them delivers the result.
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

    /// True: the caller delivers the result, or takes the claim back. False: another one has
    /// claimed it.
    bool claim() noexcept {
        return !m_claimed.exchange(true, std::memory_order_acquire);  // pairs with unclaim
    }
    void unclaim() noexcept { m_claimed.store(false, std::memory_order_release); }  // with claim

    /// The same, but waits for the outcome of another one's attempt. False: it has delivered.
    bool claim_in_turn() noexcept {
        while (!claim()) {
            if (this->ready()) {
                return false;
            }
            give_way();
        }
        return true;
    }

    /// False: another one has had the future. Exclusion only.
    bool retrieve() noexcept { return !m_retrieved.exchange(true, std::memory_order_relaxed); }

private:
    std::atomic<bool> m_claimed{false};
    std::atomic<bool> m_retrieved{false};
};

/// A counted reference to a state.
template <class State>
class state_ref {
public:
    state_ref() noexcept = default;
    /// Takes over a reference that was counted when the state was made.
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
