// SPDX-License-Identifier: BSL-1.0
// Barriers for a number of tasks, of any localities.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/control_object.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace quern::localities {

namespace detail {

struct barrier_state {
    barrier_state() = default;
    explicit barrier_state(std::int64_t count) : parties(count), left(count) {
        if (count < 1) {
            throw std::invalid_argument("quern: localities::barrier of " + std::to_string(count) +
                                        "; accepted: 1 and more");
        }
    }

    void arrive_and_wait(ticket<void> who) {
        who.answer_with([&] {
            require_parties();
            waiting.add(who);
            arrive();
        });
    }
    void arrive_and_drop() {
        require_parties();
        --parties;
        arrive();
    }

    template <class Archive>
    void serialize(Archive& archive) {
        archive(parties, left, waiting);
    }

    std::int64_t parties = 1;
    std::int64_t left = 1;  ///< to arrive in this phase
    ticket_queue<void> waiting{};

private:
    void require_parties() const {
        if (parties == 0) {
            throw std::invalid_argument(
                "quern: localities::barrier: it is awaited, and all have been dropped before");
        }
    }
    void arrive() {
        if (--left == 0) {
            left = parties;
            waiting.answer_all();
        }
    }
};

}  // namespace detail

/// As std::barrier, for a number of tasks at any localities. Each phase ends when so many have
/// arrived; the next one begins at once. It is a global object, and this class a reference to it,
/// which travels. For all localities, each once: communicator::barrier(), which is faster for many.
///
///     const quern::localities::barrier steps(0, 2);
///     auto other = quern::localities::run_at(
///         0, [](quern::localities::barrier one) { one.arrive_and_wait().get(); }, steps);
///     steps.arrive_and_wait().get();
///
/// Errors: std::logic_error without a session or an object. Thread safety: as a shared_ptr. Cost: a
/// call of a global object each; no task waits.
class barrier : public detail::control_object<detail::barrier_state> {
public:
    using control_object::control_object;
    /// Refers to none.
    barrier() = default;
    /// A new one at the locality `where`. Waits until it is made. Errors as make_at(); a
    /// remote_error of a std::invalid_argument if the count is below 1.
    barrier(int where, std::int64_t count)
        : control_object(localities::make_at<state>(where, count)) {}

    /// The future is ready when the phase has ended.
    future<void> arrive_and_wait() const {
        return detail::call_with_ticket<void>(m_state, &state::arrive_and_wait);
    }
    /// Arrives; later phases wait for one less.
    void arrive_and_drop() const { m_state.post(&state::arrive_and_drop); }
};

}  // namespace quern::localities
