// SPDX-License-Identifier: BSL-1.0
// The values of task-local variables that one task has used: a chain in the context on which the
// task began, or of a thread that runs no task. Only its owner touches it, so it needs no lock, and
// it moves with the stack. The variables: task/task_local.hpp.
#pragma once

#include <cstdint>
#include <utility>

namespace quern::detail {

/// One value. A derived class holds the value and knows how to destroy it.
struct task_local_value {
    using destroy_function = void (*)(task_local_value& self) noexcept;

    task_local_value(std::uint64_t of, destroy_function d) noexcept : variable(of), destroy(d) {}

    const std::uint64_t variable;  ///< its number
    destroy_function destroy;
    task_local_value* older = nullptr;
};

class task_locals {
public:
    task_local_value* find(std::uint64_t variable) const noexcept {
        task_local_value* v = m_youngest;
        while (v != nullptr && v->variable != variable) {
            v = v->older;
        }
        return v;
    }

    void add(task_local_value& fresh) noexcept {
        fresh.older = m_youngest;
        m_youngest = &fresh;
    }

    /// Youngest first, including those that a destructor makes. One branch when there is none.
    void destroy_all() noexcept {
        while (m_youngest != nullptr)
            [[unlikely]] {
                task_local_value& v = *std::exchange(m_youngest, m_youngest->older);
                v.destroy(v);
            }
    }

private:
    task_local_value* m_youngest = nullptr;
};

}  // namespace quern::detail
