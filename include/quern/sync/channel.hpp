// SPDX-License-Identifier: BSL-1.0
// quern::channel: an ordered queue of values between tasks. Wait lists of filled and free slots.
#pragma once

#include <quern/sync/detail/co_waiting.hpp>
#include <quern/sync/detail/wait_list.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>

namespace quern {

/// Thrown by send() on a closed channel.
class channel_closed : public std::runtime_error {
public:
    channel_closed() : std::runtime_error("quern::channel: a value is sent but it is closed") {}
};

namespace detail {

/// Throws std::invalid_argument if it is 0.
std::size_t checked_capacity(std::size_t capacity);
[[noreturn]] void throw_channel_closed();

}  // namespace detail

/// A queue between tasks, unbounded or with a fixed capacity.
///
///     quern::channel<block> blocks(8);
///     quern::task_group reader;
///     reader.run([&] {
///         const quern::closing at_end(blocks);                     // also if read() throws
///         for (block& b : read(file)) blocks.send(std::move(b));   // at most 8 ahead
///     });
///     for (block& b : quern::closing(blocks)) process(b);          // until it is closed and empty
///     reader.wait();
///
/// Each side must close the channel when it ends early, or the other one waits for ever: see
/// quern::closing. Stages that hand items on in order are a quern::pipeline, which needs no
/// channel.
///
/// Fair: values are received in the order in which they were sent. A value goes to the longest
/// waiting receiver, a free slot to the longest waiting sender. What precedes a send() happens
/// before the return of the receive() that gets the value. Sender and receiver move the value into
/// and out of its slot in their own tasks, so an exception of T is thrown there: a value that
/// cannot be moved in has not been sent, one that cannot be moved out is lost. T is any movable
/// type.
///
/// After close() no value can be sent; values sent before are still delivered. The channel may be
/// destroyed when it is unused; if anything waits in it the program is aborted. If there are no
/// other senders and receivers, a receiver may destroy it after it got a value, even if the send()
/// of that value has not returned, and a task that has learned that it is closed may, even if
/// close() has not returned. Remaining values are destroyed.
/// Thread safety: any thread. Cost: two short spin-lock sections; if unbounded, an allocation when
/// it holds more values than before. With several workers a wait may first spin for about 2 us.
template <class T>
class channel {
public:
    class iterator;

    /// Unbounded.
    channel() noexcept = default;

    /// At most `capacity` values, counted from the beginning of send() to the end of receive().
    /// Throws std::invalid_argument if it is 0, std::bad_alloc.
    explicit channel(std::size_t capacity);

    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;
    ~channel();

    /// Sends a value; waits while the channel is full. Throws channel_closed if it is closed, also
    /// during the wait; what moving the value throws; std::bad_alloc.
    void send(T value);

    /// Sends the value if there is room; else returns false and leaves it unchanged. Throws as
    /// send().
    bool try_send(T&& value);
    bool try_send(const T& value) { return try_send(T(value)); }

    /// Waits for a value. Returns std::nullopt if the channel is closed and empty.
    std::optional<T> receive() { return unpack(m_lists.filled.take(to_receive())); }

    /// As receive(), without waiting.
    std::optional<T> try_receive() { return unpack(m_lists.filled.try_take()); }

    /// send() and receive() until `stop` is requested: false or std::nullopt if that comes first; a
    /// value that can be moved is then unchanged. std::nullopt also means closed and empty. See
    /// event::wait(stop).
    ///
    ///     quern::jthread consumer([&](std::stop_token stop) {
    ///         while (auto b = blocks.receive(stop)) process(*b);
    ///     });
    bool send(T&& value, const std::stop_token& stop) {
        return send_in_time(std::move(value), [&](detail::wait_node*& into) {
            return m_lists.free.take_until(to_send(), stop, into);
        });
    }
    bool send(const T& value, const std::stop_token& stop) { return send(T(value), stop); }
    std::optional<T> receive(const std::stop_token& stop) {
        detail::wait_node* from = nullptr;
        m_lists.filled.take_until(to_receive(), stop, from);
        return unpack(from);
    }

    /// For coroutines, see event::co_wait(): co_await waits, and gives or throws what receive() and
    /// send() do. The value to send is kept in the coroutine's frame.
    ///
    ///     quern::task<> consume(quern::channel<block>& blocks) {
    ///         while (auto b = co_await blocks.co_receive()) process(*b);
    ///     }
    auto co_receive() noexcept { return detail::co_awaitable<receiving>{{*this}}; }
    auto co_send(T value) { return detail::co_awaitable<sending>{{*this, std::move(value)}}; }

