// SPDX-License-Identifier: BSL-1.0
// Holds on a task (src/scheduler/README.md, "Holds"): exactly one side completes it, after its
// function has returned and all holds have been dropped, and sees their writes.
#include "protocol.hpp"

#include <quern/scheduler/detail/hold_count.hpp>

#include <optional>

namespace {

using model::atomic;
using model::run;
using model::var;

using hold_count = quern::detail::hold_count<model::protocol_atomics>;

struct held_task {
    std::optional<hold_count> holds;
    var<int> result = 0;            // written by the function
    var<int> received[2] = {0, 0};  // written by the threads that hold it
    var<int> completed = 0;
    int holders;

    explicit held_task(int n) : holders(n) {
        holds.emplace();
        for (int i = 0; i < n; ++i) {
            holds->add();
        }
    }
    void complete() {
        model::check(result == 1, "the function has returned");
        for (int i = 0; i < holders; ++i) {
            model::check(received[i] == 1, "each hold has been dropped");
        }
        completed = completed + 1;
        holds.reset();  // the task may be destroyed
    }
    void end() {
        result = 1;
        if (holds->has_ended([](void* self) noexcept { static_cast<held_task*>(self)->complete(); },
                             this)) {
            complete();
        }
    }
    void drop(int which) {
        received[which] = 1;
        holds->drop();
    }
};

void is_completed_once(int holders) {
    model::expect_passes_everywhere("holds", {}, [holders](run& r) {
        auto& t = r.make<held_task>(holders);
        r.thread([&t] { t.end(); });
        for (int i = 0; i < holders; ++i) {
            r.thread([&t, i] { t.drop(i); });
        }
        r.at_end([&t] { model::check(t.completed == 1, "completed once"); });
    });
}

TEST(model_hold_count, a_task_with_one_hold_is_completed_once) { is_completed_once(1); }
TEST(model_hold_count, a_task_with_two_holds_is_completed_once) { is_completed_once(2); }

TEST(model_hold_count, one_that_holds_it_may_add_a_hold) {
    model::expect_passes_everywhere("a hold that is handed on", {}, [](run& r) {
        auto& t = r.make<held_task>(1);
        r.thread([&t] { t.end(); });
        r.thread([&t] {
            t.holds->add();
            t.holds->drop();
            t.drop(0);
        });
        r.at_end([&t] { model::check(t.completed == 1, "completed once"); });
    });
}

TEST(model_hold_count, a_hold_that_is_added_after_the_end_is_found) {
    model::expect_found_broken("a hold from nothing", {}, [](run& r) {
        auto& t = r.make<held_task>(0);
        r.thread([&t] { t.end(); });
        r.thread([&t] {
            t.holds->add();
            t.holds->drop();
            t.end();  // a broken holder: completes the task a second time
        });
        r.at_end([&t] { model::check(t.completed == 1, "completed once"); });
    });
}

}  // namespace
