// SPDX-License-Identifier: BSL-1.0
// The stop request of a task_group: a flag that its tasks check, and a std::stop_source that is
// created when a token is requested. A group without cancellation and without a requested token
// allocates and writes nothing.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/task/stop.hpp>

#include <memory>
#include <stop_token>

namespace quern::detail {

class group_stop final : public stop_signal {
public:
    explicit group_stop(std::stop_token outer) noexcept;
    ~group_stop();

    /// A token that reports requests until the next renew(), and those of the outer token. Throws
    /// std::bad_alloc. Any thread.
    std::stop_token own_token();

    /// True: this was the first request. Calls the callbacks registered with the token. Any thread.
    bool request() noexcept;

    /// Withdraws a request; that of the outer token stays. Tokens handed out earlier stay stopped.
    void renew() noexcept;

private:
    struct linked_source;

    std::stop_source source() noexcept;

    spin_lock m_lock;
    std::unique_ptr<linked_source> m_source;  ///< under the lock
};

}  // namespace quern::detail
