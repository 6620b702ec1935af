// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

namespace bench::accounting {

namespace {

void with_async(batch& all) {
    for (long i = 0; i < all.tasks(); ++i) {
        quern::async([&all, i] { all.body(i); }).get();
    }
}

void with_futures(batch& all) {
    std::array<quern::future<void>, batch::k_tasks> futures;
    for (long i = 0; i < all.tasks(); ++i) {
        futures[i] = quern::async([&all, i] { all.body(i); });
    }
    for (auto& f : futures) {
        f.get();
    }
}

void with_dataflow(batch& all) {
    quern::shared_future<void> last = quern::make_ready_future();
    for (long i = 0; i < all.tasks(); ++i) {
        last = quern::dataflow([&all, i](const auto&) { all.body(i); }, last).share();
    }
    last.wait();
}

void with_group(batch& all) {
    quern::task_group group;
    for (long i = 0; i < all.tasks(); ++i) {
        group.run([&all, i] { all.body(i); });
    }
    group.wait();
}

void with_scope(batch& all) {
    quern::scope([&all](quern::fork_scope& tasks) {
        for (long i = 0; i < all.tasks(); ++i) {
            tasks.spawn([&all, i] { all.body(i); });
        }
    });
}

void fork(quern::fork_context c, batch& all, long first, long last) {
    if (last - first == 1) {
        all.body(first);
        return;
    }
    const long middle = first + (last - first) / 2;
    quern::fork_join(
        c, [&all, first, middle](auto below) { fork(below, all, first, middle); },
        [&all, middle, last](auto below) { fork(below, all, middle, last); });
}

void with_fork(batch& all) {
    quern::fork_join([](quern::fork_context) {},
                     [&all](quern::fork_context c) { fork(c, all, 0, all.tasks()); });
}

void with_loop(batch& all) {
    quern::parallel_for(0L, all.tasks(), [&all](long i) { all.body(i); });
}

void with_chunks_of_one(batch& all) {
    quern::parallel_for(0L, all.tasks(), quern::grain::fixed(1), [&all](long i) { all.body(i); });
}

parts totals_of(const quern::runtime& rt) {
    const quern::worker_totals now = rt.totals();
    return {now.running_ns, now.managing_ns, now.idle_ns};
}

template <class Run>
contender with(const char* variant, Run run) {
    return {
        "accounting", variant, [run](const arguments& a) -> job {
            auto rt = quern_runtime(a);
            steps_for(0);  // while nothing else runs
            return [a, run, rt, all = std::make_shared<batch>()] {
                return quern::async(
                           *rt,
                           [&] { return measure(*all, a, run, [&] { return totals_of(*rt); }); })
                    .get();
            };
        }};
}

const contender async = with("async", with_async);
const contender futures = with("futures", with_futures);
const contender dataflow = with("dataflow", with_dataflow);
const contender group = with("task_group", with_group);
const contender scope = with("scope", with_scope);
const contender fork_join = with("fork_join", with_fork);
const contender loop = with("loop", with_loop);
const contender chunks = with("loop_grain_1", with_chunks_of_one);

}  // namespace

}  // namespace bench::accounting
