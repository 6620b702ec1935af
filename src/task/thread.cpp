// SPDX-License-Identifier: BSL-1.0
// The parts of thread that do not depend on its function.
#include <quern/task/thread.hpp>

#include <exception>
#include <system_error>

namespace quern {

namespace {

[[noreturn]] void refuse(std::errc why, const char* text) {
    throw std::system_error(std::make_error_code(why), text);
}

}  // namespace

void thread::enter(id own) noexcept {
    if (detail::context* const root = detail::task_root()) {
        root->task().id = own.number();
    }
}

void thread::join() {
    if (!joinable()) {
        refuse(std::errc::invalid_argument, "quern: thread::join() without a thread");
    }
    const detail::context* const caller = detail::task_root();
    if (caller != nullptr && caller->task().id == m_id.number()) {
        refuse(std::errc::resource_deadlock_would_occur, "quern: a thread joins itself");
    }
    m_end.get();
    m_id = id();
}

void thread::detach() {
    if (!joinable()) {
        refuse(std::errc::invalid_argument, "quern: thread::detach() without a thread");
    }
    m_end = {};
    m_id = id();
}

unsigned thread::hardware_concurrency() noexcept {
    try {
        return current_pool().workers();
    } catch (...) {
        return 0;
    }
}

void thread::terminate_if_joinable() const noexcept {
    if (joinable()) {
        std::terminate();
    }
}

}  // namespace quern
