// SPDX-License-Identifier: BSL-1.0
// Replay (src/dependences/README.md, "Replay"): a task ends a step and is armed again, while the
// owner waits for its slot, lets its predecessors of a later step begin, and spawns it once more.
// It begins that step exactly once, after all of them.
#include "protocol.hpp"

#include <quern/dependences/detail/access_word.hpp>
#include <quern/task/detail/group_count.hpp>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

struct replay_waiter {
    atomic<int> resumed = 0;
};

enum class replay_fault { none, owner_does_not_wait, armed_after_the_end };

struct replayed_once_more {
    using slot_count = quern::detail::group_count<model::protocol_atomics, replay_waiter>;

    replayed_once_more(int n, replay_fault f) : predecessors(n), fault(f) {
        slot.owner_spawned();  // the first step: it runs
    }

    /// The worker that runs the first step.
    void end_first_step() {
        first_step = 1;
        if (fault == replay_fault::armed_after_the_end) {
            end_of_slot();
            arm();
        } else {
            arm();
            end_of_slot();
        }
    }
    void arm() { missing.rearm(static_cast<std::uint32_t>(predecessors) + 1); }
    void end_of_slot() {
        if (replay_waiter* const waiter = slot.finished()) {
            waiter->resumed.store(1, std::memory_order_release);
        }
    }

    void owner() {
        if (fault != replay_fault::owner_does_not_wait) {
            wait();
        }
        may_begin.store(1, std::memory_order_release);
        function = 2;
        slot.owner_spawned();
        subtract();
        wait();
        check(runs == 1, "the owner sees the second step");
    }
    void wait() {
        replay_waiter self;
        if (slot.wait(self)) {
            while (self.resumed.load(std::memory_order_acquire) == 0) {
                model::atomics::pause();
            }
        }
        slot.reset();
    }

    /// A worker with a predecessor of the second step.
    void end_predecessor(int which) {
        while (may_begin.load(std::memory_order_acquire) == 0) {
            model::atomics::pause();
        }
        before[which] = 1;
        subtract();
    }

    void subtract() {
        if (missing.satisfied()) {
            check(function == 2, "it has the function of its step");
            check(first_step == 1, "its first step has ended");
            for (int p = 0; p < predecessors; ++p) {
                check(before[p] == 1, "the predecessors have ended");
            }
            runs = runs + 1;
            end_of_slot();
        }
    }

    const int predecessors;
    const replay_fault fault;
    quern::detail::predecessor_count<model::protocol_atomics> missing;
    slot_count slot;
    atomic<int> may_begin = 0;
    var<int> function = 1;
    var<int> first_step = 0;
    var<int> before[2] = {0, 0};
    var<int> runs = 0;
};

auto once_more(int predecessors, replay_fault fault = replay_fault::none) {
    return [=](run& r) {
        auto& task = r.make<replayed_once_more>(predecessors, fault);
        r.thread([&task] { task.owner(); });
        r.thread([&task] { task.end_first_step(); });
        for (int p = 0; p < predecessors; ++p) {
            r.thread([&task, p] { task.end_predecessor(p); });
        }
        r.at_end([&task] { check(task.runs == 1, "it has run once more"); });
    };
}

TEST(model_dependences_replay, a_task_without_predecessors) {
    model::expect_passes_everywhere("replay, no predecessor", {}, once_more(0));
}

TEST(model_dependences_replay, a_task_with_a_predecessor) {
    model::expect_passes_everywhere("replay, 1 predecessor", {}, once_more(1));
}

// Predecessors of a later step may begin only when the slot of that step is free.
TEST(model_dependences_replay, not_waiting_for_the_slot_is_found) {
    model::expect_found_broken("replay, the slot may be in use", {},
                               once_more(1, replay_fault::owner_does_not_wait));
}

TEST(model_dependences_replay, arming_after_the_end_is_found) {
    model::expect_found_broken("replay, armed after its end", {},
                               once_more(1, replay_fault::armed_after_the_end));
}

}  // namespace
