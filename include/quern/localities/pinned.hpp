// SPDX-License-Identifier: BSL-1.0
// Global objects that are here, in place.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/objects.hpp>
#include <quern/localities/detail/parcel.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace quern::localities {

template <class T>
class object;

/// A global object that is at this locality and stays there meanwhile, or null: what
/// object::here_or_null() and object::pin() give. It counts as a call that runs: of a const T
/// beside others that take the object as const, of a T alone. So it is to be kept shortly, and a
/// call of the same object that is waited for meanwhile waits for ever. The job does not end before
/// it: it must end before the session, whose end waits for it, and says so on stderr after 10
/// seconds.
///
/// Thread safety: of an own one per thread, as unique_ptr.
template <class T>
class pinned {
public:
    pinned() noexcept = default;

    explicit operator bool() const noexcept { return static_cast<bool>(m_turn); }
    /// Requires, as those below: it is not null.
    T& operator*() const noexcept { return *get(); }
    T* operator->() const noexcept { return get(); }
    /// Null if there is none.
    T* get() const noexcept { return m_turn ? static_cast<T*>(m_turn.object()) : nullptr; }

private:
    friend class object<std::remove_const_t<T>>;
    pinned(detail::object_reference kept, detail::object_turn&& turn, detail::job& of)
        : m_counted(std::in_place, of), m_kept(std::move(kept)), m_turn(std::move(turn)) {
        if (m_turn) {
            m_turn.begins();
        }
    }

    std::optional<detail::counted_pin> m_counted{};
    detail::object_reference m_kept{};
    detail::object_turn m_turn{};  ///< last: it ends first
};

}  // namespace quern::localities
