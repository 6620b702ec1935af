// SPDX-License-Identifier: BSL-1.0
// The reason for which a suspended task says it waits: one task waits for each type of this layer.
// The notes of its context are read as a report reads them, from a copy of the object's bytes.
#include <quern/sync/and_gate.hpp>
#include <quern/sync/barrier.hpp>
#include <quern/sync/call_once.hpp>
#include <quern/sync/channel.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/full_empty.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/sliding_semaphore.hpp>
#include <quern/sync/timed_mutex.hpp>

#include "crew.hpp"

#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using quern_test::crew;

struct finding {
    std::string kind;
    std::uintptr_t holder = 0;
    std::string words;
    const void* thing = nullptr;
};

finding read(const quern::detail::wait_note& note) {
    const quern::detail::wait_kind* kind = note.kind();
    if (kind == nullptr) {
        return {"nothing", 0, ""};
    }
    finding found{kind->name, 0, "", note.thing()};
    if (kind->look != nullptr) {
        std::vector<std::max_align_t> copy(kind->size / sizeof(std::max_align_t) + 1);
        std::memcpy(copy.data(), note.thing(), kind->size);
        quern::detail::wait_findings into;
        kind->look(copy.data(), into);
        found.holder = into.holder;
        found.words = into.words.data();
    }
    return found;
}

class wait_kinds : public testing::Test {
protected:
    /// Lets a task wait, and reads its reason.
    finding waits(std::function<void()> wait) {
        quern::detail::context* who = nullptr;
        all.task([&who, wait = std::move(wait)] {
            who = quern::detail::current_context();
            wait();
        });
        all.settle_but_for_timers();
        return read(who->waits);
    }

    void expect(const finding& found, const char* kind, const char* words,
                std::uintptr_t holder = 0) {
        EXPECT_EQ(found.kind, kind);
        EXPECT_EQ(found.words, words);
        EXPECT_EQ(found.holder, holder);
    }

    const std::uintptr_t me = quern::detail::this_holder();
    crew all{2};
};

// Holds: task_report: A mutex that is waited for is named with the task or thread that holds it; a
//     recursive one with its depth, a shared one with writer or readers.
TEST_F(wait_kinds, a_mutex_is_held_by_the_thread_that_has_locked_it) {
    quern::timed_mutex m;
    m.lock();
    expect(waits([&] { std::scoped_lock lock(m); }), "mutex", "", me);
    expect(waits([&] { std::unique_lock lock(m, 24h); }), "mutex", "", me);
    m.unlock();
    all.finish();
}

// Holds: task_report: A mutex that is...
TEST_F(wait_kinds, a_mutex_is_held_by_the_task_that_has_locked_it) {
    quern::mutex m;
    quern::event go_on;
    std::uintptr_t holder = 0;
    expect(waits([&] {
               std::scoped_lock lock(m);
               holder = quern::detail::this_holder();
               go_on.wait();
           }),
           "event", "not set");
    expect(waits([&] { std::scoped_lock lock(m); }), "mutex", "", holder);
    go_on.set();
    all.finish();
}

// Holds: task_report: A mutex that is...
TEST_F(wait_kinds, a_recursive_mutex_says_how_often_it_is_locked) {
    quern::recursive_timed_mutex m;
    m.lock();
    m.lock();
    expect(waits([&] { std::scoped_lock lock(m); }), "recursive_mutex", "locked 2 times", me);
    expect(waits([&] { std::unique_lock lock(m, 24h); }), "recursive_mutex", "locked 2 times", me);
    m.unlock();
    m.unlock();
    all.finish();
}

// Holds: task_report: A mutex that is...
TEST_F(wait_kinds, a_shared_mutex_is_held_by_a_writer_or_by_readers) {
    quern::shared_timed_mutex m;
    m.lock();
    expect(waits([&] { std::scoped_lock lock(m); }), "shared_mutex", "held by a writer", me);
    m.unlock();
    all.finish();
    m.lock_shared();
    expect(waits([&] { std::unique_lock lock(m, 24h); }), "shared_mutex", "held by 1 reader");
    m.unlock_shared();
    all.finish();
    for (int i = 0; i < 3; ++i)
        m.lock_shared();
    expect(waits([&] { std::scoped_lock lock(m); }), "shared_mutex", "held by 3 readers");
    for (int i = 0; i < 3; ++i)
        m.unlock_shared();
    all.finish();
}

// Holds: task_report: Condition variables: a notice...
TEST_F(wait_kinds, who_has_been_notified_waits_for_the_mutex) {
    quern::mutex m;
    quern::condition_variable changed;
    for (const bool limited : {false, true}) {
        quern::detail::context* who = nullptr;
        expect(waits([&] {
                   who = quern::detail::current_context();
                   std::unique_lock lock(m);
                   limited ? void(changed.wait_for(lock, 24h)) : changed.wait(lock);
               }),
               "a notice of a condition_variable", "");
        m.lock();
        changed.notify_one();
        expect(read(who->waits), "mutex", "", me);
        m.unlock();
        all.finish();
    }
}

// Holds: task_report: Condition variables: a notice, and once notified the mutex.
TEST_F(wait_kinds, a_notice_of_a_condition_variable_for_any_lock) {
    quern::shared_mutex m;
    quern::condition_variable_any changed;
    for (const bool limited : {false, true}) {
        expect(waits([&] {
                   std::unique_lock lock(m);
                   limited ? void(changed.wait_for(lock, 24h)) : changed.wait(lock);
               }),
               "a notice of a condition_variable_any", "");
    }
    changed.notify_all();
    all.finish();
}

