// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <quern/dependences/domain.hpp>

#include <memory>
#include <span>

namespace bench::lu {

namespace {

void factorise(problem& p, bool has_ranks) {
    using quern::in;
    using quern::inout;
    using quern::out;
    const auto ranked = [has_ranks](const char* name, int rank) {
        return quern::task_attributes{.name = name,
                                      .rank = static_cast<std::int16_t>(has_ranks ? rank : 0)};
    };
    const auto panel = [&p](long j) {
        const blas::matrix m = p.a.at(0, j);
        return std::span(m.at,
                         static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.columns));
    };
    const auto pivots = [&p](long k) {
        return std::span(p.pivots_of(k), static_cast<std::size_t>(p.a.at(0, k).columns));
    };
    quern::domain work;
    for (long k = 0; k < p.panels(); ++k) {
        work.spawn(ranked("fact", 2), inout(panel(k)), out(pivots(k)),
                   [&p, k] { p.factorise_panel(k); });
        for (long j = k + 1; j < p.panels(); ++j) {
            const bool is_next = j == k + 1;
            work.spawn(ranked(is_next ? "urgent_update" : "update", is_next ? 1 : 0), in(panel(k)),
                       in(pivots(k)), inout(panel(j)), [&p, k, j] { p.update(k, j); });
        }
    }
    for (long j = 0; j + 1 < p.panels(); ++j) {
        const auto later =
            std::span(p.pivots).subspan(static_cast<std::size_t>(p.a.first_column(j + 1)));
        work.spawn(ranked("swap", 0), in(later), inout(panel(j)), [&p, j] { p.swap_later(j); });
    }
    work.taskwait();
}

job with_domain(const arguments& a, long tile, bool has_ranks) {
    return quern_job(a, [p = std::make_shared<problem>(a.size, tile), has_ranks] {
        return dense::measured(*p, [&] { factorise(*p, has_ranks); });
    });
}

const dense::with_tiles domain{
    k_titles, "domain", [](const arguments& a, long tile) { return with_domain(a, tile, true); }};
const dense::with_tiles unranked{k_titles, "without_rank", [](const arguments& a, long tile) {
                                     return with_domain(a, tile, false);
                                 }};

}  // namespace

}  // namespace bench::lu
