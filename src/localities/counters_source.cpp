// SPDX-License-Identifier: BSL-1.0
// The counters /parcels and /agas of this locality, over all its sessions.
#include "counters_source.hpp"

#include "job.hpp"

#include <quern/counters/registry.hpp>
#include <quern/counters/source.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace quern::localities::detail {

namespace {

using counters::counter_info;
using counters::counter_kind;
using counters::raw_reading;

class localities_source final : public counters::source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const counters::place&) override {
        const job_totals now = detail::totals_of_job();
        const auto of = [](std::uint64_t value) {
            return raw_reading{.above = static_cast<double>(value)};
        };
        return {of(now.parcels_sent),
                of(now.parcels_run),
                of(now.coalesced),
                of(now.chunks),
                of(now.messages_sent),
                of(now.messages_received),
                of(now.calls_waiting),
                of(now.bytes_sent),
                of(now.bytes_received),
                of(now.objects.made),
                of(now.objects.sent),
                of(now.objects.sent - std::min(now.objects.missed, now.objects.sent)),
                of(now.objects.missed),
                of(now.objects.sent_on),
                of(now.objects.moved)};
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
        {"/agas/count/bind", counter_kind::sum, "", "global objects made here"},
        {"/agas/count/resolve", counter_kind::sum, "",
         "calls and moves of global objects sent from here to other localities"},
        {"/agas/count/cache-hits", counter_kind::sum, "",
         "of these, those for which this locality was not told that the object had moved"},
        {"/agas/count/cache-misses", counter_kind::sum, "",
         "how often this locality was told that an object had moved"},
        {"/agas/count/forwards", counter_kind::sum, "",
         "messages of callers sent on from here, because the object had moved"},
        {"/agas/count/migrations", counter_kind::sum, "", "global objects that have moved away"},
    };
};

}  // namespace

bool install_counters() {
    counters::install(std::make_unique<localities_source>()).keep();
    return true;
}

}  // namespace quern::localities::detail