// Holds: task_report: Latch, barrier and semaphore say what is missing; event, channel and cell
//     their state; sliding semaphore, trigger and gate where they are.
TEST_F(wait_kinds, a_latch_says_how_much_is_missing) {
    quern::latch done(3);
    expect(waits([&] { done.wait(); }), "latch", "3 counts are missing");
    done.count_down(2);
    expect(waits([&] { done.wait(); }), "latch", "1 count is missing");
    done.count_down();
    all.finish();
}

// Holds: task_report: Latch, barrier and semaphore...
TEST_F(wait_kinds, a_barrier_says_how_many_have_come) {
    quern::barrier phase(3);
    expect(waits([&] { phase.arrive_and_wait(); }), "barrier", "1 of 3 have come");
    expect(waits([&] { phase.arrive_and_wait(); }), "barrier", "2 of 3 have come");
    phase.arrive_and_drop();
    all.finish();
}

// Holds: task_report: Latch, barrier and semaphore...
TEST_F(wait_kinds, an_event_is_not_set) {
    quern::event happened;
    expect(waits([&] { happened.wait(); }), "event", "not set");
    expect(waits([&] { happened.wait_for(24h); }), "event", "not set");
    happened.set();
    all.finish();
}

// Holds: task_report: Latch, barrier and semaphore...
TEST_F(wait_kinds, a_semaphore_says_how_many_permits_are_wanted) {
    quern::counting_semaphore<> s(0);
    expect(waits([&] { s.acquire(); }), "counting_semaphore", "no permit is left, 1 are wanted");
    expect(waits([&] { EXPECT_TRUE(s.try_acquire_for(24h)); }), "counting_semaphore",
           "no permit is left, 2 are wanted");
    s.release(2);
    all.finish();
}

// Holds: task_report: Latch, barrier and semaphore...
TEST_F(wait_kinds, a_channel_is_empty_for_one_and_full_for_another) {
    quern::channel<int> empty;
    expect(waits([&] { empty.receive(); }), "channel, to receive", "empty");
    expect(waits([&] { empty.try_receive_for(24h); }), "channel, to receive", "empty");
    quern::channel<int> full(4);
    for (int i = 0; i < 4; ++i)
        full.send(i);
    expect(waits([&] { full.send(4); }), "channel, to send", "full: holds 4 of 4");
    expect(waits([&] { full.try_send_for(4, 24h); }), "channel, to send", "full: holds 4 of 4");
    EXPECT_EQ(waits([&] { empty.receive(); }).thing, &empty);
    EXPECT_EQ(waits([&] { full.send(4); }).thing, &full);
    empty.close();
    full.receive();
    full.receive();
    full.receive();
    all.finish();
}

// Holds: task_report: Latch, barrier and semaphore...
TEST_F(wait_kinds, a_cell_is_not_in_the_wanted_state) {
    quern::full_empty<int> cell;
    expect(waits([&] { cell.read_ff(); }), "full_empty, to be full", "it is empty");
    cell.write_ef(1);
    all.finish();
    expect(waits([&] { cell.write_ef(2); }), "full_empty, to be empty", "it is full");
    cell.purge();
    all.finish();
}

// Holds: task_report: Latch, barrier and semaphore...
TEST_F(wait_kinds, a_sliding_semaphore_says_where_its_window_is) {
    quern::sliding_semaphore window(2, 5);
    expect(waits([&] { window.wait(9); }), "sliding_semaphore",
           "signalled up to 5, so only 7 and less may go on");
    window.signal(7);
    all.finish();
}

// Holds: task_report: Latch, barrier and semaphore...
TEST_F(wait_kinds, a_trigger_and_a_gate_say_what_is_missing) {
    quern::trigger step;
    step.set();
    expect(waits([&] { step.synchronize(2); }), "trigger", "generation 1 has not ended");
    step.set();
    all.finish();
    quern::and_gate inputs(3);
    inputs.set(1);
    expect(waits([&] { inputs.synchronize(1); }), "and_gate", "1 of 3 inputs are set");
    inputs.set(0);
    inputs.set(2);
    all.finish();
}

// Holds: task_report: call_once names the one that runs the function.
TEST_F(wait_kinds, a_call_once_names_the_one_that_runs_the_function) {
    quern::once_flag once;
    quern::event go_on;
    std::uintptr_t runs = 0;
    waits([&] {
        quern::call_once(once, [&] {
            runs = quern::detail::this_holder();
            go_on.wait();
        });
    });
    expect(waits([&] { quern::call_once(once, [] {}); }), "call_once", "", runs);
    go_on.set();
    all.finish();
}

// Holds: task_report: A resumed task waits for nothing.
TEST_F(wait_kinds, one_that_goes_on_waits_for_nothing) {
    quern::event happened;
    quern::detail::context* who = nullptr;
    std::atomic<bool> noted{true};
    waits([&] {
        who = quern::detail::current_context();
        happened.wait();
        noted = who->waits.kind() != nullptr;
    });
    happened.set();
    all.finish();
    EXPECT_FALSE(noted.load());
}

}  // namespace
