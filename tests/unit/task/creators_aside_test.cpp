// SPDX-License-Identifier: BSL-1.0
// Creators of a bounded group that are aside for one another, in several levels.
#include <quern/task/async.hpp>
#include <quern/task/blocking_region.hpp>
#include <quern/task/task_group.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <thread>

namespace {

using quern::bounded;
using quern::task_group;
using quern_test::scaled;

class creators_aside : public quern_test::on_runtime {
protected:
    /// A task that keeps every worker but the caller's busy until `over` is set.
    void occupy_others(task_group& busy, std::atomic<bool>& over) {
        std::atomic<unsigned> begun{0};
        for (unsigned i = 1; i < workers(); ++i) {
            busy.run([&] {
                begun.fetch_add(1);
                while (!over.load()) {
                    std::this_thread::yield();
                }
            });
        }
        while (begun.load() != workers() - 1) {
            std::this_thread::yield();
        }
    }
};
QUERN_ON_1_2_8_WORKERS(creators_aside);

// Holds: task_group: Tasks of a bounded...
TEST_P(creators_aside, go_on_when_the_task_that_they_wait_for_changes_its_worker) {
    // The innermost task leaves for a spare thread. The task that made it resumes and ends on
    // another worker, since its own one is busy, while the outermost waits for that.
    inside([this] {
        for (int round = 0; round < scaled(200, 20); ++round) {
            std::atomic<bool> others_are_free{false}, own_is_busy{false}, middle_ended{false};
            task_group busy;
            quern::future<void> own;
            occupy_others(busy, others_are_free);
            task_group group{bounded(1)};
            group.run([] {});
            group.run([&] {
                group.run([&] {
                    if (workers() != 1) {
                        own = quern::async({.urgency = quern::priority::high}, [&] {
                            own_is_busy.store(true);
                            while (!middle_ended.load()) {
                                std::this_thread::yield();
                            }
                        });
                    }
                    const quern::blocking_region here;
                    while (workers() != 1 && !own_is_busy.load()) {
                        std::this_thread::yield();
                    }
                    others_are_free.store(true);
                });
                middle_ended.store(true);
            });
            group.wait();
            busy.wait();
            if (own.valid()) {
                own.get();
            }
        }
    });
}

}  // namespace
