// SPDX-License-Identifier: BSL-1.0
// hpx::lcos::local::receive_buffer: numbered values, and futures of them that may be requested
// before or after the value arrives. The basis of channels.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/compat/hpx/ready_futures.hpp>

#include <cstddef>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace hpx::lcos::local {

/// Each side uses every number once. Thread safety: any thread.
template <class T>
class receive_buffer {
public:
    using value_type = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

    /// The future of value number `step`.
    future<T> receive(std::size_t step) {
        std::unique_lock lock(m_lock);
        const auto [entry, fresh] = m_steps.try_emplace(step);
        if (fresh) {
            return entry->second.waiting.emplace().get_future();
        }
        if (!entry->second.value) {
            throw exception(error::bad_parameter, "a value of a receive_buffer is asked for twice");
        }
        value_type value = std::move(*entry->second.value);
        m_steps.erase(entry);
        lock.unlock();
        return ready(std::move(value));
    }

    /// The same if the value has arrived.
    std::optional<future<T>> try_receive(std::size_t step) {
        std::unique_lock lock(m_lock);
        const auto entry = m_steps.find(step);
        if (entry == m_steps.end() || !entry->second.value) {
            return std::nullopt;
        }
        value_type value = std::move(*entry->second.value);
        m_steps.erase(entry);
        lock.unlock();
        return ready(std::move(value));
    }

    void store_received(std::size_t step, value_type value = {}) {
        std::unique_lock lock(m_lock);
        const auto [entry, fresh] = m_steps.try_emplace(step);
        if (fresh) {
            entry->second.value.emplace(std::move(value));
            return;
        }
        if (!entry->second.waiting) {
            throw exception(error::bad_parameter, "a receive_buffer is given a value twice");
        }
        promise<T> waiting = std::move(*entry->second.waiting);
        m_steps.erase(entry);
        lock.unlock();
        deliver(waiting, std::move(value));
    }

    bool empty() const {
        const std::scoped_lock lock(m_lock);
        return m_steps.empty();
    }

    /// Ends the waiting futures with that error. Returns their number.
    std::size_t cancel_waiting(const std::exception_ptr& error, bool also_values = false) {
        std::vector<promise<T>> given_up;
        {
            const std::scoped_lock lock(m_lock);
            for (auto each = m_steps.begin(); each != m_steps.end();) {
                if (each->second.waiting) {
                    given_up.push_back(std::move(*each->second.waiting));
                }
                each = !each->second.value || also_values ? m_steps.erase(each) : std::next(each);
            }
        }
        for (auto& each : given_up) {
            each.set_exception(error);
        }
        return given_up.size();
    }

private:
    struct step_entry {
        std::optional<value_type> value;
        std::optional<promise<T>> waiting;
    };

    static void deliver(promise<T>& to, value_type&& value) {
        if constexpr (std::is_void_v<T>) {
            to.set_value();
        } else {
            to.set_value(std::move(value));
        }
    }
    static future<T> ready(value_type&& value) {
        promise<T> made;
        deliver(made, std::move(value));
        return made.get_future();
    }

    mutable quern::detail::spin_lock m_lock;
    std::map<std::size_t, step_entry> m_steps;
};

}  // namespace hpx::lcos::local
