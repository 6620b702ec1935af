// SPDX-License-Identifier: BSL-1.0
// Reports what the end of a runtime waits for when that takes long: to the user, tasks that run,
// sleep or block look like a hang. Used by runtime.cpp.
#pragma once

#include "diagnosis/waits/report_parts.hpp"

#include <chrono>
#include <cstdint>

namespace quern::detail {

/// Lies on the waiting caller's frame.
class end_watch {
public:
    explicit end_watch(const pool_list& ending) noexcept : m_pools(ending) {}
    end_watch(const end_watch&) = delete;
    end_watch& operator=(const end_watch&) = delete;

    static constexpr std::chrono::nanoseconds pause() noexcept {
        return std::chrono::milliseconds(500);
    }

    /// Writes to stderr, once, if nothing has begun for two seconds.
    void look() noexcept;

private:
    const pool_list& m_pools;
    std::chrono::steady_clock::time_point m_since = std::chrono::steady_clock::now();
    std::uint64_t m_begun = 0;  ///< items that had begun at the last check
    bool m_said = false;
};

}  // namespace quern::detail
