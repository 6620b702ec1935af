// SPDX-License-Identifier: BSL-1.0
// An object of the process behind the lock of this layer. It is made at its first use, and deleted
// after the destructors of all static objects, when the process ends or a plug-in is removed: each
// file that has one calls forget() there.
#pragma once

#include <quern/base/detail/process.hpp>

#include <mutex>
#include <utility>

namespace quern::adaptation::detail {

template <class T>
class process_object {
public:
    /// Requires: the lock `adaptation` is held.
    T& get() {
        if (m_object == nullptr) {
            m_object = new T();
        }
        return *m_object;
    }

    void forget() noexcept {
        const std::scoped_lock lock(
            quern::detail::lock_of(quern::detail::process_lock::adaptation));
        delete std::exchange(m_object, nullptr);
    }

private:
    T* m_object = nullptr;
};

}  // namespace quern::adaptation::detail
