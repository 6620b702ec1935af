// SPDX-License-Identifier: BSL-1.0
// The function that plans where tasks run that pass messages.
#include <quern/scheduler/detail/communication.hpp>

#include <atomic>

namespace quern::detail {

namespace {

constinit std::atomic<communication_plan (*)(const settings&)> g_how{nullptr};

}  // namespace

void plan_communication_by(communication_plan (*how)(const settings&)) noexcept {
    g_how.store(how, std::memory_order_release);  // pairs with plan_communication
}

communication_plan plan_communication(const settings& chosen) {
    auto* const how = g_how.load(std::memory_order_acquire);
    return how != nullptr ? how(chosen) : communication_plan{};
}

}  // namespace quern::detail
