// SPDX-License-Identifier: BSL-1.0
// What the domains of dependent tasks count. One of each for the process: a domain belongs to its
// owner, which may be a thread outside.
#include "core/pools_of.hpp"
#include "sources/built_in.hpp"
#include "system/reading.hpp"

#include <quern/dependences/detail/domain_list.hpp>
#include <quern/dependences/detail/last_writer.hpp>

namespace quern::counters::detail {

namespace {

class dependences final : public source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const place&) override {
        if constexpr (!quern::detail::k_counters) {
            return all_alike(no_reading(source_state::absent, k_left_out), m_infos.size());
        }
        const quern::detail::dependence_totals now = quern::detail::read_dependence_totals();
        const quern::detail::locality_totals placed = quern::detail::read_locality();
        const auto of = [](std::uint64_t value) { return reading_of(static_cast<double>(value)); };
        return {of(now.accesses),  of(now.edges),        of(now.live),          of(now.early),
                of(now.throttled), of(placed.at_writer), of(placed.with_writer)};
    }

private:
    const std::vector<counter_info> m_infos = {
        {"/dependences/accesses", counter_kind::sum, "",
         "accesses of dependent tasks that were registered"},
        {"/dependences/edges", counter_kind::sum, "",
         "links from an access to a successor that had to wait for it"},
        {"/dependences/live", counter_kind::level, "",
         "dependent tasks that are registered and not complete"},
        {"/dependences/released-early", counter_kind::sum, "",
         "accesses of tasks that outlived their function, released when no child used them any "
         "more"},
        {"/dependences/throttled", counter_kind::sum, "",
         "times that a creator waited at the limit of live tasks"},
        {"/dependences/at-last-writer", counter_kind::sum, "",
         "dependent tasks of many bytes that began on the worker that last wrote most of these"},
        {"/dependences/with-last-writer", counter_kind::sum, "",
         "dependent tasks of many bytes of which a worker had last written enough"}};
};

}  // namespace

std::unique_ptr<source> dependences_source() { return std::make_unique<dependences>(); }

}  // namespace quern::counters::detail
