// SPDX-License-Identifier: BSL-1.0
// quern::channel: values that go from some tasks to others, in order. Two depots (depot.hpp): one
// of slots that hold a value, and, when it is bounded, one of slots that are free.
#pragma once

#include <quern/sync/co_waiting.hpp>
#include <quern/sync/depot.hpp>

#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

namespace quern {

/// What send() throws when the channel is closed.
class channel_closed : public std::runtime_error {
public:
    channel_closed() : std::runtime_error("quern::channel: a value is sent but it is closed") {}
};

namespace detail {

/// Throws std::invalid_argument when it is 0.
std::size_t checked_capacity(std::size_t capacity);
[[noreturn]] void throw_channel_closed();

}  // namespace detail

/// A queue between tasks, with room for any number of values, or for as many as it is told.
///
///     quern::channel<block> blocks(8);
///     quern::post([&] {
///         for (block& b : read(file)) blocks.send(std::move(b));   // at most 8 ahead
///         blocks.close();
///     });
///     for (block& b : blocks) process(b);                          // until it is closed and empty
///
/// Fair: values come out in the order in which they were sent; a value goes to the receiver that
/// has waited longest, and a slot that becomes free to the sender that has waited longest. What
/// precedes a send() happens before the return of the receive() that gets the value. Values are
/// moved into and out of their slots by the tasks that send and receive them, so what T throws is
/// thrown there: a value that cannot be moved in has not been sent, one that cannot be moved out is
/// lost. T is any type that can be moved.
///
/// After close() no value can be sent; those that have been sent are still delivered.
/// It may be destroyed as soon as nobody uses it: a receiver may destroy it when it has got a
/// value, even while the send() of that value has not returned, if there are no other senders or
/// receivers. Values that are left are destroyed.
/// Thread safety: any thread. Cost: a spin lock for a few instructions, twice when it is bounded,
/// and an allocation for each value when it is not.
template <class T>
class channel {
public:
    class iterator;

    /// Any number of values.
    channel() noexcept = default;

    /// At most `capacity` values, counted from the begin of send() to the end of receive(). Throws
    /// std::invalid_argument when it is 0, std::bad_alloc.
    explicit channel(std::size_t capacity);

    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;
    ~channel();

    /// Sends a value; waits while the channel is full. Throws channel_closed when it is closed,
    /// also while this waits, what moving the value throws, std::bad_alloc.
    void send(T value);

    /// Sends the value if there is room; else returns false and leaves it alone. Throws as send().
    bool try_send(T&& value);
    bool try_send(const T& value) { return try_send(T(value)); }

    /// Waits for a value. Nothing: the channel is closed, and all values have been received.
    std::optional<T> receive() { return unpack(m_depots.filled.take(to_receive())); }

    /// A value if there is one.
    std::optional<T> try_receive() { return unpack(m_depots.filled.try_take()); }

    /// The same for coroutines, as event::co_wait(): co_await waits, and gives or throws what
    /// receive() and send() do. The value waits in the coroutine's frame.
    ///
    ///     quern::task<> consume(quern::channel<block>& blocks) {
    ///         while (auto b = co_await blocks.co_receive()) process(*b);
    ///     }
    auto co_receive() noexcept { return detail::co_awaitable<receiving>{{*this}}; }
    auto co_send(T value) { return detail::co_awaitable<sending>{{*this, std::move(value)}}; }

    /// The same as send() and receive(), but not longer than until a time: false or nothing when
    /// that has come first, and then the value is left alone. With any clock: one that is set back
    /// makes the wait longer. Nothing is also what a closed and empty channel gives.
    template <class Clock, class Duration>
    bool try_send_until(T&& value, const std::chrono::time_point<Clock, Duration>& when);
    template <class Rep, class Period>
    bool try_send_for(T&& value, const std::chrono::duration<Rep, Period>& time) {
        return try_send_until(std::move(value), detail::due_after(time));
    }
    template <class Clock, class Duration>
    std::optional<T> try_receive_until(const std::chrono::time_point<Clock, Duration>& when);
    template <class Rep, class Period>
    std::optional<T> try_receive_for(const std::chrono::duration<Rep, Period>& time) {
        return try_receive_until(detail::due_after(time));
    }

    /// No more values. Those who wait go on: receivers with nothing, senders with an exception.
    void close() noexcept {
        m_depots.free.close();
        m_depots.filled.close();  // last: a receiver that learns of it may destroy the channel
    }

    [[nodiscard]] bool is_closed() const noexcept { return m_depots.filled.is_closed(); }

    /// All values from now on, for a range-based for loop: it ends when the channel is closed and
    /// empty. Waits for the first one.
    iterator begin() { return iterator(*this); }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    struct slot : detail::parcel {
        slot() noexcept {}
        ~slot() {}
        union {
            T value;
        };
    };

    /// Gives a slot without value back, to whom it belongs.
    void give_back(slot& s) noexcept {
        if (m_slots == nullptr) {
            delete &s;
        } else {
            m_depots.free.put(s);  // refused when it is closed: nobody wants it then
        }
    }

