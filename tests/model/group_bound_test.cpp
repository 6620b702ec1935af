// SPDX-License-Identifier: BSL-1.0
// The bound of a task group (src/task/README.md): an owner that waits for room resumes exactly
// once, and is not forgotten.
#include "protocol.hpp"

#include <quern/task/detail/group_bound.hpp>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

struct waiter {
    var<int> frame = 0;
    atomic<int> resumptions = 0;
};

struct group {
    explicit group(std::uint32_t most) : bound(most) {}

    quern::detail::group_bound<model::protocol_atomics, waiter> bound;
    waiter owner;

    void begin_task() {
        if (waiter* const w = bound.begins()) {
            check(w->frame == 1, "the waiter's frame is visible");
            w->resumptions.fetch_add(1, std::memory_order_relaxed);
        }
    }

    /// As the owner in wait_for_room(), which resumes itself if it need not wait.
    void wait() {
        owner.frame = 1;
        if (!bound.wait(owner)) {
            owner.resumptions.fetch_add(1, std::memory_order_relaxed);
        }
    }
};

TEST(model_group_bound, two_tasks_begin_while_the_owner_waits) {
    model::expect_passes_everywhere("bound of 2, 2 tasks begin", {}, [](run& r) {
        auto& g = r.make<group>(2U);
        g.bound.will_queue();
        g.bound.will_queue();
        r.thread([&g] { g.wait(); });
        for (int t = 0; t < 2; ++t) {
            r.thread([&g] { g.begin_task(); });
        }
        r.at_end([&g] { check(g.owner.resumptions.load() == 1, "the owner goes on once"); });
    });
}

TEST(model_group_bound, a_task_that_begins_makes_another) {
    model::expect_passes_everywhere("bound of 1, a task makes one", {}, [](run& r) {
        auto& g = r.make<group>(1U);
        g.bound.will_queue();
        r.thread([&g] { g.wait(); });
        r.thread([&g] {
            g.begin_task();
            g.bound.will_queue();
            g.begin_task();
        });
        r.at_end([&g] { check(g.owner.resumptions.load() == 1, "the owner goes on once"); });
    });
}

}  // namespace
