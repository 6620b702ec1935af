// SPDX-License-Identifier: BSL-1.0
// The kinds of operations, and how their callers wait.
#include "operation.hpp"

#include "engine.hpp"
#include "errors.hpp"

#include <quern/base/detail/clock.hpp>
#include <quern/scheduler/detail/context.hpp>

#include <sched.h>
#include <algorithm>
#include <chrono>
#include <cstring>

namespace quern::mpi::detail {

using namespace std::chrono_literals;
using quern::detail::context;

namespace {

/// How long a thread that is no worker looks without pause, and the pauses afterwards: those of the
/// pollers of a pool.
constexpr auto k_busy = 1000us;
constexpr auto k_first_pause = 20us;
constexpr auto k_longest_pause = 1000us;

bool is_failure(int code) noexcept { return code != MPI_SUCCESS; }

/// "from rank 3, tag 7, 800 bytes"
std::string details_of(const call_note& note) {
    std::string words;
    auto add = [&words](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
    if (note.peer == MPI_ANY_SOURCE) {
        add("from any rank");
    } else if (note.peer != call_note::k_none) {
        add((note.is_sent ? "to rank " : "from rank ") + std::to_string(note.peer));
    }
    if (note.tag == MPI_ANY_TAG) {
        add("any tag");
    } else if (note.tag != call_note::k_none) {
        add("tag " + std::to_string(note.tag));
    }
    if (note.bytes >= 0) {
        add(std::to_string(note.bytes) + " bytes");
    }
    return words;
}

}  // namespace

void waiting_operation::tell() noexcept {
    if (m_is_outside) {
        m_event.set();
    } else if (context* const waiter = m_waiter.complete()) {
        quern::detail::resume(*waiter);
    }
}

waiting_operation::waiting_operation(const call_note& what) noexcept
    : operation(what), m_is_outside(quern::detail::current_context() == nullptr) {}

void waiting_operation::wait() noexcept {
    if (m_is_outside) {
        wait_outside();
        return;
    }
    if (!m_waiter.done()) {
        auto publish = [this](context& self) { return m_waiter.register_waiter(self); };
        quern::detail::suspend(publish, {note.kind, this});
    }
}

/// No worker need look for it: the pools may all be busy, or end.
void waiting_operation::wait_outside() noexcept {
    engine& all = engine::of_process();
    const auto busy_until = std::chrono::steady_clock::now() + k_busy;
    auto pause = k_first_pause;
    while (!m_event.is_set()) {
        all.look();
        const auto now = std::chrono::steady_clock::now();
        if (now < busy_until || m_event.is_set()) {
            ::sched_yield();
            continue;
        }
        m_event.wait_until(now + pause);
        pause = std::min(2 * pause, k_longest_pause);
    }
}

bool posted_operation::begin() {
    code = m_post(&request);
    if (is_failure(code)) {
        return true;
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
    code = PMPI_Test(&m_which, &is_done, status);
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

std::string describe(const call_note& note) {
    std::string words = details_of(note);
    return words.empty() ? note.kind->name : std::string(note.kind->name) + ' ' + words;
}

void look_at_operation(const void* copy, quern::detail::wait_findings& into) noexcept {
    const std::string words = details_of(static_cast<const waiting_operation*>(copy)->note);
    std::strncpy(into.words.data(), words.c_str(), into.words.size() - 1);
}

}  // namespace quern::mpi::detail
