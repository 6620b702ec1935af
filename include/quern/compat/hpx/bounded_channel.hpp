// SPDX-License-Identifier: BSL-1.0
// channel_spsc, channel_mpsc and channel_mpmc: rings of a given size that never wait. All are one
// ring under a spin lock, for any number of producers and consumers.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/compat/hpx/errors.hpp>

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace hpx::experimental {

template <class T>
class channel_mpmc {
public:
    explicit channel_mpmc(std::size_t capacity) : m_slots(capacity) {}
    channel_mpmc(const channel_mpmc&) = delete;
    channel_mpmc& operator=(const channel_mpmc&) = delete;

    std::size_t capacity() const noexcept { return m_slots.size(); }
    bool is_empty() const noexcept {
        const std::scoped_lock lock(m_lock);
        return m_count == 0;
    }

    /// False: it is full. Throws hpx::exception(invalid_status) when it is closed.
    bool set(T value) {
        const std::scoped_lock lock(m_lock);
        require(!m_closed);
        if (m_count == m_slots.size()) {
            return false;
        }
        m_slots[(m_first + m_count++) % m_slots.size()] = std::move(value);
        return true;
    }

    /// False: it is empty. Throws hpx::exception(invalid_status) when it is closed as well.
    bool get(T* value = nullptr) const {
        const std::scoped_lock lock(m_lock);
        if (m_count == 0) {
            require(!m_closed);
            return false;
        }
        if (value != nullptr) {
            *value = std::move(m_slots[m_first].value);
        }
        m_first = (m_first + 1) % m_slots.size();
        --m_count;
        return true;
    }

    /// Returns how many values are left in it.
    std::size_t close() {
        const std::scoped_lock lock(m_lock);
        require(!std::exchange(m_closed, true));
        return m_count;
    }

private:
    /// A vector of its own type, so that bool is an object too.
    struct slot {
        T value{};
        slot& operator=(T&& from) {
            value = std::move(from);
            return *this;
        }
    };

    static void require(bool open) {
        if (!open) {
            throw exception(error::invalid_status, "the channel was closed");
        }
    }

    mutable quern::detail::spin_lock m_lock;
    mutable std::vector<slot> m_slots;
    mutable std::size_t m_first = 0;
    mutable std::size_t m_count = 0;
    bool m_closed = false;
};

template <class T>
using channel_mpsc = channel_mpmc<T>;
template <class T>
using channel_spsc = channel_mpmc<T>;

}  // namespace hpx::experimental

namespace hpx::lcos::local {

using hpx::experimental::channel_mpmc;
using hpx::experimental::channel_mpsc;
using hpx::experimental::channel_spsc;

}  // namespace hpx::lcos::local
