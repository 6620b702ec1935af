// SPDX-License-Identifier: BSL-1.0
// Cancellation: the text of its error, and the queries of a running task.
#include <quern/task/stop.hpp>

#include <quern/task/this_task.hpp>

#include <cstdio>

namespace quern {

task_cancelled::task_cancelled(subject what, const char* task_name) noexcept {
    constexpr std::array<const char*, 4> k_words{"task", "group", "loop", "scope"};
    const char* word = k_words[static_cast<std::size_t>(what)];
    if (task_name == nullptr) {
        std::snprintf(m_text.data(), m_text.size(), "quern: a %s was cancelled", word);
    } else if (what == subject::task) {
        std::snprintf(m_text.data(), m_text.size(), "quern: the task '%s' was cancelled",
                      task_name);
    } else {
        std::snprintf(m_text.data(), m_text.size(), "quern: a %s of the task '%s' was cancelled",
                      word, task_name);
    }
}

namespace detail {

std::stop_token stop_signal::nearest_token() const {
    for (const stop_signal* s = this; s != nullptr; s = s->m_around) {
        if (s->m_make_token != nullptr) {
            return s->m_make_token(*s);
        }
        if (s->if_token() != nullptr) {
            return s->m_token;
        }
    }
    return {};
}

std::exception_ptr cancelled_task(const char* name) noexcept {
    return std::make_exception_ptr(task_cancelled(task_cancelled::subject::task, name));
}

void throw_if_stopped(const std::stop_token& token, task_cancelled::subject what) {
    if (token.stop_requested()) {
        throw task_cancelled(what, this_task::name());
    }
}

}  // namespace detail

std::stop_token this_task::stop_token() {
    const detail::stop_signal* signal = detail::running_signal();
    return signal != nullptr ? signal->nearest_token() : std::stop_token();
}

bool this_task::stop_requested() noexcept {
    const detail::stop_signal* signal = detail::running_signal();
    return signal != nullptr && signal->is_asked();
}

}  // namespace quern
