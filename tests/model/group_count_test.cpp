// SPDX-License-Identifier: BSL-1.0
// The count of a task group (src/task/README.md): the owner resumes exactly once, after every task
// has ended, and sees their writes.
#include "protocol.hpp"

#include <quern/task/detail/group_count.hpp>

#include <optional>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

struct waiter {
    var<int> frame = 0;
};

struct group {
    group() { count.emplace(); }

    std::optional<quern::detail::group_count<model::protocol_atomics, waiter>> count;
    waiter owner;
    atomic<int> offered = 0;  // tasks that are ready for others
    atomic<int> resumptions = 0;
    var<int> effects[3] = {0, 0, 0};

    /// As an owner that ends its group at once.
    void resume(waiter& w, int tasks) {
        w.frame = w.frame + 1;
        resumptions.fetch_add(1, std::memory_order_relaxed);
        for (int i = 0; i < tasks; ++i) {
            check(effects[i] == 1, "the effects of every task are visible");
        }
        count.reset();
    }

    void finish_elsewhere(int task, int tasks) {
        effects[task] = 1;
        if (waiter* w = count->finished()) {
            resume(*w, tasks);
        }
    }

    void wait(int tasks) {
        owner.frame = 1;
        if (count->owner_done() || !count->wait(owner)) {
            resume(owner, tasks);
        }
    }
};

TEST(model_group_count, two_stolen_tasks) {
    model::expect_passes_everywhere("group, 2 tasks stolen by 2", {}, [](run& r) {
        auto& g = r.make<group>();
        r.thread([&g] {
            g.count->owner_spawned();
            g.count->owner_spawned();
            g.offered.store(2, std::memory_order_release);
            g.wait(2);
        });
        for (int t = 0; t < 2; ++t) {
            r.thread([&g, t] {
                while (g.offered.load(std::memory_order_acquire) == 0) {
                    model::atomics::pause();
                }
                g.finish_elsewhere(t, 2);
            });
        }
        r.at_end([&g] { check(g.resumptions.load() == 1, "the owner goes on once"); });
    });
}

TEST(model_group_count, a_stolen_task_spawns_another) {
    model::expect_passes_everywhere("group, a stolen task spawns one", {}, [](run& r) {
        auto& g = r.make<group>();
        r.thread([&g] {
            g.count->owner_spawned();
            g.count->owner_spawned();
            g.offered.store(1, std::memory_order_release);
            g.effects[0] = 1;
            g.count->owner_finished();
            g.wait(3);
        });
        r.thread([&g] {
            while (g.offered.load(std::memory_order_acquire) == 0) {
                model::atomics::pause();
            }
            g.count->spawned();
            g.offered.store(2, std::memory_order_release);
            g.finish_elsewhere(1, 3);
        });
        r.thread([&g] {
            while (g.offered.load(std::memory_order_acquire) != 2) {
                model::atomics::pause();
            }
            g.finish_elsewhere(2, 3);
        });
        r.at_end([&g] { check(g.resumptions.load() == 1, "the owner goes on once"); });
    });
}

TEST(model_group_count, counting_after_the_task_is_offered_is_found) {
    model::expect_found_broken("late count", {}, [](run& r) {
        auto& g = r.make<group>();
        r.thread([&g] {
            g.count->owner_spawned();
            g.offered.store(1, std::memory_order_release);
            g.wait(0);
        });
        r.thread([&g] {
            while (g.offered.load(std::memory_order_acquire) == 0) {
                model::atomics::pause();
            }
            g.finish_elsewhere(1, 0);
            g.offered.store(2, std::memory_order_release);
            g.count->spawned();  // too late: the count has been zero
        });
        r.thread([&g] {
            while (g.offered.load(std::memory_order_acquire) != 2) {
                model::atomics::pause();
            }
            g.finish_elsewhere(2, 0);
        });
        r.at_end([&g] {
            check(g.resumptions.load() == 1 && g.effects[2] == 1, "the owner goes on once");
            check(g.owner.frame == 2, "after all");
        });
    });
}

}  // namespace
