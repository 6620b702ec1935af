// SPDX-License-Identifier: BSL-1.0
// Kinds of child tasks: those of one place in the source, or of one instance there. A table of the
// process without locks, whose entries are never removed, and for each worker a cell for each kind.
// Called by inlining.cpp.
#pragma once

#include "inlining/inlining_rules.hpp"

#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/site_counts.hpp>
#include <quern/task/detail/inlining.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

namespace quern::adaptation::detail {

/// Further kinds are one, the last. 0 is none.
inline constexpr std::uint32_t k_most_kinds = 16'384;

/// What is known of a kind. The lock guards the rule; the mode is a copy of the rule's for any
/// thread.
struct kind_record {
    kind_record() = default;
    kind_record(const kind_record&) = delete;
    kind_record& operator=(const kind_record&) = delete;
    ~kind_record() = default;

    const void* site = nullptr;
    const char* name = nullptr;
    std::uint64_t instance = 0;
    std::uint16_t number = quern::detail::k_other_sites;  ///< of its site

    std::atomic<child_mode> mode{child_mode::spawned};
    /// One has suspended when it was inlined: spawned for ever.
    std::atomic<bool> has_suspended{false};

    quern::detail::spin_lock lock{};
    quern_rule quern{};
    baseline_rule baseline{};
    std::unique_ptr<adaptive_rule> adaptive;
    std::atomic<std::uint64_t> times{0};  ///< that the quern rule has been told, of an instance
    std::atomic<std::uint64_t> ticks{0};
    std::atomic<std::uint32_t> generation{0};  ///< of the rules whose state this is
};

/// The number of the kind, which is added if it is new; the last one when there is no room. Any
/// thread.
std::uint32_t kind_of(const void* site, const char* name, std::uint64_t instance) noexcept;

/// Requires: a number that kind_of() has returned.
kind_record& record_of(std::uint32_t kind) noexcept;

/// What one worker keeps of a kind; used only by it.
struct kind_cell {
    quern::detail::site_tally* tally = nullptr;  ///< null: not met yet
    std::uint32_t left = 1;                      ///< decisions until the next look at the times
    std::uint32_t interval = 1;
};

class kind_cells final : public quern::detail::beside_tallies {
public:
    /// Null without memory, or where the library does not count sites.
    static kind_cell* at(quern::detail::worker& here, std::uint32_t kind) noexcept;

private:
    static constexpr std::size_t k_in_block = 64;
    using block = std::array<kind_cell, k_in_block>;
    std::array<std::unique_ptr<block>, k_most_kinds / k_in_block> m_blocks{};
};

}  // namespace quern::adaptation::detail
