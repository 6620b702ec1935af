// SPDX-License-Identifier: BSL-1.0
// The numbers of a pool that may be changed while it runs, by name: what policies write. Workers
// read them in slow paths only, so a change costs the fast paths nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace quern::detail {

struct knobs {
    /// Workers that may take work; those of higher rank park after their present task.
    std::atomic<std::uint32_t> active_workers{1};
    /// Microseconds that a worker searches before it parks: about what a wake-up costs (futex wake
    /// and wait: 50-70 us on a virtual machine, 5-50 on bare metal).
    std::atomic<std::uint32_t> spin_us{50};
};

/// The knob of that name, or null.
inline std::atomic<std::uint32_t>* find_knob(knobs& k, std::string_view name) noexcept {
    if (name == "active_workers") {
        return &k.active_workers;
    }
    return name == "spin_us" ? &k.spin_us : nullptr;
}

inline constexpr std::string_view k_knob_names[] = {"active_workers", "spin_us"};

}  // namespace quern::detail
