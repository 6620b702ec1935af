// SPDX-License-Identifier: BSL-1.0
// The limit of live tasks (src/dependences/README.md, "Why it is right", 8): a creator waits while
// the last tasks end on other threads, and continues at half of the limit; when all tasks that are
// left are held, or poll for what the creator does next, the limit gives way. No end is missed.
#include "protocol.hpp"

#include <quern/dependences/detail/backpressure.hpp>
#include <quern/task/detail/group_count.hpp>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

struct room_waiter {};

enum class room_fault { none, never_gives_way, asleep_without_a_second_look, old_number };

/// The creator of a domain, its tasks and what it sees of the pool.
struct full_domain {
    explicit full_domain(room_fault f) : fault(f) {}

    // -- the creator ---------------------------------------------------------------------------

    void spawn() {
        tasks.owner_spawned();
        spawned = spawned + 1;
    }
    std::int64_t live() const { return spawned - (nothing_ended - tasks.outstanding()); }

    // What wait_for_room() asks for.
    std::int64_t left() const { return fault == room_fault::old_number ? spawned : live(); }
    void let_run() { model::atomics::pause(); }
    bool sleep() {
        model::atomics::pause();
        return true;
    }
    void has_moved() {}
    /// What runs is counted before it is visible that it has ended.
    bool nothing_runs() const {
        return fault != room_fault::never_gives_way && running.load(std::memory_order_acquire) == 0;
    }
    bool only_polls() { return false; }

    /// True: there is room. False: the limit gives way.
    bool wait(std::int64_t until) {
        if (fault == room_fault::asleep_without_a_second_look) {
            if (live() > until) {
                is_waiting.store(1, std::memory_order_release);
                while (is_woken.load(std::memory_order_acquire) == 0) {
                    model::atomics::pause();
                }
            }
            return true;
        }
        return quern::detail::wait_for_room(*this, until);
    }

    // -- a worker ------------------------------------------------------------------------------

    void end_task(int which) {
        effects[which] = 1;
        tasks.finished();
        if (fault == room_fault::asleep_without_a_second_look &&
            is_waiting.load(std::memory_order_acquire) != 0) {
            is_woken.store(1, std::memory_order_release);
        }
        running.fetch_sub(1, std::memory_order_release);
    }

    const room_fault fault;
    quern::detail::group_count<model::protocol_atomics, room_waiter> tasks;
    std::int64_t spawned = 0;
    const std::int64_t nothing_ended = tasks.outstanding();
    atomic<int> running = 0;  ///< tasks that run or are ready
    atomic<int> is_waiting = 0;
    atomic<int> is_woken = 0;
    atomic<int> next_step = 0;  ///< what held tasks wait for
    var<int> effects[3] = {0, 0, 0};
};

constexpr model::options k_few{.pause = model::pause_wakes::read_set, .idle_rounds = 16};

// The creator is at its limit of two (or three) tasks; each ends on a thread of its own.
auto at_the_limit(int limit, room_fault fault = room_fault::none) {
    return [=](run& r) {
        auto& d = r.make<full_domain>(fault);
        for (int i = 0; i < limit; ++i) {
            d.spawn();
        }
        d.running.store(limit);
        for (int i = 0; i < limit; ++i) {
            r.thread([&d, i] { d.end_task(i); });
        }
        r.thread([&d, limit] {
            check(d.wait(limit / 2), "the limit does not give way: tasks end");
            check(d.live() <= limit / 2, "it continues at half of the limit");
        });
    };
}

TEST(model_dependences_room, against_the_ends_of_the_last_two_tasks) {
    model::expect_passes_everywhere("throttle, 2 tasks end", k_few, at_the_limit(2));
}

TEST(model_dependences_room, against_the_ends_of_the_last_three_tasks) {
    model::expect_passes_everywhere("throttle, 3 tasks end", k_few, at_the_limit(3));
}

// All live tasks are held until the creator has spawned one more: the limit gives way. The task
// that drops the holds may itself be behind the limit.
auto all_are_held(room_fault fault = room_fault::none) {
    return [=](run& r) {
        auto& d = r.make<full_domain>(fault);
        d.spawn();
        d.spawn();
        d.running.store(1);  // the second one is held from the beginning
        r.thread([&d] {
            d.running.fetch_sub(1, std::memory_order_release);  // its function returns; it is held
            while (d.next_step.load(std::memory_order_acquire) == 0) {
                model::atomics::pause();
            }
            d.effects[0] = 1;
            d.tasks.finished();
            d.effects[1] = 1;
            d.tasks.finished();
        });
        r.thread([&d] {
            check(!d.wait(1), "no task can end before the next step");
            check(d.live() == 2, "the limit gives way");
            d.spawn();
            d.next_step.store(1, std::memory_order_release);
            room_waiter self;
            static_cast<void>(d.tasks.wait(self));
        });
    };
}

TEST(model_dependences_room, gives_way_when_all_tasks_are_held) {
    model::expect_passes_everywhere("throttle, all live tasks held", k_few, all_are_held());
}

TEST(model_dependences_room, waiting_without_a_way_out_is_found) {
    model::expect_found_broken("the limit never gives way", k_few,
                               all_are_held(room_fault::never_gives_way));
}

// Waiting for a wake-up at half of the limit, as an event would: the last task may end between the
// look and the sleep.
TEST(model_dependences_room, a_lost_wake_up_is_found) {
    model::expect_found_broken("an event without a second look", k_few,
                               at_the_limit(2, room_fault::asleep_without_a_second_look));
}

TEST(model_dependences_room, a_number_that_is_not_read_again_is_found) {
    model::expect_found_broken("tasks spawned instead of live ones", k_few,
                               at_the_limit(2, room_fault::old_number));
}

}  // namespace
