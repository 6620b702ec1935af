// SPDX-License-Identifier: BSL-1.0
// Beginning, looking, telling. Nothing here runs code of the user except the functions that MPI
// itself calls (operators, error handlers, attributes).
#include "progress/engine.hpp"

#include "library/mechanism.hpp"
#include "progress/errors.hpp"
#include "progress/inside.hpp"
#include "progress/long_calls.hpp"
#include "progress/pools.hpp"

#include <sched.h>
#include <algorithm>
#include <chrono>
#include <functional>

namespace quern::mpi::detail {

namespace {

/// Requests, and operations without one, tested in one look. More would delay the worker that
/// looks: a test takes about 10 ns for each (measured, Open MPI 4.1).
constexpr std::size_t k_window = 512;

constexpr std::size_t k_most_words = 2000;  ///< bytes of a description

/// How long a report waits for the entrance. A look or a call without waiting takes microseconds.
constexpr std::chrono::milliseconds k_report_patience{20};

void end_here(operation& one) {
    bool has_ended = one.begin();
    while (!has_ended) {
        if (one.request == MPI_REQUEST_NULL) {
            has_ended = one.attempt();
            continue;
        }
        int is_done = 0;
        MPI_Status result;
        const int code = test_request(one.note, one.request, is_done, &result);
        has_ended = is_done != 0 || code != MPI_SUCCESS;
        if (has_ended) {
            one.has_ended(code, result);
        }
    }
}

/// A call from a function that MPI has called: the caller holds the entrance already, or is in MPI
/// beside it.
int run_to_its_end(operation& one) noexcept {
    run_guarded(one.note.kind->name, [&] { end_here(one); });
    return one.code;
}

}  // namespace

/// Operations to be told when the entrance has been left; the link in an operation is the
/// entrance's.
class engine::ended_list {
public:
    void add(operation& one) { m_all.push_back(&one); }
    bool empty() const noexcept { return m_all.empty(); }