    /// receive(stop) and send(stop) for coroutines, see event::co_wait(stop). A value that was not
    /// sent is destroyed.
    auto co_receive(std::stop_token stop) noexcept {
        return detail::co_stoppable<receiving_in_time>{{{*this}}, std::move(stop)};
    }
    auto co_send(T value, std::stop_token stop) {
        return detail::co_stoppable<sending_in_time>{{{*this, std::move(value)}}, std::move(stop)};
    }

    /// send() and receive() with a deadline: false or std::nullopt if it passes first; the value is
    /// then unchanged. std::nullopt also means closed and empty. Any clock; if it is set back the
    /// wait gets longer.
    template <class Clock, class Duration>
    bool try_send_until(T&& value, const std::chrono::time_point<Clock, Duration>& when) {
        return send_in_time(std::move(value), [&](detail::wait_node*& into) {
            return detail::wait_on_clock(
                when, [&](auto limit) { return m_lists.free.take_until(to_send(), limit, into); });
        });
    }
    template <class Rep, class Period>
    bool try_send_for(T&& value, const std::chrono::duration<Rep, Period>& time) {
        return try_send_until(std::move(value), detail::due_after(time));
    }
    template <class Clock, class Duration>
    std::optional<T> try_receive_until(const std::chrono::time_point<Clock, Duration>& when) {
        detail::wait_node* from = nullptr;
        detail::wait_on_clock(
            when, [&](auto limit) { return m_lists.filled.take_until(to_receive(), limit, from); });
        return unpack(from);
    }
    template <class Rep, class Period>
    std::optional<T> try_receive_for(const std::chrono::duration<Rep, Period>& time) {
        return try_receive_until(detail::due_after(time));
    }

    /// The same until `stop` is requested too, see event::wait_until(stop, when).
    template <class Clock, class Duration>
    bool try_send_until(T&& value, const std::stop_token& stop,
                        const std::chrono::time_point<Clock, Duration>& when) {
        return send_in_time(std::move(value), [&](detail::wait_node*& into) {
            return detail::wait_on_clock(stop, when, [&](const auto& limit) {
                return m_lists.free.take_until(to_send(), limit, into);
            });
        });
    }
    template <class Rep, class Period>
    bool try_send_for(T&& value, const std::stop_token& stop,
                      const std::chrono::duration<Rep, Period>& time) {
        return try_send_until(std::move(value), stop, detail::due_after(time));
    }
    template <class Clock, class Duration>
    std::optional<T> try_receive_until(const std::stop_token& stop,
                                       const std::chrono::time_point<Clock, Duration>& when) {
        detail::wait_node* from = nullptr;
        detail::wait_on_clock(stop, when, [&](const auto& limit) {
            return m_lists.filled.take_until(to_receive(), limit, from);
        });
        return unpack(from);
    }
    template <class Rep, class Period>
    std::optional<T> try_receive_for(const std::stop_token& stop,
                                     const std::chrono::duration<Rep, Period>& time) {
        return try_receive_until(stop, detail::due_after(time));
    }

    /// Ends sending. Waiting receivers get std::nullopt, waiting senders an exception.
    void close() noexcept { m_lists.close(); }

    [[nodiscard]] bool is_closed() const noexcept { return m_lists.is_closed(); }

    /// Range-based for: receives values until the channel is closed and empty. Waits for the first
    /// one. A loop that is left early leaves the channel open; one over quern::closing closes it.
    iterator begin() { return iterator(*this); }
    std::default_sentinel_t end() const noexcept { return {}; }

private:
    struct slot : detail::wait_node {
        slot() noexcept {}
        ~slot() {}
        union {
            T value;
        };
    };

    /// Null: bounded, and full or closed. Throws std::bad_alloc.
    detail::wait_node* take_slot_now() {
        detail::wait_list& free = m_lists.free;
        detail::wait_node* const kept = free.looks_empty() ? nullptr : free.try_take();
        return kept == nullptr && m_slots == nullptr ? new slot : kept;
    }

