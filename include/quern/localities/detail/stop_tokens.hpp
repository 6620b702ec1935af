// SPDX-License-Identifier: BSL-1.0
// How stop tokens travel: as arguments of a call they are noted beside its bytes, which have their
// numbers. What stops them while the call runs is in src/localities. Protocol:
// src/localities/README.md, section "Stop tokens".
#pragma once

#include <quern/base/detail/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace quern::localities::detail {

/// What is written of a token that cannot be stopped, and of one that has been; of any other one,
/// its number among those of the call and this more.
inline constexpr std::uint32_t k_never_stopped = 0;
inline constexpr std::uint32_t k_was_stopped = 1;
inline constexpr std::uint32_t k_first_token = 2;

/// The tokens among the arguments of a call, each once: the number of a token is its place.
class token_list {
public:
    /// What is written of it.
    std::uint32_t add(const std::stop_token& one) {
        if (!one.stop_possible()) {
            return k_never_stopped;
        }
        const auto known = std::find(m_tokens.begin(), m_tokens.end(), one);
        const auto number = static_cast<std::uint32_t>(known - m_tokens.begin());
        if (known == m_tokens.end()) {
            if (one.stop_requested()) {
                return k_was_stopped;
            }
            m_tokens.push_back(one);
        }
        return k_first_token + number;
    }
    bool is_empty() const noexcept { return m_tokens.empty(); }
    std::size_t size() const noexcept { return m_tokens.size(); }
    const std::stop_token& operator[](std::size_t number) const noexcept {
        return m_tokens[number];
    }

private:
    std::vector<std::stop_token> m_tokens;
};

/// Where a reader gets the tokens of a call.
class token_source {
public:
    /// Throws archive_error if there is none of that number.
    virtual std::stop_token token(std::uint32_t number) = 0;

protected:
    ~token_source() = default;
};

}  // namespace quern::localities::detail
