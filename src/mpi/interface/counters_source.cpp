// SPDX-License-Identifier: BSL-1.0
// The counters /mpi. One of each for the process, whichever runtime is asked.
#include "interface/counters_source.hpp"

#include "calls/calls.hpp"
#include "interface/restart.hpp"
#include "notes/call_counts.hpp"

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/counters/registry.hpp>
#include <quern/counters/source.hpp>
#include <quern/trace/job.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace quern::mpi::detail {

namespace {

using counters::counter_info;
using counters::counter_kind;
using counters::raw_reading;

class mpi_source final : public counters::source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const counters::place&) override {
        const engine& all = engine::of_process();
        const auto of = [](std::uint64_t value) {
            return raw_reading{.above = static_cast<double>(value)};
        };
        const auto time = [](std::uint64_t ticks) {
            if constexpr (!quern::detail::k_counters) {
                return raw_reading{.state = counters::source_state::absent,
                                   .why = "Quern was built without counters"};
            }
            return raw_reading{.above = static_cast<double>(ticks) * quern::detail::ns_per_tick()};
        };
        return {of(g_traffic.sent),
                of(g_traffic.received),
                of(g_traffic.bytes),
                of(all.outstanding()),
                of(g_traffic.suspended),
                of(all.counts().polls),
                of(all.counts().polls_in_vain),
                of(blocking_calls()),
                of(restarts()),
                time(g_traffic.waiting_ticks),
                time(g_traffic.hidden_ticks)};
    }

private:
    const std::vector<counter_info> m_infos = {
        {"/mpi/count/sent", counter_kind::sum, "", "messages posted for sending"},
        {"/mpi/count/received", counter_kind::sum, "",
         "messages received; of calls that do not wait, receives posted"},
        {"/mpi/count/bytes", counter_kind::sum, "B", "bytes of the messages sent and received"},
        {"/mpi/count/outstanding", counter_kind::level, "",
         "operations that tasks and threads wait for"},
        {"/mpi/count/suspended", counter_kind::sum, "",
         "times that a task was suspended in a call of MPI"},
        {"/mpi/count/polls", counter_kind::sum, "",
         "times that a thread looked whether operations have ended"},
        {"/mpi/count/polls-in-vain", counter_kind::sum, "",
         "times that a thread looked and no operation had ended"},
        {"/mpi/count/blocking", counter_kind::sum, "",
         "calls by tasks that have no non-blocking form"},
        {"/mpi/count/restarts", counter_kind::sum, "",
         "times that a task was abandoned by wait_or_restart and queued again"},
        {"/mpi/time/waiting", counter_kind::sum, "ns",
         "time that tasks were suspended in calls of MPI, until the operation was seen to have "
         "ended"},
        {"/mpi/time/hidden", counter_kind::sum, "ns",
         "part of /mpi/time/waiting in which the worker that the task had left had other work"}};
};

/// For reports.
trace::communication communication_now() noexcept {
    const double ns = quern::detail::ns_per_tick();
    return {g_traffic.sent, g_traffic.received, g_traffic.bytes,
            ns * static_cast<double>(g_traffic.waiting_ticks),
            ns * static_cast<double>(g_traffic.hidden_ticks)};
}

}  // namespace

void install_counters() {
    counters::install(std::make_unique<mpi_source>()).keep();
    trace::read_communication_by(communication_now);
}

}  // namespace quern::mpi::detail
