// SPDX-License-Identifier: BSL-1.0
// Time in which workers slept in the kernel in the middle of a task. Apart from the other counters
// of workers, for it asks the kernel.
#include "built_in.hpp"
#include "pools_of.hpp"

#include <quern/scheduler/blocked_time.hpp>

namespace quern::counters::detail {

namespace {

class blocked final : public source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return true; }

    std::vector<raw_reading> read(const place& where) override {
        raw_reading sum;
        for_each_worker(where, [&sum](quern::detail::pool& home, std::uint32_t rank) {
            const auto ns = quern::detail::read_blocked_ns(home.at(rank));
            if (ns) {
                sum.above += *ns;
            } else if (sum.state == source_state::ok) {
                sum.state = source_state::absent;
                sum.why = ns.reason();
            }
        });
        return {sum};
    }

private:
    const std::vector<counter_info> m_infos = {
        {"/threads/time/blocked", counter_kind::sum, "ns",
         "part of /threads/time/cumulative in which the worker's thread slept in the kernel: in a "
         "std::mutex, in input and output"}};
};

}  // namespace

std::unique_ptr<source> blocked_source() { return std::make_unique<blocked>(); }

}  // namespace quern::counters::detail
