// SPDX-License-Identifier: BSL-1.0
// A probe that a task owns: at its end it looks whether the result of the task is known already.
// For the tests that what a task owns is destroyed before.
#pragma once

#include <quern/task/promise.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <utility>

namespace quern_test {

/// What the probes of one task have seen.
struct looks {
    quern::promise<void> state_is_set;
    quern::shared_future<void> may_look = state_is_set.get_future().share();
    const quern::detail::state_base* state = nullptr;
    std::atomic<int> before_result{0};
    std::atomic<int> after_result{0};
};

/// Is owned by a task; at its end looks whether the result of the task is known.
class probe {
public:
    explicit probe(std::shared_ptr<looks> into) : m_into(std::move(into)) {}
    probe(probe&&) noexcept = default;
    probe& operator=(probe&&) noexcept = default;
    ~probe() {
        if (m_into != nullptr) {
            ++(m_into->state->ready() ? m_into->after_result : m_into->before_result);
        }
    }
    /// Until the test knows the state of the future.
    void wait() const { m_into->may_look.wait(); }

private:
    std::shared_ptr<looks> m_into;
};

/// `start(probe)` makes a task that owns the probe and calls its wait().
template <class Start>
void expect_destroyed_before_result(const char* what, Start start) {
    for (int round = 0; round < 20; ++round) {
        const auto into = std::make_shared<looks>();
        auto f = start(probe(into));
        into->state = &f.state();
        into->state_is_set.set_value();
        try {
            f.get();
        } catch (const std::runtime_error&) {
        }
        ASSERT_EQ(into->before_result, 1) << what << ", round " << round;
        ASSERT_EQ(into->after_result, 0) << what;
    }
}

}  // namespace quern_test
