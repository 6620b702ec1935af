// SPDX-License-Identifier: BSL-1.0
// The list of observers, and calls to them. Constructors of static objects register observers
// before or after this file's own are built, so the list needs no constructor.
#include "runtime/observer_list.hpp"

#include <quern/base/detail/assert.hpp>

#include <array>
#include <atomic>
#include <cstddef>

namespace quern {

namespace {

constinit std::array<std::atomic<runtime_observer*>, 16> g_observers{};

/// In the order of registration, up to the first free place.
template <class F>
void for_each_observer(F&& f) {
    for (const auto& each : g_observers) {
        runtime_observer* const one = each.load(std::memory_order_acquire);  // pairs with the CAS
        if (one == nullptr) {
            return;
        }
        f(*one);
    }
}

}  // namespace

void add_observer(runtime_observer& one) noexcept {
    for (auto& place : g_observers) {
        runtime_observer* none = nullptr;
        if (place.compare_exchange_strong(none, &one, std::memory_order_release,
                                          std::memory_order_relaxed)) {
            return;
        }
    }
    QUERN_ASSERT(false, "more observers than there is room for");
}

namespace detail {

bool has_observers() noexcept {
    return g_observers.front().load(std::memory_order_acquire) != nullptr;
}

void check_observers(const settings& chosen) {
    for_each_observer([&](runtime_observer& one) { one.check(chosen); });
}

void tell_started(runtime& which, const settings& chosen) noexcept {
    for_each_observer([&](runtime_observer& one) { one.started(which, chosen); });
}

/// In reverse order of the start.
void tell_ends(runtime& which) noexcept {
    for_each_observer([&](runtime_observer& one) { one.stops(which); });
    for (std::size_t i = g_observers.size(); i-- > 0;) {
        if (runtime_observer* const one = g_observers[i].load(std::memory_order_acquire)) {
            one->ends(which);
        }
    }
}

}  // namespace detail

}  // namespace quern
