// SPDX-License-Identifier: BSL-1.0
// The request to stop of a task_group: a flag that its tasks look at, and a std::stop_source that
// is made when somebody asks for a token. A group that nobody cancels and whose token nobody wants
// allocates nothing and writes nothing.
#pragma once

#include <quern/base/spin_lock.hpp>
#include <quern/task/stop.hpp>

#include <memory>
#include <stop_token>

namespace quern::detail {

class group_stop final : public stop_signal {
public:
    explicit group_stop(std::stop_token outer) noexcept;
    ~group_stop();

    /// A token that tells of requests until the next renew(), and of the outer token's. Throws
    /// std::bad_alloc. Any thread.
    std::stop_token own_token();

    /// True: this was the first request. Calls the callbacks that were registered with the token.
    /// Any thread.
    bool request() noexcept;

    /// Takes a request back; that of the outer token stays. Tokens that were given out stay
    /// stopped.
    void renew() noexcept;

private:
    struct linked_source;

    std::stop_source source() noexcept;

    spin_lock m_lock;
    std::unique_ptr<linked_source> m_source;  ///< under the lock
};

}  // namespace quern::detail
