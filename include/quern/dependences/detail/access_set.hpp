// SPDX-License-Identifier: BSL-1.0
// A set of accesses, each with a reference to its task. It belongs to the owner of a domain.
#pragma once

#include <quern/dependences/detail/dependent_task.hpp>

#include <cstddef>
#include <cstdint>

namespace quern::detail {

/// Two accesses need no memory.
class access_set {
public:
    access_set() noexcept = default;
    access_set(const access_set& other);
    access_set(access_set&& other) noexcept { swap(other); }
    access_set& operator=(const access_set&) = delete;
    ~access_set();

    void swap(access_set& other) noexcept;
    bool empty() const noexcept { return m_size == 0; }
    std::size_t size() const noexcept { return m_size; }
    access_record* const* begin() const noexcept { return data(); }
    access_record* const* end() const noexcept { return data() + m_size; }
    /// The same accesses in the same order.
    bool operator==(const access_set& other) const noexcept;

    /// Throws std::bad_alloc; then nothing has changed.
    /// `last_writer`: of those that are removed for it.
    void add(access_record& one, writer_rank& last_writer);
    void remove_released(writer_rank& last_writer) noexcept;
    void clear() noexcept;

private:
    static constexpr std::uint32_t k_inside = 2;

    access_record* const* data() const noexcept {
        return m_capacity == k_inside ? m_inside : m_outside;
    }
    access_record** data() noexcept { return m_capacity == k_inside ? m_inside : m_outside; }
    void grow();

    std::uint32_t m_size = 0;
    std::uint32_t m_capacity = k_inside;
    union {
        access_record* m_inside[k_inside] = {};
        access_record** m_outside;
    };
};

}  // namespace quern::detail
