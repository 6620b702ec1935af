// SPDX-License-Identifier: BSL-1.0
// What `quern top` shows: a program, or the ranks of a job.
#pragma once

#include "top/frame.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace quern::tool {

/// look() and renew() query programs, and throw cannot_ask when there is none any more.
class top_subject {
public:
    top_subject() = default;
    top_subject(const top_subject&) = delete;
    top_subject& operator=(const top_subject&) = delete;
    virtual ~top_subject() = default;

    /// Samples which tasks run now.
    virtual void look() = 0;
    /// Takes what happened since the last time as what is shown.
    virtual void renew() = 0;
    /// Text, about `width` columns wide. Empty before the first renew().
    virtual std::vector<std::string> lines(top_order order, std::size_t width) const = 0;
    virtual std::string as_json() const = 0;

    /// The time to the next sample. It varies, so that a program with a regular rhythm is not
    /// always sampled in the same phase.
    static std::chrono::milliseconds pause();
    void look_for(std::chrono::milliseconds interval);
};

}  // namespace quern::tool
