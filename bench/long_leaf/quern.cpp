// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

namespace bench::long_leaf {

namespace {

void in_scope(family& all) {
    quern::scope([&all](quern::fork_scope& tasks) {
        for (long i = 0; i < all.size(); ++i) {
            tasks.spawn([&all, i] { all.sibling(i); });
        }
        all.leaf();
    });
}

void in_group(family& all) {
    quern::task_group tasks;
    for (long i = 0; i < all.size(); ++i) {
        tasks.run([&all, i] { all.sibling(i); });
    }
    all.leaf();
    tasks.wait();
}

/// The long computation at the bottom of a recursion.
void nested(family& all, long i) {
    if (i == all.size()) {
        all.leaf();
        return;
    }
    quern::fork_join([&all, i] { all.sibling(i); }, [&all, i] { nested(all, i + 1); });
}

template <class RunAll>
job with(const arguments& a, RunAll run_all) {
    return quern_job(a, [all = std::make_shared<family>(a), run_all] { return all->run(run_all); });
}

const contender scope{"long_leaf", "scope", [](const arguments& a) { return with(a, in_scope); }};
const contender group{"long_leaf", "task_group",
                      [](const arguments& a) { return with(a, in_group); }};
const contender fork{"long_leaf", "fork_join", [](const arguments& a) {
                         return with(a, [](family& all) { nested(all, 0); });
                     }};

}  // namespace

}  // namespace bench::long_leaf
