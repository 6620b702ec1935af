// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of locality: an invented machine of 4 NUMA nodes with 2 workers each, blocks
// of memory, and what has been counted.
#pragma once

#include "../topology/invented_machine.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/dependences/detail/last_writer.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/scheduler/detail/placement.hpp>
#include <quern/settings/settings.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quern_test {

inline constexpr int k_workers = 8;
inline constexpr std::size_t k_block = std::size_t{256} << 10;

inline quern::detail::pool_description four_nodes() {
    quern::settings chosen;
    chosen.set("bind", {"compact", quern::setting_source::program, "here"});
    quern::detail::pool_description description;
    quern::detail::place_workers(description, fake::invent({4, 1, 1, 2, 1}), {}, chosen);
    description.processing_units.clear();  // this computer has others
    return description;
}

using block_of_bytes = std::vector<char>;

inline std::vector<block_of_bytes> blocks_of(std::size_t count, std::size_t bytes = k_block) {
    return std::vector<block_of_bytes>(count, block_of_bytes(bytes));
}

/// Adds 1 to a byte of each cache line.
inline void add_one(std::span<char> to) {
    for (std::size_t i = 0; i < to.size(); i += quern::detail::k_cache_line) {
        to[i] = static_cast<char>(to[i] + 1);
    }
}

/// What has been counted since it was made.
class counted {
public:
    std::uint64_t with_writer() const { return now().with_writer - m_before.with_writer; }
    std::uint64_t at_writer() const { return now().at_writer - m_before.at_writer; }

private:
    static quern::detail::locality_totals now() { return quern::detail::read_locality(); }

    quern::detail::locality_totals m_before = now();
};

inline std::int32_t own_hint() { return quern::detail::dependent_task::current()->runnable::home; }

}  // namespace quern_test