    /// The operations end here: afterwards none is accessed.
    void tell() noexcept {
        for (operation* const one : m_all) {
            pool_poller* const asked = one->asked;
            one->tell();
            if (asked != nullptr) {
                asked->ends();  // last: until then its runtime does not end
            }
        }
        m_all.clear();
    }

private:
    std::vector<operation*> m_all;
};

engine& engine::of_process() noexcept {
    // It lives as long as the process, which ends without memory for it.
    static engine& the_one = *new engine;  // NOLINT(bugprone-unhandled-exception-at-new)
    return the_one;
}

bool engine::begin_inside(operation& one) noexcept {
    bool has_ended = false;
    m_current = &one;
    run_inside(one.note.kind->name, [&] { has_ended = one.begin(); });
    m_current = nullptr;
    return has_ended;
}

int engine::run(waiting_operation& one) noexcept {
    if (may_call_beside() && is_within_call_beside()) {
        return run_to_its_end(one);
    }
    ended_list ended;
    if (m_entrance.try_enter()) {
        const bool is_done = begin_inside(one);
        if (!is_done) {
            one.asked = one.is_polled() ? nullptr : poller_here();
            if (one.asked != nullptr) {
                one.asked->begins();
            }
            add(one);
        }
        leave(ended);
        if (is_done) {
            return one.code;
        }
    } else if (is_within_mpi()) {
        return run_to_its_end(one);
    } else {
        start(one);
    }
    one.wait();
    return one.code;
}

void engine::start(operation& one) noexcept {
    one.asked = poller_here();
    if (one.asked == nullptr && !one.is_waited_for()) {
        one.asked = poller_of_any();
    }
    if (one.asked != nullptr) {
        one.asked->begins();
    }
    if (m_entrance.hand_over(one)) {
        ended_list ended;
        leave(ended);
    } else if (is_in_long_call()) {
        note_wait_for_long_call();
    }
}

bool engine::look() noexcept {
    if (!m_entrance.try_enter()) {
        return false;
    }
    ended_list ended;
    m_counts.polls = m_counts.polls + 1;
    run_inside(nullptr, [&] {
        look_at_requests(ended);
        look_at_attempts(ended);
    });
    const bool has_ended = !ended.empty();
    if (!has_ended) {
        m_counts.polls_in_vain = m_counts.polls_in_vain + 1;
    }
    leave(ended);
    return has_ended;
}

void engine::leave(ended_list& ended) noexcept {
    m_entrance.leave(
        [&](entrance_type::item& left) { begin(static_cast<operation&>(left), ended); });
    ended.tell();
}

void engine::begin(operation& one, ended_list& ended) noexcept {
    if (begin_inside(one)) {
        ended.add(one);
    } else {
        add(one);
    }
}

void engine::add(operation& one) noexcept {
    m_counts.waited = m_counts.waited + 1;
    m_outstanding.fetch_add(1, std::memory_order_relaxed);
    complete_note(one.note);
    if (one.request == MPI_REQUEST_NULL) {
        m_attempts.push_back(&one);
    } else {
        m_requests.push_back(one.request);
        m_owners.push_back(&one);
    }
}

void engine::look_at_requests(ended_list& ended) {
    const std::size_t all = m_requests.size();
    if (all == 0) {
        return;
    }
    if (m_indices.empty()) {
        m_indices.resize(k_window);
        m_statuses.resize(k_window);
    }
    const std::size_t first = m_next < all ? m_next : 0;
    const std::size_t last = std::min(all, first + k_window);
    m_tested = first;
    m_found = 0;
    const int result = [&] {
        const returned_errors returned;
        return next::Testsome(static_cast<int>(last - first), &m_requests[first], &m_found,
                              m_indices.data(), m_statuses.data());
    }();
    m_next = last;
    const int found = m_found != MPI_UNDEFINED ? m_found : 0;
    for (int i = 0; i < found; ++i) {
        const auto which = static_cast<std::size_t>(i);
        const std::size_t at = first + static_cast<std::size_t>(m_indices[which]);
        operation& one = *m_owners[at];
        one.request = m_requests[at];
        const MPI_Status& status = m_statuses[which];
        const int code = result == MPI_ERR_IN_STATUS ? status.MPI_ERROR : result;
        one.has_ended(code, status);
        raise_error(one.note, code);
        ended.add(one);
    }
    // From the back, so that the last request, which takes the place of each, has not ended itself.
    std::sort(m_indices.begin(), m_indices.begin() + found, std::greater<>());
    for (int i = 0; i < found; ++i) {
        const std::size_t at =
            first + static_cast<std::size_t>(m_indices[static_cast<std::size_t>(i)]);
        m_requests[at] = m_requests.back();
        m_owners[at] = m_owners.back();
        m_requests.pop_back();
        m_owners.pop_back();
    }
    m_outstanding.fetch_sub(static_cast<std::uint64_t>(found), std::memory_order_relaxed);
    m_counts.ended = m_counts.ended + static_cast<std::uint64_t>(found);
}

void engine::look_at_attempts(ended_list& ended) {
    const std::size_t count = std::min(m_attempts.size(), k_window);
    for (std::size_t i = 0; i < count; ++i) {
        if (m_next_attempt >= m_attempts.size()) {
            m_next_attempt = 0;
        }
        operation*& one = m_attempts[m_next_attempt];
        m_current = one;
        const bool has_ended = one->attempt();
        m_current = nullptr;
        if (has_ended) {
            ended.add(*one);
            one = m_attempts.back();
            m_attempts.pop_back();
            m_outstanding.fetch_sub(1, std::memory_order_relaxed);
            m_counts.ended = m_counts.ended + 1;
        } else {
            ++m_next_attempt;
        }
    }
}

bool engine::enter_for_report() noexcept {
    const auto limit = std::chrono::steady_clock::now() + k_report_patience;
    while (!m_entrance.try_enter()) {
        if (std::chrono::steady_clock::now() > limit) {
            return false;
        }
        ::sched_yield();
    }
    return true;
}

void engine::say_failed(int code) noexcept {
    if (m_current != nullptr) {
        say_failure(m_current->note, code);
        return;
    }
    for (int i = 0; i < m_found; ++i) {
        const auto which = static_cast<std::size_t>(i);
        const std::size_t at = m_tested + static_cast<std::size_t>(m_indices[which]);
        if (m_statuses[which].MPI_ERROR == code) {
            say_failure(m_owners[at]->note, code);
        }
    }
}

std::string engine::describe_inside(const char* call) const {
    if (call != nullptr) {
        return call;
    }
    std::size_t most = 4;
    std::string names;
    for (const auto* const all : {&m_owners, &m_attempts}) {
        for (const operation* const one : *all) {
            const std::string name = one->note.kind->name;
            if (names.find(name) == std::string::npos && most != 0) {
                names += (names.empty() ? "" : ", ") + name;
                --most;
            }
        }
    }
    return names.empty() ? "a test" : names;
}

bool engine::share_further() noexcept {
    int living = m_runtimes.load(std::memory_order_relaxed);
    while (living != 0) {
        if (m_runtimes.compare_exchange_weak(living, living + 1, std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

bool engine::visit(visit_function f) noexcept {
    if (!enter_for_report()) {
        return false;
    }
    run_inside(nullptr, [&] { f(m_owners, m_attempts); });
    ended_list ended;
    leave(ended);
    return true;
}

std::string engine::describe_outstanding(const pool_poller* of) noexcept {
    if (!enter_for_report()) {
        const auto call = long_call_now();
        return "a thread is inside MPI" + (call ? std::string(", in ") + call->name : "") +
               ", and all other calls wait for it";
    }
    std::string words;
    std::size_t left_out = 0;
    for (const auto* const all : {&m_owners, &m_attempts}) {
        for (const operation* const one : *all) {
            if (of != nullptr && one->asked != of) {
                continue;
            }
            if (words.size() > k_most_words) {
                ++left_out;
                continue;
            }
            words += words.empty() ? "" : "; ";
            words += describe(one->note);
        }
    }
    ended_list ended;
    leave(ended);
    return words + (left_out == 0 ? "" : "; and " + std::to_string(left_out) + " more");
}

}  // namespace quern::mpi::detail
