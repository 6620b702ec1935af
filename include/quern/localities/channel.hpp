// SPDX-License-Identifier: BSL-1.0
// Queues of values between localities.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/control_object.hpp>
#include <quern/sync/channel.hpp>

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace quern::localities {

namespace detail {

template <class T>
struct channel_state {
    static constexpr std::uint64_t k_unbounded = std::numeric_limits<std::uint64_t>::max();

    channel_state() = default;
    explicit channel_state(std::uint64_t most) : capacity(most) {
        if (most == 0) {
            throw std::invalid_argument(
                "quern: localities::channel of capacity 0; accepted: at least 1");
        }
    }

    void send(ticket<void> who, T value) {
        who.answer_with([&] {
            require_open();
            if (receivers.is_empty() && values.size() >= capacity) {
                waiting.push_back(std::move(value));
                senders.add(who);
                return;
            }
            give(std::move(value));
            who.answer();
        });
    }
    void post(T value) {
        require_open();
        if (senders.is_empty()) {
            give(std::move(value));
        } else {
            waiting.push_back(std::move(value));  // behind those that were sent before
            senders.add({});
        }
    }
    void receive(ticket<std::optional<T>> who) {
        if (!values.empty()) {
            who.answer(std::optional<T>(std::move(values.front())));
            values.pop_front();
            take_waiting();
        } else if (is_closed) {
            who.answer(std::optional<T>());
        } else {
            receivers.add(who);
        }
    }
    std::optional<T> try_receive() {
        std::optional<T> first;
        if (!values.empty()) {
            first = std::move(values.front());
            values.pop_front();
            take_waiting();
        }
        return first;
    }
    void close() {
        is_closed = true;
        receivers.answer_all();
        for (; !senders.is_empty(); waiting.pop_front()) {
            const ticket<void> who = senders.take();
            if (who.number == 0) {
                values.push_back(std::move(waiting.front()));  // of post()
            } else {
                who.answer_with([] { throw channel_closed(); });
            }
        }
    }

    template <class Archive>
    void serialize(Archive& archive) {
        archive(values, waiting, capacity, is_closed, receivers, senders);
    }

    std::deque<T> values{};
    std::deque<T> waiting{};  ///< of the senders
    std::uint64_t capacity = k_unbounded;
    bool is_closed = false;
    ticket_queue<std::optional<T>> receivers{};  ///< only while there are no values
    ticket_queue<void> senders{};                ///< only while it is full

private:
    void require_open() const {
        if (is_closed) {
            throw channel_closed();
        }
    }
    void give(T&& value) {
        if (receivers.is_empty()) {
            values.push_back(std::move(value));
        } else {
            receivers.take().answer(std::optional<T>(std::move(value)));
        }
    }
    void take_waiting() {
        if (!senders.is_empty() && values.size() < capacity) {
            values.push_back(std::move(waiting.front()));
            waiting.pop_front();
            senders.take().answer();
        }
    }
};

}  // namespace detail

/// A queue that all localities can send to and receive from, unbounded or with a capacity. It is a
/// global object, and this class a reference to it, which travels, can be published, and whose
/// object can be moved to where most of its values are received.
///
///     const quern::localities::channel<int> numbers(0, 8);  // at the root, at most 8 values
///     quern::localities::post_to(
///         0,
///         [](quern::localities::channel<int> to) {
///             for (int i = 0; i < 100; ++i) to.send(i).get();
///             to.close();
///         },
///         numbers);
///     while (std::optional<int> one = numbers.receive().get()) std::printf("%d\n", *one);
///
/// Values that one locality sends are received in that order; a value goes to the receiver that has
/// waited longest. After close() none can be sent; those sent before are still received.
///
/// Errors: std::logic_error without a session or an object; others from the future, as
/// remote_errors: a channel_closed if it is closed before the value is in; a std::logic_error if
/// the channel ends while it is waited for, because no reference is left. Thread safety: as a
/// shared_ptr. Cost: a call of a global object each, and an answer; no task waits. A sender that
/// does not wait for its futures is not held back by the capacity.
template <class T>
class channel : public detail::control_object<detail::channel_state<T>> {
    using base = detail::control_object<detail::channel_state<T>>;
    using base::m_state;

public:
    using base::base;
    using typename base::state;
    /// Refers to none.
    channel() = default;
    /// A new one at that locality, unbounded. Waits until it is made. Errors as make_at().
    explicit channel(int where) : base(localities::make_at<state>(where)) {}
    /// The same with a capacity. Throws a remote_error of a std::invalid_argument if it is 0.
    channel(int where, std::uint64_t capacity)
        : base(localities::make_at<state>(where, capacity)) {}

    /// The future is ready when the value is in the channel, or has been received.
    future<void> send(T value) const {
        return detail::call_with_ticket<void>(m_state, &state::send, std::move(value));
    }
    /// The same without an answer: it never waits, so it may exceed the capacity. On a closed
    /// channel it is an exception of object::post().
    void post(T value) const { m_state.post(&state::post, std::move(value)); }
    /// The next value; std::nullopt if the channel is closed and empty.
    future<std::optional<T>> receive() const {
        return detail::call_with_ticket<std::optional<T>>(m_state, &state::receive);
    }
    /// The next value if there is one.
    future<std::optional<T>> try_receive() const { return m_state.call(&state::try_receive); }
    void close() const { m_state.post(&state::close); }
};

}  // namespace quern::localities
