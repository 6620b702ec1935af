// SPDX-License-Identifier: BSL-1.0
// All sites that a sampled or suspended task has come from: a table of the process without locks,
// whose entries are never removed. Called by site_counts, which keeps numbers, and by sites.cpp,
// which prints names. Names are copied at first sight, for they live no longer than their tasks.
#pragma once

#include <quern/scheduler/detail/site_counts.hpp>

#include <atomic>
#include <cstdint>

namespace quern::detail {

struct known_site {
    const char* name = nullptr;     ///< the user's, or null; its beginning, where it is very long
    const void* address = nullptr;  ///< where its tasks are made, or `entry` where that is unknown
    work::run_function entry = nullptr;  ///< what ran the first task that was met

    bool is_entry() const noexcept { return address == reinterpret_cast<const void*>(entry); }
    bool is_of(const void* at, const char* named) const noexcept;
};

/// By which a task's site is found: where it was made, or what runs it.
inline const void* address_of_site(const task_description& task) noexcept {
    const void* const site = task.site;
    return site != nullptr
               ? site
               : reinterpret_cast<const void*>(static_cast<work::run_function>(task.entry));
}

/// Null: no site has that number, or not yet. Any thread.
const known_site* site_of_number(std::uint16_t number) noexcept;

/// Above all numbers that were given.
std::uint16_t end_of_sites() noexcept;

}  // namespace quern::detail
