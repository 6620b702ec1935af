// SPDX-License-Identifier: BSL-1.0
// Permits for the tasks of all localities.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/control_object.hpp>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace quern::localities {

namespace detail {

struct semaphore_state {
    semaphore_state() = default;
    explicit semaphore_state(std::int64_t count) : permits(count) {
        if (count < 0) {
            throw std::invalid_argument("quern: localities::semaphore of " + std::to_string(count) +
                                        "; accepted: 0 and more");
        }
    }

    void acquire(ticket<void> who) {
        if (permits == 0) {
            waiting.add(who);
        } else {
            --permits;
            who.answer();
        }
    }
    bool try_acquire() {
        const bool has_one = permits > 0;
        permits -= has_one ? 1 : 0;
        return has_one;
    }
    void release(std::int64_t count) {
        const std::int64_t most = std::numeric_limits<std::int64_t>::max() - permits;
        if (count < 0 || count > most) {
            throw std::invalid_argument("quern: localities::semaphore::release of " +
                                        std::to_string(count) + "; accepted: 0 to " +
                                        std::to_string(most));
        }
        for (permits += count; permits > 0 && !waiting.is_empty(); --permits) {
            waiting.take().answer();
        }
    }

    template <class Archive>
    void serialize(Archive& archive) {
        archive(permits, waiting);
    }

    std::int64_t permits = 0;
    ticket_queue<void> waiting{};  ///< only while there is no permit
};

}  // namespace detail

/// As std::counting_semaphore, for the tasks of all localities; permits go to those that wait in
/// the order in which they have come. It is a global object, and this class a reference to it,
/// which travels.
///
///     const quern::localities::semaphore disks(0, 2);
///     disks.acquire().get();
///     work();
///     disks.release();
///
/// Errors: std::logic_error without a session or an object. Thread safety: as a shared_ptr. Cost: a
/// call of a global object each; no task waits.
class semaphore : public detail::control_object<detail::semaphore_state> {
public:
    using control_object::control_object;
    /// Refers to none.
    semaphore() = default;
    /// A new one at the locality `where`. Waits until it is made. Errors as make_at(); a
    /// remote_error of a std::invalid_argument if the number is below 0.
    semaphore(int where, std::int64_t permits)
        : control_object(localities::make_at<state>(where, permits)) {}

    /// The future is ready when it has a permit.
    future<void> acquire() const {
        return detail::call_with_ticket<void>(m_state, &state::acquire);
    }
    /// Takes a permit if there is one.
    future<bool> try_acquire() const { return m_state.call(&state::try_acquire); }
    void release(std::int64_t count = 1) const { m_state.post(&state::release, count); }
};

}  // namespace quern::localities
