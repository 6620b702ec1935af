// SPDX-License-Identifier: BSL-1.0
// How much memory tasks have (base/blocks.hpp). It is the process's, whichever runtime is asked.
#include "built_in.hpp"

#include <quern/base/blocks.hpp>

namespace quern::counters::detail {

namespace {

using quern::detail::block_totals;

class blocks final : public source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const place&) override {
        std::vector<raw_reading> readings(m_infos.size());
        const block_totals now = quern::detail::read_block_totals();
        readings[0].above = static_cast<double>(now.held);
        readings[1].above = static_cast<double>(now.carved - now.waiting);
        for (raw_reading& each : readings) {
            if (quern::detail::k_asan || quern::detail::k_tsan) {
                each.state = source_state::absent;
                each.why = "under a sanitizer each task is allocated by itself";
            }
        }
        return readings;
    }

private:
    const std::vector<counter_info> m_infos = {
        {"/runtime/memory/tasks", counter_kind::level, "B",
         "memory that Quern has taken for tasks, states of futures and frames"},
        {"/runtime/memory/tasks-in-use", counter_kind::level, "B",
         "part of the memory of tasks that is in use or kept by a worker for its next tasks"}};
};

}  // namespace

std::unique_ptr<source> blocks_source() { return std::make_unique<blocks>(); }

}  // namespace quern::counters::detail
