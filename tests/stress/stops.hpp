// SPDX-License-Identifier: BSL-1.0
// Stop requests at random for participants of stress tests that wait with a stop token.
#pragma once

#include <mutex>
#include <stop_token>
#include <utility>

namespace quern_test {

/// A stop source that is replaced at each request. Any thread.
class stops {
public:
    std::stop_token token() {
        const std::scoped_lock lock(m_lock);
        return m_source.get_token();
    }

    /// Stops all that wait with the present token.
    void request() {
        std::stop_source next;
        {
            const std::scoped_lock lock(m_lock);
            std::swap(next, m_source);
        }
        next.request_stop();
    }

private:
    std::mutex m_lock;
    std::stop_source m_source;
};

}  // namespace quern_test
