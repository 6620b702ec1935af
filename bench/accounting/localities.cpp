// SPDX-License-Identifier: BSL-1.0
// Calls at the own locality and of objects that are here, on rank 0; the other rank has nothing to
// do meanwhile.
#include "problem.hpp"

#include "../harness/mpi.hpp"
#include "../harness/quern.hpp"
#include "../harness/session.hpp"

#include <quern/localities/object.hpp>

namespace bench::accounting {

namespace {

namespace at = quern::localities;

batch g_all;  // calls have no captures
void body(long i) { g_all.body(i); }

/// What is called; any call of it runs alone.
struct place {
    void body(long i) { g_all.body(i); }
};

template <class Call>
void one_by_one(batch& all, Call call) {
    for (long i = 0; i < all.tasks(); ++i) {
        call(i).get();
    }
}
template <class Call>
void all_at_once(batch& all, Call call) {
    std::array<quern::future<void>, batch::k_tasks> futures;
    for (long i = 0; i < all.tasks(); ++i) {
        futures[static_cast<std::size_t>(i)] = call(i);
    }
    for (auto& f : futures) {
        f.get();
    }
}

template <class Run>
contender here_with(const char* variant, Run run) {
    return {"accounting", variant, [run](const arguments& a) {
                steps_for(0);  // while nothing else runs
                return ranks::together(ranks::in_session(a, [a, run] {
                    if (ranks::rank() != 0) {
                        return measurement{};
                    }
                    const auto one = at::make_at<place>(at::here());
                    return measure(
                        g_all, a, [&](batch& all) { run(all, one); },
                        [] {
                            const quern::worker_totals so_far =
                                quern::runtime::default_instance().totals();
                            return parts{so_far.running_ns, so_far.managing_ns, so_far.idle_ns};
                        });
                }));
            }};
}

using object_here = at::object<place>;

const contender run_at_here = here_with("run_at", [](batch& all, const object_here&) {
    one_by_one(all, [](long i) { return at::run_at(at::here(), &body, i); });
});
const contender run_at_futures = here_with("run_at_futures", [](batch& all, const object_here&) {
    all_at_once(all, [](long i) { return at::run_at(at::here(), &body, i); });
});
const contender object_calls = here_with("object", [](batch& all, const object_here& one) {
    one_by_one(all, [&](long i) { return one.call(&place::body, i); });
});
const contender object_futures =
    here_with("object_futures", [](batch& all, const object_here& one) {
        all_at_once(all, [&](long i) { return one.call(&place::body, i); });
    });

}  // namespace

}  // namespace bench::accounting
