// SPDX-License-Identifier: BSL-1.0
// What channels, promises, latches, barriers and semaphores of localities have in common: each is a
// reference to a global object whose calls answer by tickets.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/ticket.hpp>
#include <quern/localities/object.hpp>

#include <utility>

namespace quern::localities::detail {

template <class State>
class control_object {
public:
    using state = State;

    /// Refers to none.
    control_object() = default;
    /// That of a reference, such as find() gives.
    explicit control_object(object<State> of) noexcept : m_state(std::move(of)) {}

    const object<State>& as_object() const noexcept { return m_state; }

    /// For the archives.
    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_state);
    }

protected:
    object<State> m_state;
};

}  // namespace quern::localities::detail
