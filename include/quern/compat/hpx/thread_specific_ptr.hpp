// SPDX-License-Identifier: BSL-1.0
// hpx::threads::thread_specific_ptr: a pointer of which every task has its own, and a cleanup
// function that is called when the task ends.
#pragma once

#include <quern/task/task_local.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace hpx::threads {

/// As in Boost.Thread. The pointer's destructor cleans up for the calling task; other tasks that
/// have one clean up when they end.
template <class T>
class thread_specific_ptr {
public:
    using cleanup_function = void (*)(T*);

    thread_specific_ptr() : thread_specific_ptr([](T* p) { delete p; }) {}
    /// With null there is no cleanup.
    explicit thread_specific_ptr(cleanup_function cleanup)
        : m_own([cleanup] { return holder(nullptr, cleanup); }) {}
    thread_specific_ptr(const thread_specific_ptr&) = delete;
    thread_specific_ptr& operator=(const thread_specific_ptr&) = delete;
    ~thread_specific_ptr() {
        if (m_own.has_value()) {
            reset();
        }
    }

    T* get() const { return m_own.has_value() ? m_own->pointer : nullptr; }
    T* operator->() const { return get(); }
    T& operator*() const { return *get(); }
    T* release() { return std::exchange(m_own->pointer, nullptr); }
    void reset(T* fresh = nullptr) {
        holder& own = *m_own;
        if (own.pointer != fresh) {
            own.clean();
            own.pointer = fresh;
        }
    }

private:
    struct holder {
        holder(T* p, cleanup_function c) noexcept : pointer(p), cleanup(c) {}
        holder(holder&& other) noexcept
            : pointer(std::exchange(other.pointer, nullptr)), cleanup(other.cleanup) {}
        ~holder() { clean(); }
        void clean() {
            if (pointer != nullptr && cleanup != nullptr) {
                cleanup(std::exchange(pointer, nullptr));
            }
        }
        T* pointer;
        cleanup_function cleanup;
    };

    quern::task_local<holder> m_own;
};

}  // namespace hpx::threads
