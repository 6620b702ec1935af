// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/task_group.h>

namespace bench::long_leaf {

namespace {

void in_group(family& all) {
    tbb::task_group tasks;
    for (long i = 0; i < all.size(); ++i) {
        tasks.run([&all, i] { all.sibling(i); });
    }
    all.leaf();
    tasks.wait();
}

const contender group{
    "long_leaf", "task_group", [](const arguments& a) {
        return tbb_job(a, [all = std::make_shared<family>(a)] { return all->run(in_group); });
    }};

}  // namespace

}  // namespace bench::long_leaf
