// SPDX-License-Identifier: BSL-1.0
// The kinds of operations, and how their callers wait.
#include "progress/operation.hpp"

#include "library/windows.hpp"
#include "notes/call_counts.hpp"
#include "notes/watched_job.hpp"
#include "progress/engine.hpp"
#include "progress/errors.hpp"
#include "progress/fatal_errors.hpp"
#include "progress/pools.hpp"

#include <quern/base/detail/clock.hpp>
#include <quern/scheduler/detail/blocked_call.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/task/this_task.hpp>

#include <sched.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

namespace quern::mpi::detail {

using namespace std::chrono_literals;
using quern::detail::context;

namespace {

/// How long a thread that is no worker looks without pause, and the pauses afterwards, a part of
/// the time that it has waited: as the pollers of a pool.
constexpr auto k_busy = 1000us;
constexpr int k_part_of_wait = 16;
constexpr std::chrono::nanoseconds k_first_pause = 20us;
constexpr std::chrono::nanoseconds k_longest_pause = 1000us;

bool is_failure(int code) noexcept { return code != MPI_SUCCESS; }

template <std::size_t Size>
void copy_words(const std::string& from, std::array<char, Size>& into) noexcept {
    std::strncpy(into.data(), from.c_str(), Size - 1);
    into.back() = '\0';
}

}  // namespace

void waiting_operation::tell() noexcept {
    if (m_left == nullptr) {
        m_event.set();
        return;
    }
    if constexpr (quern::detail::k_counters) {
        m_ended_at = quern::detail::ticks();
        m_idle_at_end = m_left->stats().idle_ticks(m_ended_at);
    }
    if (context* const waiter = m_waiter.complete()) {
        quern::detail::resume(*waiter);
    }
}

waiting_operation::waiting_operation(const call_note& what) noexcept
    : operation(what),
      m_how(waiting_here()),
      m_left(!is_polled() && poller_here() != nullptr && !quern::detail::is_busy_thread()
                 ? quern::detail::current_worker()
                 : nullptr) {
    if (quern::detail::current_context() != nullptr) {
        const char* const name = quern::this_task::name();
        note.task = name != nullptr ? name : "";
    }
}

void waiting_operation::wait() noexcept {
    if (is_polled()) {
        wait_polling();
    } else if (m_left == nullptr) {
        wait_outside();
    } else if (!m_waiter.done()) {
        wait_suspended();
    }
}

/// The wait lasts until the operation was told: afterwards the task is ready and only waits for a
/// worker.
void waiting_operation::wait_suspended() noexcept {
    const auto begun = quern::detail::ticks();
    const auto idle = m_left->stats().idle_ticks(begun);
    auto publish = [this](context& self) { return m_waiter.register_waiter(self); };
    quern::detail::suspend(publish, {note.kind, this});
    if (m_ended_at > begun) {
        count_wait(m_ended_at - begun, m_idle_at_end - std::min(idle, m_idle_at_end));
    }
}

void waiting_operation::wait_polling() noexcept {
    while (!m_event.is_set()) {
        engine::of_process().look();
        if (!m_event.is_set()) {
            ::sched_yield();
        }
    }
}

/// No worker need look for it: the pools may all be busy, or end. A member of an OpenMP team runs
/// other tasks, and looks.
void waiting_operation::wait_outside() noexcept {
    engine& all = engine::of_process();
    if (quern::detail::run_meanwhile({m_event,
                                      []() noexcept { engine::of_process().look(); },
                                      {note.kind, this},
                                      quern::detail::registers_here()})) {
        return;
    }
    const auto busy = m_how == waiting::blocking ? 0us : k_busy;
    const auto begin = std::chrono::steady_clock::now();
    while (!m_event.is_set() && std::chrono::steady_clock::now() < begin + busy) {
        all.look();
        if (!m_event.is_set()) {
            ::sched_yield();
        }
    }
    if (m_event.is_set()) {
        return;
    }
    const quern::detail::outside_wait here(m_event, {note.kind, this},
                                           quern::detail::registers_here());
    while (!m_event.is_set()) {
        all.look();
        const auto now = std::chrono::steady_clock::now();
        const auto longest = has_windows() ? k_first_pause : k_longest_pause;
        m_event.wait_until(now + std::clamp<std::chrono::nanoseconds>(
                                     (now - begin) / k_part_of_wait, k_first_pause, longest));
    }
}

bool posted_operation::begin() {
    begin_collective(note);
    if (note.way == message_way::received) {
        prepare_errors(note.comm);
    }
    code = m_post(&request);
    if (is_failure(code)) {
        return true;
    }
    if (suspends_at_once()) {
        return false;
    }
    int is_done = 0;
    code = test_request(note, request, is_done, status);
    if (is_done != 0) {
        correct_status(note, status);
    }
    return is_done != 0 || is_failure(code);
}

bool request_operation::begin() {
    int is_done = 0;
    code = next::Test(&m_which, &is_done, status);
    request = m_which;
    return is_done != 0 || is_failure(code);
}

void request_operation::has_ended(int error, const MPI_Status& result) {
    m_which = request;
    operation::has_ended(error, result);
}

void correct_status(const call_note& note, MPI_Status* status) noexcept {
    if (note.peer == MPI_PROC_NULL && !note.is_sent && status != MPI_STATUS_IGNORE) {
        PMPI_Recv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, note.tag, note.comm, status);
    }
}

void look_at_operation(const void* copy, quern::detail::wait_findings& into) noexcept {
    copy_words(details_of(static_cast<const waiting_operation*>(copy)->note), into.words);
}

void tell_operations_apart(const void* thing, std::array<char, 48>& words) noexcept {
    const call_note& note = static_cast<const waiting_operation*>(thing)->note;
    std::string apart = peer_words(note);
    if (!apart.empty() && note.comm != MPI_COMM_WORLD) {
        apart += " of " + std::string(comm_words(note));
    }
    copy_words(apart, words);
}

}  // namespace quern::mpi::detail
