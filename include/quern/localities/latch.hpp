// SPDX-License-Identifier: BSL-1.0
// Counts that the tasks of all localities count down and wait for.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/control_object.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace quern::localities {

namespace detail {

struct latch_state {
    latch_state() = default;
    explicit latch_state(std::int64_t count) : left(count) {
        if (count < 0) {
            throw std::invalid_argument("quern: localities::latch of " + std::to_string(count) +
                                        "; accepted: 0 and more");
        }
    }

    void count_down(std::int64_t by) {
        if (by < 0 || by > left) {
            throw std::invalid_argument("quern: localities::latch::count_down by " +
                                        std::to_string(by) + "; accepted: 0 to what is left, " +
                                        std::to_string(left));
        }
        left -= by;
        if (left == 0) {
            waiting.answer_all();
        }
    }
    void wait(ticket<void> who) { left == 0 ? who.answer() : waiting.add(who); }
    void arrive_and_wait(ticket<void> who) {
        who.answer_with([&] {
            count_down(1);
            wait(who);
        });
    }
    bool try_wait() const { return left == 0; }

    template <class Archive>
    void serialize(Archive& archive) {
        archive(left, waiting);
    }

    std::int64_t left = 0;
    ticket_queue<void> waiting{};
};

}  // namespace detail

/// As std::latch, for the tasks of all localities. It is a global object, and this class a
/// reference to it, which travels.
///
///     const quern::localities::latch done(0, quern::localities::count());
///     for (const int each : quern::localities::all()) {
///         quern::localities::post_to(
///             each, [](quern::localities::latch one) { work(); one.count_down(); }, done);
///     }
///     done.wait().get();
///
/// Errors: std::logic_error without a session or an object. Counting below 0 is a
/// std::invalid_argument: of count_down(), as an exception of object::post(); of arrive_and_wait(),
/// from the future, as a remote_error. Thread safety: as a shared_ptr. Cost: a call of a global
/// object each; no task waits.
class latch : public detail::control_object<detail::latch_state> {
public:
    using control_object::control_object;
    /// Refers to none.
    latch() = default;
    /// A new one at the locality `where`. Waits until it is made. Errors as make_at(); a
    /// remote_error of a std::invalid_argument if the count is below 0.
    latch(int where, std::int64_t count)
        : control_object(localities::make_at<state>(where, count)) {}

    void count_down(std::int64_t by = 1) const { m_state.post(&state::count_down, by); }
    /// The future is ready when the count is 0.
    future<void> wait() const { return detail::call_with_ticket<void>(m_state, &state::wait); }
    future<void> arrive_and_wait() const {
        return detail::call_with_ticket<void>(m_state, &state::arrive_and_wait);
    }
    /// Whether the count is 0.
    future<bool> try_wait() const { return m_state.call(&state::try_wait); }
};

}  // namespace quern::localities
