// SPDX-License-Identifier: BSL-1.0
// A doubly linked intrusive list, for sets from which an element removes itself in constant time.
// Not thread safe: the owner of the list holds a lock.
#pragma once

#include <cstddef>

namespace quern::detail {

/// Base of an element. Invariant: both pointers are null while it is in no list.
struct list_link {
    list_link* previous = nullptr;
    list_link* next = nullptr;
};

template <class T>
class intrusive_list {
public:
    constexpr intrusive_list() noexcept { m_head.previous = m_head.next = &m_head; }
    intrusive_list(const intrusive_list&) = delete;
    intrusive_list& operator=(const intrusive_list&) = delete;

    /// Empties the list without touching its elements.
    constexpr void forget() noexcept { m_head.previous = m_head.next = &m_head; }

    bool empty() const noexcept { return m_head.next == &m_head; }

    void push_back(T& element) noexcept {
        list_link& link = element;
        link.previous = m_head.previous;
        link.next = &m_head;
        m_head.previous->next = &link;
        m_head.previous = &link;
    }

    /// Requires: the element is in this list.
    static void erase(T& element) noexcept {
        list_link& link = element;
        link.previous->next = link.next;
        link.next->previous = link.previous;
        link.previous = link.next = nullptr;
    }

    T* back() const noexcept { return empty() ? nullptr : static_cast<T*>(m_head.previous); }
    T* front() const noexcept { return empty() ? nullptr : static_cast<T*>(m_head.next); }

    /// The element after `element`, or null at the end.
    T* after(T& element) const noexcept {
        list_link* next = static_cast<list_link&>(element).next;
        return next == &m_head ? nullptr : static_cast<T*>(next);
    }

private:
    list_link m_head;
};

}  // namespace quern::detail
