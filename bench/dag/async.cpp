// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/threads.hpp"

#include <future>
#include <memory>

namespace bench::dag {

namespace {

using results = std::vector<std::shared_future<value>>;

results with_threads(const graph& g) {
    results all;
    all.reserve(g.size());
    for (task_id t = 0; t < g.size(); ++t) {
        results in;
        for (const task_id input : g.inputs(t)) {
            in.push_back(all[input]);
        }
        all.push_back(std::async(std::launch::async, [&g, t, in = std::move(in)] {
                          return g.execute(t, [&](std::size_t i) { return in[i].get(); });
                      }).share());
    }
    for (const auto& each : all) {
        each.wait();
    }
    return all;
}

const contender async{"dag", "async", [](const arguments& a) {
                          return threads_job(a, [g = std::make_shared<const graph>(a.size)] {
                              return timed([&] { return with_threads(*g); },
                                           [&](const results& all) {
                                               g->check([&](task_id t) { return all[t].get(); });
                                           });
                          });
                      }};

}  // namespace

}  // namespace bench::dag
