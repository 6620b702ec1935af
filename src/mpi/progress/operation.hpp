// SPDX-License-Identifier: BSL-1.0
// A call of MPI that may not end at once: how it begins, how it is found to have ended, and what is
// told then. Begun and looked at only inside the entrance (engine.hpp).
#pragma once

#include "notes/notes.hpp"
#include "progress/waiting_here.hpp"

#include <quern/mpi/detail/entrance.hpp>

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/function_ref.hpp>
#include <quern/scheduler/detail/completion.hpp>
#include <quern/scheduler/detail/external_event.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>

#include <mpi.h>
#include <array>
#include <cstdint>

namespace quern::detail {
class context;
class worker_status;
}  // namespace quern::detail

namespace quern::mpi::detail {

class pool_poller;

using entrance_type = entrance<quern::detail::std_atomics>;

class operation : public entrance_type::item {
public:
    explicit operation(const call_note& what, MPI_Request begun = MPI_REQUEST_NULL) noexcept
        : note(what), request(begun) {}
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;

    /// Begins it. True: it has ended. False: it ends with `request`, or, if that is null, when
    /// attempt() says so. In the entrance.
    virtual bool begin() = 0;

    /// Looks whether an operation without a request has ended. In the entrance.
    virtual bool attempt() { return false; }

    /// Its request has ended. In the entrance.
    virtual void has_ended(int error, const MPI_Status& result) {
        code = error;
        if (status != MPI_STATUS_IGNORE) {
            *status = result;
        }
    }

    /// Whether a thread waits for it, which looks for its end if no worker does.
    virtual bool is_waited_for() const noexcept { return false; }

    /// Tells those that wait; the operation may be destroyed in it. Outside the entrance.
    virtual void tell() noexcept = 0;

    call_note note;
    int code = MPI_SUCCESS;
    MPI_Request request;
    MPI_Status* status = MPI_STATUS_IGNORE;
    pool_poller* asked = nullptr;  ///< counts it; null: no pool does

protected:
    ~operation() = default;
};

/// An operation whose caller waits for it: a task, suspended, or another thread, asleep.
class waiting_operation : public operation {
public:
    explicit waiting_operation(const call_note& what) noexcept;
    void tell() noexcept final;
    bool is_waited_for() const noexcept final { return true; }
    /// The caller looks only for its end.
    bool is_polled() const noexcept { return m_how == waiting::polling; }
    void wait() noexcept;

protected:
    ~waiting_operation() = default;
    /// Whether it need not be tested when it has begun.
    bool suspends_at_once() const noexcept {
        return m_how == waiting::blocking && note.peer != MPI_PROC_NULL;
    }

private:
    void wait_outside() noexcept;
    void wait_polling() noexcept;
    void wait_suspended() noexcept;

    quern::detail::completion<quern::detail::std_atomics, quern::detail::context> m_waiter;
    quern::detail::external_event m_event;
    waiting m_how;
    const quern::detail::worker_status*
        m_left;  ///< on which the task calls; null: no task of a watched pool, or it polls
    // Written before m_waiter completes, read by the task afterwards.
    quern::detail::tick_count m_ended_at = 0;
    quern::detail::tick_count m_idle_at_end = 0;  ///< of m_left
};

/// Begins by a function that gives a request, the non-blocking twin of a blocking call.
class posted_operation final : public waiting_operation {
public:
    using post_function = quern::detail::function_ref<int(MPI_Request*)>;
    posted_operation(const call_note& what, post_function how, MPI_Status* result) noexcept
        : waiting_operation(what), m_post(how) {
        status = result;
    }
    ~posted_operation() = default;
    bool begin() override;

private:
    post_function m_post;
};

/// The end of a request that the caller holds.
class request_operation final : public waiting_operation {
public:
    request_operation(const call_note& what, MPI_Request& which, MPI_Status* result) noexcept
        : waiting_operation(what), m_which(which) {
        status = result;
    }
    ~request_operation() = default;
    bool begin() override;
    void has_ended(int error, const MPI_Status& result) override;

private:
    MPI_Request& m_which;
};

/// Ends when a function says so: for what no single request tells.
class attempted_operation final : public waiting_operation {
public:
    using attempt_function = quern::detail::function_ref<bool(int& code)>;
    attempted_operation(const call_note& what, attempt_function how) noexcept
        : waiting_operation(what), m_how(how) {}
    ~attempted_operation() = default;
    bool begin() override { return m_how(code); }
    bool attempt() override { return m_how(code); }

private:
    attempt_function m_how;
};

/// A call that ends when it returns. Requires: the function outlives the operation, which refers to
/// it (run_plain).
class plain_operation final : public waiting_operation {
public:
    using call_function = quern::detail::function_ref<int()>;
    plain_operation(const call_note& what, call_function how) noexcept
        : waiting_operation(what), m_how(how) {}
    ~plain_operation() = default;
    bool begin() override {
        code = m_how();
        return true;
    }

private:
    call_function m_how;
};

/// MPICH 4.0 ends a receipt from MPI_PROC_NULL with an empty status; what the standard asks for is
/// what the blocking call gives. By the thread inside the entrance, when the receipt has ended.
void correct_status(const call_note& note, MPI_Status* status) noexcept;

/// What a report says of a copy of a waiting operation.
void look_at_operation(const void* copy, quern::detail::wait_findings& into) noexcept;

/// For statistics of waits: "from rank 3".
void tell_operations_apart(const void* thing, std::array<char, 48>& words) noexcept;

}  // namespace quern::mpi::detail
