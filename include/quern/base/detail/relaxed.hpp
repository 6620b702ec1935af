// SPDX-License-Identifier: BSL-1.0
// A value that one thread writes and others may read at any time, without ordering, such as
// statistics for reports. Used and priced like a plain value.
#pragma once

#include <atomic>

namespace quern::detail {

template <class T>
class relaxed {
public:
    relaxed(T value) noexcept : m_value(value) {}  // NOLINT(google-explicit-constructor)
    relaxed(const relaxed& other) noexcept : relaxed(static_cast<T>(other)) {}
    relaxed& operator=(const relaxed& other) noexcept { return *this = static_cast<T>(other); }
    relaxed& operator=(T value) noexcept {
        m_value.store(value, std::memory_order_relaxed);
        return *this;
    }
    ~relaxed() = default;

    operator T() const noexcept {  // NOLINT(google-explicit-constructor)
        return m_value.load(std::memory_order_relaxed);
    }

private:
    std::atomic<T> m_value;
};

}  // namespace quern::detail
