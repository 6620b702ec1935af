// SPDX-License-Identifier: BSL-1.0
// What a scheduling policy keeps in its queues: ready tasks. A policy cannot run or inspect them,
// but can link them in lists without allocating. For policies of programs: scheduler/policy.hpp.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/work.hpp>

#include <cstddef>

namespace quern {

/// A ready task, as a pointer that is cheap to copy; or none. A policy returns every item exactly
/// once, from pop, take_back or steal. Until then the item lives.
class ready_item {
public:
    constexpr ready_item() noexcept = default;
    constexpr explicit ready_item(detail::runnable* item) noexcept : m_item(item) {}

    explicit operator bool() const noexcept { return m_item != nullptr; }
    friend bool operator==(const ready_item&, const ready_item&) noexcept = default;

    /// Whether the task has not begun. If false, it resumes after a wait and has a stack. Requires,
    /// as for name(): not none.
    bool is_new() const noexcept { return m_item->staged; }
    /// The name given by the program, or null.
    const char* name() const noexcept;

    detail::runnable* get() const noexcept { return m_item; }

private:
    friend class ready_list;
    detail::runnable* m_item = nullptr;
};

/// A list of items through a link in each, so nothing here allocates or throws. An item is in at
/// most one list. Not thread safe. All operations are O(1) except remove().
class ready_list {
public:
    bool empty() const noexcept { return m_first == nullptr; }
    std::size_t size() const noexcept { return m_size; }

    void push_back(ready_item item) noexcept {
        item.m_item->next = nullptr;
        (m_first != nullptr ? m_last->next : m_first) = item.m_item;
        m_last = item.m_item;
        ++m_size;
    }

    void push_front(ready_item item) noexcept {
        item.m_item->next = m_first;
        m_last = m_first != nullptr ? m_last : item.m_item;
        m_first = item.m_item;
        ++m_size;
    }

    /// None when the list is empty.
    ready_item pop_front() noexcept {
        detail::runnable* const item = m_first;
        if (item != nullptr) {
            m_first = item->next;
            --m_size;
        }
        return ready_item(item);
    }

    /// Removes the item. False: it is not here.
    bool remove(ready_item item) noexcept {
        detail::runnable* before = nullptr;
        for (detail::runnable* each = m_first; each != nullptr; each = each->next) {
            if (each == item.m_item) {
                (before != nullptr ? before->next : m_first) = each->next;
                m_last = m_last == each ? before : m_last;
                --m_size;
                return true;
            }
            before = each;
        }
        return false;
    }

private:
    detail::runnable* m_first = nullptr;
    detail::runnable* m_last = nullptr;
    std::size_t m_size = 0;
};

}  // namespace quern
