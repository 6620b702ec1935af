// SPDX-License-Identifier: BSL-1.0
// What this layer knows of handles that MPI has given out.
#pragma once

#include <quern/base/detail/spin_lock.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quern::mpi::detail {

/// Handles to what is known of them. A later one with the same handle replaces it. One of the
/// process for each pair of types, as long as the process lives. Thread safe.
template <class Handle, class What>
class handle_table {
public:
    static handle_table& of_process() noexcept {
        static handle_table& the_one =
            *new handle_table;  // NOLINT(bugprone-unhandled-exception-at-new)
        return the_one;
    }

    /// One relaxed load: for the caller's own handles.
    static bool is_empty() noexcept { return s_size.load(std::memory_order_relaxed) == 0; }

    void put(Handle handle, What what) noexcept {
        const std::scoped_lock lock(m_lock);
        m_all.insert_or_assign(handle, std::move(what));
        update_size();
    }

    std::optional<What> get(Handle handle) noexcept {
        const std::scoped_lock lock(m_lock);
        const auto at = m_all.find(handle);
        return at != m_all.end() ? std::optional<What>(at->second) : std::nullopt;
    }

    std::optional<What> take(Handle handle) noexcept {
        std::optional<What> taken;
        const std::scoped_lock lock(m_lock);
        if (const auto at = m_all.find(handle); at != m_all.end()) {
            taken = std::move(at->second);
            m_all.erase(at);
            update_size();
        }
        return taken;
    }

    template <class Condition>
    void remove_if(Handle handle, Condition condition) noexcept {
        const std::scoped_lock lock(m_lock);
        if (const auto at = m_all.find(handle); at != m_all.end() && condition(at->second)) {
            m_all.erase(at);
            update_size();
        }
    }

    std::vector<std::pair<Handle, What>> all() {
        const std::scoped_lock lock(m_lock);
        return {m_all.begin(), m_all.end()};
    }

private:
    void update_size() noexcept { s_size.store(m_all.size(), std::memory_order_relaxed); }

    static inline constinit std::atomic<std::size_t> s_size{0};

    quern::detail::spin_lock m_lock;
    std::unordered_map<Handle, What> m_all;
};

}  // namespace quern::mpi::detail