    detail::wait_reason to_receive() const noexcept {
        return {&detail::depot::k_wait_for_value, &m_depots};
    }
    detail::wait_reason to_send() const noexcept {
        return {&detail::depot::k_wait_for_place, &m_depots};
    }

    using taker = detail::depot::taker;
    struct receiving {
        taker make_waiter() const noexcept { return taker(); }
        detail::wait_reason why() const noexcept { return from.to_receive(); }
        bool ready(taker& self) const noexcept {
            self.got = from.m_depots.filled.try_take();
            return self.got != nullptr;
        }
        bool enqueue(taker& self) const noexcept { return from.m_depots.filled.enqueue(self); }
        std::optional<T> result(taker& self) const { return from.unpack(self.got); }

        channel& from;
    };
    struct sending {
        taker make_waiter() const noexcept { return taker(); }
        detail::wait_reason why() const noexcept { return to.to_send(); }
        bool ready(taker& self) const {
            self.got = to.m_slots == nullptr ? new slot : to.m_depots.free.try_take();
            return self.got != nullptr;
        }
        bool enqueue(taker& self) const noexcept { return to.m_depots.free.enqueue(self); }
        void result(taker& self) { to.pack(self.got, std::move(value)); }

        channel& to;
        T value;
    };

    void pack(detail::parcel* into, T&& value);
    std::optional<T> unpack(detail::parcel* from);

    detail::channel_depots m_depots;
    std::unique_ptr<slot[]> m_slots;  ///< null when it is unbounded
};

/// An input iterator: going on receives the next value.
template <class T>
class channel<T>::iterator {
public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;

    T& operator*() const noexcept { return *m_value; }
    iterator& operator++() {
        m_value = m_from->receive();
        return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) noexcept {
        return !i.m_value.has_value();
    }

private:
    friend class channel;
    explicit iterator(channel& from) : m_from(&from), m_value(from.receive()) {}

    channel* m_from;
    mutable std::optional<T> m_value;
};

template <class T>
channel<T>::channel(std::size_t capacity)
    : m_slots(std::make_unique<slot[]>(detail::checked_capacity(capacity))) {
    for (std::size_t i = 0; i < capacity; ++i) {
        m_depots.free.put(m_slots[i]);
    }
    m_depots.free.expect(capacity);
}

template <class T>
channel<T>::~channel() {
    while (detail::parcel* left = m_depots.filled.try_take()) {
        slot& s = static_cast<slot&>(*left);
        std::destroy_at(&s.value);
        if (m_slots == nullptr) {
            delete &s;
        }
    }
}

template <class T>
void channel<T>::send(T value) {
    pack(m_slots == nullptr ? new slot : m_depots.free.take(to_send()), std::move(value));
}

template <class T>
bool channel<T>::try_send(T&& value) {
    detail::parcel* const into = m_slots == nullptr ? new slot : m_depots.free.try_take();
    if (into == nullptr && !is_closed()) {
        return false;
    }
    pack(into, std::move(value));
    return true;
}

template <class T>
template <class Clock, class Duration>
bool channel<T>::try_send_until(T&& value, const std::chrono::time_point<Clock, Duration>& when) {
    detail::parcel* into = nullptr;
    if (m_slots == nullptr) {
        into = new slot;
    } else if (!detail::wait_on_clock(when, [&](auto deadline) {
                   return m_depots.free.take_until(to_send(), deadline, into);
               })) {
        return false;
    }
    pack(into, std::move(value));
    return true;
}

template <class T>
template <class Clock, class Duration>
std::optional<T> channel<T>::try_receive_until(
    const std::chrono::time_point<Clock, Duration>& when) {
    detail::parcel* from = nullptr;
    detail::wait_on_clock(when, [&](auto deadline) {
        return m_depots.filled.take_until(to_receive(), deadline, from);
    });
    return unpack(from);
}

/// Sends the value in that slot; null: there is none because the channel is closed.
template <class T>
void channel<T>::pack(detail::parcel* into, T&& value) {
    if (into == nullptr) {
        detail::throw_channel_closed();
    }
    slot& s = static_cast<slot&>(*into);
    try {
        new (&s.value) T(std::move(value));
    } catch (...) {
        give_back(s);
        throw;
    }
    if (!m_depots.filled.put(s)) {
        std::destroy_at(&s.value);
        give_back(s);
        detail::throw_channel_closed();
    }
}

/// The value in that slot; null: there is none.
template <class T>
std::optional<T> channel<T>::unpack(detail::parcel* from) {
    if (from == nullptr) {
        return std::nullopt;
    }
    struct emptied {
        channel& all;
        slot& s;
        ~emptied() {
            std::destroy_at(&s.value);
            all.give_back(s);
        }
    } const at_end{*this, static_cast<slot&>(*from)};
    return std::optional<T>(std::move(at_end.s.value));
}

}  // namespace quern
