// SPDX-License-Identifier: BSL-1.0
// A value, or the reason why there is none. The result of every reader and parser of this layer,
// because a machine that hides a file is normal (containers): it must be reported, never thrown.
// Must never hold a default in place of a missing value.
#pragma once

#include <quern/base/detail/assert.hpp>

#include <string>
#include <utility>
#include <variant>

namespace quern::topology {

/// Why there is no value: one line, without a full stop, fit for users.
struct unavailable {
    std::string reason;
    int error = 0;  ///< the errno value of a failed system call, or 0

    friend bool operator==(const unavailable&, const unavailable&) = default;
};

template <class T>
class outcome {
public:
    outcome(T value) : m_content(std::in_place_index<0>, std::move(value)) {}
    outcome(unavailable why) : m_content(std::in_place_index<1>, std::move(why)) {}

    bool has_value() const noexcept { return m_content.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    /// Requires: has_value().
    const T& value() const {
        QUERN_ASSERT(has_value(), "outcome::value() asked of an unavailable value");
        return *std::get_if<0>(&m_content);
    }
    const T& operator*() const { return value(); }
    const T* operator->() const { return &value(); }

    /// Requires: !has_value().
    const std::string& reason() const {
        QUERN_ASSERT(!has_value(), "outcome::reason() asked of a value");
        return std::get_if<1>(&m_content)->reason;
    }
    /// The errno value behind the reason, or 0. Requires: !has_value().
    int error() const {
        QUERN_ASSERT(!has_value(), "outcome::error() asked of a value");
        return std::get_if<1>(&m_content)->error;
    }

    friend bool operator==(const outcome&, const outcome&) = default;

private:
    std::variant<T, unavailable> m_content;
};

}  // namespace quern::topology