    /// Returns a slot without a value. If unbounded, k_kept are kept at each end (guessed).
    void give_back(slot& s) noexcept {
        constexpr std::size_t k_kept = std::max<std::size_t>(32 * 1024 / sizeof(slot), 4);
        if (m_slots != nullptr) {
            m_lists.free.put(s);  // refused if closed: it is not needed then
        } else if (!m_lists.free.keep(s, k_kept)) {
            delete &s;
        }
    }

    detail::wait_reason to_receive() const noexcept {
        return {&detail::wait_list::k_wait_for_value, &m_lists};
    }
    detail::wait_reason to_send() const noexcept {
        return {&detail::wait_list::k_wait_for_place, &m_lists};
    }

    using taker = detail::wait_list::taker;
    struct receiving {
        taker make_waiter() const noexcept { return taker(); }
        detail::wait_reason why() const noexcept { return from.to_receive(); }
        bool ready(taker& self) const noexcept {
            self.got = from.m_lists.filled.try_take();
            return self.got != nullptr;
        }
        bool enqueue(taker& self) const noexcept { return from.m_lists.filled.enqueue(self); }
        std::optional<T> result(taker& self) const { return from.unpack(self.got); }

        channel& from;
    };
    struct receiving_in_time : receiving {
        void withdraw(taker& self) const noexcept {
            detail::wake_if(this->from.m_lists.filled.withdraw(self), self);
        }
    };
    struct sending {
        taker make_waiter() const noexcept { return taker(); }
        detail::wait_reason why() const noexcept { return to.to_send(); }
        bool ready(taker& self) const {
            self.got = to.take_slot_now();
            return self.got != nullptr;
        }
        bool enqueue(taker& self) const noexcept { return to.m_lists.free.enqueue(self); }
        void result(taker& self) { to.pack(self.got, std::move(value)); }

        channel& to;
        T value;
    };
    struct sending_in_time : sending {
        void withdraw(taker& self) const noexcept {
            detail::wake_if(this->to.m_lists.free.withdraw(self), self);
        }
        bool result(taker& self) {
            if (!self.expired) {
                sending::result(self);
            }
            return !self.expired;
        }
    };

    /// `wait_for_place(into)` sets `into` and returns whether it is over in time.
    template <class Wait>
    bool send_in_time(T&& value, Wait wait_for_place) {
        detail::wait_node* into = nullptr;
        if (m_slots == nullptr) {
            into = take_slot_now();
        } else if (!wait_for_place(into)) {
            return false;
        }
        pack(into, std::move(value));
        return true;
    }

    void pack(detail::wait_node* into, T&& value);
    std::optional<T> unpack(detail::wait_node* from);

    detail::channel_lists m_lists;
    std::unique_ptr<slot[]> m_slots;  ///< null if unbounded
};

/// An input iterator: ++ receives the next value.
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
        m_lists.free.put(m_slots[i]);
    }
    m_lists.free.expect(capacity);
}

template <class T>
channel<T>::~channel() {
    detail::refuse_if_awaited(m_lists.filled.first_waiter(), "a channel (to receive)");
    detail::refuse_if_awaited(m_lists.free.first_waiter(), "a channel (to send)");
    while (detail::wait_node* left = m_lists.filled.try_take()) {
        slot& s = static_cast<slot&>(*left);
        std::destroy_at(&s.value);
        give_back(s);
    }
    while (detail::wait_node* kept = m_slots == nullptr ? m_lists.free.try_take() : nullptr) {
        delete static_cast<slot*>(kept);
    }
}

template <class T>
void channel<T>::send(T value) {
    pack(m_slots == nullptr ? take_slot_now() : m_lists.free.take(to_send()), std::move(value));
}

template <class T>
bool channel<T>::try_send(T&& value) {
    detail::wait_node* const into = take_slot_now();
    if (into == nullptr && !is_closed()) {
        return false;
    }
    pack(into, std::move(value));
    return true;
}

/// Sends the value in the given slot. Null: the channel is closed.
template <class T>
void channel<T>::pack(detail::wait_node* into, T&& value) {
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
    if (!m_lists.filled.put(s)) {
        std::destroy_at(&s.value);
        give_back(s);
        static_cast<void>(m_lists.is_closed());  // close() may still be in there
        detail::throw_channel_closed();
    }
}

/// The value in the given slot. Null: there is none.
template <class T>
std::optional<T> channel<T>::unpack(detail::wait_node* from) {
    if (from == nullptr) {
        static_cast<void>(m_lists.is_closed());  // close() may still be in there
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

#include <quern/sync/closing.hpp>
