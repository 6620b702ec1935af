// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <quern/dependences/domain.hpp>

#include <cstddef>
#include <utility>

namespace bench::dependent_accesses {

namespace {

/// Adds all tasks; `accessed(number)` says how a task names a number.
template <std::size_t... I, class Accessed>
void run(table& t, std::index_sequence<I...>, [[maybe_unused]] Accessed accessed) {
    quern::domain work;
    for (long i = 0; i < k_tasks; ++i) {
        [[maybe_unused]] value* const first = t.data() + first_of(i, sizeof...(I));
        work.spawn(accessed(first[I])..., [first] { (change(first[I]), ...); });
    }
    work.taskwait();
}

template <class Accessed>
contender registered(const char* variant, Accessed accessed) {
    return {"dependent_accesses", variant, [accessed](const arguments& a) {
                return quern_job(a, [n = a.size, accessed] {
                    return measured(n, [accessed](table& t, auto accesses) {
                        run(t, std::make_index_sequence<accesses>(), accessed);
                    });
                });
            }};
}

const auto domain = registered("domain", [](value& v) { return quern::inout(v); });
/// Only by the address, without overlaps.
const auto sentinels =
    registered("domain_sentinel", [](value& v) { return quern::inout(quern::sentinel(v)); });

}  // namespace

}  // namespace bench::dependent_accesses
