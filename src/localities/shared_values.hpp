// SPDX-License-Identifier: BSL-1.0
// Global values of layer adaptation between localities. One message to each at a time has all that
// is new since the one before, so what is told is bounded however often a value changes, and the
// values of a locality arrive in their order.
#pragma once

#include "job.hpp"

#include <quern/adaptation/detail/value_carrier.hpp>
#include <quern/base/detail/process.hpp>

#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace quern::localities::detail {

class shared_values final : public adaptation::detail::value_carrier,
                            public std::enable_shared_from_this<shared_values> {
public:
    explicit shared_values(job& of) noexcept : m_of(of), m_rank(of.here()) {}

    int rank() const noexcept override { return m_rank; }
    void tell(const std::string& name) override;

    /// All localities are able to run parcels: what was told before is sent.
    void begin();
    /// Before the job ends: from now on nothing is sent. What is being sent has begun, as a call.
    void end() noexcept;

private:
    void start(std::unique_lock<std::mutex>& lock);
    void send();
    /// Empty: nothing is new, and no task sends any more.
    std::set<std::string> take_changed();

    job& m_of;  ///< not used any more after end()
    const int m_rank;
    const unsigned m_generation = quern::detail::fork_generation();
    std::mutex m_lock;
    std::set<std::string> m_changed;
    bool m_is_open = false;     ///< between begin() and end()
    bool m_is_sending = false;  ///< a task does
};

}  // namespace quern::localities::detail
