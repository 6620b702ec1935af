// SPDX-License-Identifier: BSL-1.0
// How far the creator of a domain's tasks runs ahead of them, and when it looks next at their
// number. Only the owner of the domain.
#pragma once

#include <quern/base/detail/clock.hpp>

#include <algorithm>
#include <cstdint>

namespace quern::detail {

class task_window {
public:
    explicit task_window(std::int64_t least) noexcept : m_least(least) {}

    /// A task is started. True: the number must be looked at before.
    bool is_look_due() noexcept { return --m_room == 0; }
    /// The next look comes after so many tasks.
    void look_after(std::int64_t tasks) noexcept { m_room = tasks; }

    struct look {
        tick_count at = 0;
        std::int64_t ended = 0;  ///< tasks, by then
    };
    const look& last_look() const noexcept { return m_last_look; }
    void note_look(look now) noexcept { m_last_look = now; }

    /// When so many tasks have not ended, others run.
    std::int64_t size() const noexcept { return m_size; }
    void shrink() noexcept { m_size = std::max(m_size / 4 * 3, m_least); }
    void grow(std::int64_t limit) noexcept {
        m_size = std::min(2 * m_size, std::max(limit, m_least));
    }

private:
    std::int64_t m_room = 1;  ///< tasks until the next look at their number
    look m_last_look;
    const std::int64_t m_least;
    std::int64_t m_size = m_least;
};

}  // namespace quern::detail
