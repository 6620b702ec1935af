// SPDX-License-Identifier: BSL-1.0
#include "counted.hpp"

#include "../harness/quern.hpp"
#include "../harness/quern_dataflow.hpp"

#include <memory>

namespace bench::dag {

namespace {

using results = std::vector<quern::shared_future<value>>;

void wait_for(const results& all) {
    for (const auto& each : all) {
        each.wait();
    }
}

/// The inputs are arguments.
results with_dataflow(const graph& g) {
    results all;
    all.reserve(g.size());
    for (task_id t = 0; t < g.size(); ++t) {
        const std::span<const task_id> in = g.inputs(t);
        all.push_back(dataflow_of<graph::k_most_inputs>(
            in.size(),
            [&g, t](const auto&... values) {
                const value given[] = {values..., 0};
                return g.execute(t, [&](std::size_t i) { return given[i]; });
            },
            [&](std::size_t i) -> const auto& { return all[in[i]]; }));
    }
    wait_for(all);
    return all;
}

/// The inputs are a sequence.
results with_when_all(const graph& g) {
    results all;
    all.reserve(g.size());
    for (task_id t = 0; t < g.size(); ++t) {
        results in;
        in.reserve(g.inputs(t).size());
        for (const task_id input : g.inputs(t)) {
            in.push_back(all[input]);
        }
        all.push_back(quern::when_all(std::move(in)).then([&g, t](quern::future<results> ready) {
            const results given = ready.get();
            return g.execute(t, [&](std::size_t i) { return given[i].get(); });
        }));
    }
    wait_for(all);
    return all;
}

std::vector<value> with_group(const graph& g) {
    counted_run run(g);
    quern::task_group group;
    struct starter {
        counted_run& run;
        quern::task_group& group;
        void operator()(task_id t) const {
            group.run([self = *this, t] { self.run.run(t, self); });
        }
    };
    run.start_first(starter{run, group});
    group.wait();
    return run.take_table();
}

template <class F>
job checked_futures(const arguments& a, F f) {
    return quern_job(a, [g = std::make_shared<const graph>(a.size), f] {
        return timed(
            [&] { return f(*g); },
            [&](const results& all) { g->check([&](task_id t) { return all[t].get(); }); });
    });
}

const contender dataflow{"dag", "dataflow",
                         [](const arguments& a) { return checked_futures(a, with_dataflow); }};
const contender when_all{"dag", "when_all",
                         [](const arguments& a) { return checked_futures(a, with_when_all); }};
const contender counted{"dag", "counted", [](const arguments& a) {
                            return quern_job(a, [g = std::make_shared<const graph>(a.size)] {
                                return timed([&] { return with_group(*g); },
                                             [&](const auto& table) { g->check_table(table); });
                            });
                        }};

}  // namespace

}  // namespace bench::dag
