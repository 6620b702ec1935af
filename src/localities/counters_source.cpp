// SPDX-License-Identifier: BSL-1.0
// The counters /parcels of this locality, over all its sessions.
#include "counters_source.hpp"

#include "job.hpp"

#include <quern/counters/registry.hpp>
#include <quern/counters/source.hpp>

#include <memory>
#include <vector>

namespace quern::localities::detail {

namespace {

using counters::counter_info;
using counters::counter_kind;
using counters::raw_reading;

class parcels_source final : public counters::source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const counters::place&) override {
        const job_totals now = detail::totals_of_job();
        const auto of = [](std::uint64_t value) {
            return raw_reading{.above = static_cast<double>(value)};
        };
        return {of(now.parcels_sent),  of(now.parcels_run),   of(now.coalesced),
                of(now.chunks),        of(now.messages_sent), of(now.messages_received),
                of(now.calls_waiting), of(now.bytes_sent),    of(now.bytes_received)};
    }

private:
    const std::vector<counter_info> m_infos = {
        {"/parcels/count/sent", counter_kind::sum, "",
         "parcels posted to other localities: calls and answers"},
        {"/parcels/count/received", counter_kind::sum, "",
         "parcels of other localities that have run here"},
        {"/parcels/count/coalesced", counter_kind::sum, "",
         "parcels sent that travelled in the message of another one"},
        {"/parcels/count/rendezvous", counter_kind::sum, "",
         "chunks sent: large contents that travelled from object to object"},
        {"/parcels/count/messages-sent", counter_kind::sum, "", "messages of parcels sent"},
        {"/parcels/count/messages-received", counter_kind::sum, "", "messages of parcels received"},
        {"/parcels/count/waiting", counter_kind::level, "",
         "calls to other localities whose answers have not come"},
        {"/parcels/data/sent", counter_kind::sum, "B", "bytes of parcels and chunks posted"},
        {"/parcels/data/received", counter_kind::sum, "B", "bytes of messages and chunks received"},
    };
};

}  // namespace

bool install_counters() {
    counters::install(std::make_unique<parcels_source>()).keep();
    return true;
}

}  // namespace quern::localities::detail
