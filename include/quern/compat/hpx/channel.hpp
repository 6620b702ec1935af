// SPDX-License-Identifier: BSL-1.0
// hpx::lcos::local::channel: a copyable handle to a queue whose values arrive as futures. Each
// value has a generation; set() and get() without one count from 1.
#pragma once

#include <quern/compat/hpx/receive_buffer.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/mutex.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace hpx::lcos::local {

namespace detail {

inline constexpr std::size_t k_next_generation = static_cast<std::size_t>(-1);

/// The queue. With a capacity of one, a value waits until the previous one has been taken.
template <class T>
class channel_queue {
public:
    using value_type = typename receive_buffer<T>::value_type;

    explicit channel_queue(bool one_element) : m_one_element(one_element) {}

    future<T> get(std::size_t generation) {
        const std::scoped_lock lock(m_mutex);
        if (generation == k_next_generation) {
            generation = ++m_last_get;
        }
        if (auto there = m_values.try_receive(generation)) {
            note_taken();
            return std::move(*there);
        }
        if (m_closed) {
            throw exception(error::invalid_status, "the channel is empty and was closed");
        }
        return m_values.receive(generation);
    }

    void set(value_type&& value, std::size_t generation) {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] {
            return !m_one_element || m_taken == m_last_set || m_closed || m_last_get > m_last_set;
        });
        if (m_closed) {
            throw exception(error::invalid_status, "a value is sent to a channel that was closed");
        }
        const std::size_t next = ++m_last_set;
        if (m_last_get >= next) {
            ++m_taken;  // a future waits for it already
        }
        m_values.store_received(generation == k_next_generation ? next : generation,
                                std::move(value));
    }

    /// Returns the number of waiting futures, which now hold an exception.
    std::size_t close(bool also_values) {
        const std::scoped_lock lock(m_mutex);
        if (std::exchange(m_closed, true)) {
            throw exception(error::invalid_status, "a channel is closed twice");
        }
        m_changed.notify_all();
        return m_values.cancel_waiting(
            std::make_exception_ptr(exception(error::future_cancelled, "the channel was closed")),
            also_values);
    }

private:
    void note_taken() {
        ++m_taken;
        m_changed.notify_all();
    }

    const bool m_one_element;
    quern::mutex m_mutex;
    quern::condition_variable m_changed;  ///< for senders of one element
    receive_buffer<T> m_values;
    std::size_t m_last_get = 0, m_last_set = 0, m_taken = 0;
    bool m_closed = false;
};

/// Shared by the receiving and the sending handles.
template <class T>
class channel_handle {
protected:
    explicit channel_handle(std::shared_ptr<channel_queue<T>> queue) : m_queue(std::move(queue)) {}
    std::shared_ptr<channel_queue<T>> m_queue;

    future<T> get_from(std::size_t generation) const {
        try {
            return m_queue->get(generation);
        } catch (const exception&) {
            return hpx::make_exceptional_future<T>(std::current_exception());
        }
    }
    /// Throws hpx::exception(deadlock) instead of waiting if no other handle could send.
    T get_now(std::size_t generation, error_code& ec) const {
        return hpx::detail::translated(ec, [&]() -> T {
            future<T> f = get_from(generation);
            if (!f.is_ready() && m_queue.use_count() == 1) {
                throw exception(error::deadlock, "no other handle of the channel could send");
            }
            return f.get();
        });
    }

public:
    friend bool operator==(const channel_handle&, const channel_handle&) = default;
    std::shared_ptr<channel_queue<T>> queue() const { return m_queue; }
};

}  // namespace detail

/// Receives values until the channel is closed and empty.
template <class T, class Channel>
class channel_iterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = typename receive_buffer<T>::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = const value_type&;

    channel_iterator() = default;
    explicit channel_iterator(const Channel& from) : m_from(&from) { ++*this; }

    reference operator*() const { return *m_value; }
    pointer operator->() const { return &*m_value; }
    channel_iterator& operator++() {
        error_code ec(throwmode::lightweight);
        m_value.reset();
        if constexpr (std::is_void_v<T>) {
            m_from->get(launch::sync, ec);
            if (!ec) {
                m_value.emplace();
            }
        } else {
            value_type value = m_from->get(launch::sync, ec);
            if (!ec) {
                m_value.emplace(std::move(value));
            }
        }
        return *this;
    }
    friend bool operator==(const channel_iterator& a, const channel_iterator& b) {
        return a.m_value.has_value() == b.m_value.has_value();
    }

private:
    const Channel* m_from = nullptr;
    std::optional<value_type> m_value;
};

/// The receiving end.
template <class T = void>
class receive_channel : public detail::channel_handle<T> {
public:
    using value_type = T;

    explicit(false) receive_channel(const detail::channel_handle<T>& of)
        : detail::channel_handle<T>(of.queue()) {}

    future<T> get(std::size_t generation = detail::k_next_generation) const {
        return this->get_from(generation);
    }
    T get(launch, std::size_t generation, error_code& ec = throws) const {
        return this->get_now(generation, ec);
    }
    T get(launch, error_code& ec = throws) const {
        return this->get_now(detail::k_next_generation, ec);
    }

    auto begin() const { return channel_iterator<T, receive_channel>(*this); }
    auto end() const { return channel_iterator<T, receive_channel>(); }
};

/// The sending end.
template <class T = void>
class send_channel : public detail::channel_handle<T> {
public:
    using value_type = T;

    explicit(false) send_channel(const detail::channel_handle<T>& of)
        : detail::channel_handle<T>(of.queue()) {}

    template <class Value = typename detail::channel_queue<T>::value_type>
        requires(!std::is_void_v<T>)
    void set(Value&& value, std::size_t generation = detail::k_next_generation) {
        this->m_queue->set(T(std::forward<Value>(value)), generation);
    }
    void set(std::size_t generation = detail::k_next_generation) requires std::is_void_v<T> {
        this->m_queue->set({}, generation);
    }
    std::size_t close(bool also_values = false) { return this->m_queue->close(also_values); }
};

namespace detail {

template <class T, bool OneElement>
class both_ends : public channel_handle<T> {
public:
    using value_type = T;

    both_ends() : channel_handle<T>(std::make_shared<channel_queue<T>>(OneElement)) {}

    future<T> get(std::size_t generation = k_next_generation) const {
        return this->get_from(generation);
    }
    T get(launch, std::size_t generation, error_code& ec = throws) const {
        return this->get_now(generation, ec);
    }
    T get(launch, error_code& ec = throws) const { return this->get_now(k_next_generation, ec); }

    template <class Value = typename channel_queue<T>::value_type>
        requires(!std::is_void_v<T>)
    void set(Value&& value, std::size_t generation = k_next_generation) {
        this->m_queue->set(T(std::forward<Value>(value)), generation);
    }
    void set(std::size_t generation = k_next_generation) requires std::is_void_v<T> {
        this->m_queue->set({}, generation);
    }
    std::size_t close(bool also_values = false) { return this->m_queue->close(also_values); }

    auto begin() const { return channel_iterator<T, both_ends>(*this); }
    auto end() const { return channel_iterator<T, both_ends>(); }
};

}  // namespace detail

/// Unbounded.
///
///     hpx::lcos::local::channel<int> c;
///     hpx::future<int> f = c.get();
///     c.set(42);
///     const int answer = f.get();
template <class T = void>
class channel : public detail::both_ends<T, false> {};

/// One value at a time: set() waits until the previous one has been taken.
template <class T = void>
class one_element_channel : public detail::both_ends<T, true> {};

}  // namespace hpx::lcos::local
