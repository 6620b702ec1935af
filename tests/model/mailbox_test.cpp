// SPDX-License-Identifier: BSL-1.0
// Parking where nothing is stolen (src/scheduler/README.md, "Where nothing is stolen"): an item in
// the mailbox of a worker is run by that worker, or, when it is throttled, by an active one. It is
// never left there while both sleep.
#include "protocol.hpp"

#include <quern/scheduler/detail/idle_gate.hpp>

namespace {

using model::atomic;
using model::check;
using model::run;

using gate_type = quern::detail::idle_gate<model::protocol_atomics>;
using parker_type = gate_type::sleeper_type;

/// One worker that owns the mailbox and may be throttled, and one that is always active.
struct pool {
    gate_type gate;
    parker_type owner;
    parker_type other;
    atomic<int> mailbox = 0;
    atomic<int> throttled = 0;
    atomic<int> done = 0;
    bool look_after_pushing = true;
    bool look_after_lowering = true;

    bool is_stealable() { return throttled.load(std::memory_order_seq_cst) != 0; }
    bool holds_something() { return mailbox.load(std::memory_order_seq_cst) > 0; }

    bool take() {
        int seen = 1;
        return mailbox.compare_exchange_strong(seen, 0, std::memory_order_seq_cst,
                                               std::memory_order_relaxed);
    }

    void wake_other() {
        if (gate.load().must_wake()) {
            gate.wake(other);
        }
    }

    /// pool::deliver and wake_for.
    void push() {
        mailbox.fetch_add(1, std::memory_order_seq_cst);
        if (!gate.wake(owner) && look_after_pushing && is_stealable()) {
            wake_other();
        }
    }

    /// pool::set_active_workers.
    void throttle() {
        throttled.store(1, std::memory_order_seq_cst);
        gate.wake(owner);
    }

    /// Until the worker has run the item or is throttled: next_item, park, obey_throttle.
    void own() {
        for (;;) {
            if (is_stealable()) {
                if (look_after_lowering && holds_something()) {
                    wake_other();
                }
                return;  // sleeps on the knob
            }
            gate.begin_search();
            if (take()) {
                gate.end_search();
                done.fetch_add(1, std::memory_order_relaxed);
                return;
            }
            gate.announce_sleep(owner);
            if (holds_something()) {
                gate.cancel_sleep(owner);
            } else {
                gate.sleep(owner);
            }
            gate.end_search();
        }
    }

    /// Until the worker has run the item: steal_round, park.
    void help() {
        gate.begin_search();
        while (!is_stealable() || !take()) {
            gate.announce_sleep(other);
            if (is_stealable() && holds_something()) {
                gate.cancel_sleep(other);
            } else {
                gate.sleep(other);
            }
        }
        gate.end_search();
        done.fetch_add(1, std::memory_order_relaxed);
    }
};

enum class story { push_alone, push_then_throttle, throttle_then_push };

void mailbox(run& r, story what, bool look_after_pushing, bool look_after_lowering) {
    auto& p = r.make<pool>();
    p.look_after_pushing = look_after_pushing;
    p.look_after_lowering = look_after_lowering;
    r.background_thread([&p] { p.own(); });
    if (what != story::push_alone) {
        r.background_thread([&p] { p.help(); });
    }
    r.thread([&p, what] {
        if (what == story::throttle_then_push) {
            p.throttle();
        }
        p.push();
        if (what == story::push_then_throttle) {
            p.throttle();
        }
    });
    r.at_end([&p] { check(p.done.load() == 1, "the item was run, and once"); });
}

TEST(model_mailbox, an_item_wakes_its_worker) {
    model::expect_passes_everywhere("mailbox", {},
                                    [](run& r) { mailbox(r, story::push_alone, true, true); });
}

TEST(model_mailbox, what_a_worker_holds_when_it_is_throttled_is_taken_by_another) {
    model::expect_passes("mailbox, then throttled", {}, model::memory::sequential,
                         [](run& r) { mailbox(r, story::push_then_throttle, true, true); });
}

TEST(model_mailbox, what_a_throttled_worker_gets_is_taken_by_another) {
    model::expect_passes("throttled, then mailbox", {}, model::memory::sequential,
                         [](run& r) { mailbox(r, story::throttle_then_push, true, true); });
}

TEST(model_mailbox, pushing_without_a_look_at_the_knob_is_found) {
    model::expect_found_broken("no look after pushing", {},
                               [](run& r) { mailbox(r, story::throttle_then_push, false, true); });
}

TEST(model_mailbox, throttling_without_a_look_at_the_mailbox_is_found) {
    model::expect_found_broken("no look after lowering", {},
                               [](run& r) { mailbox(r, story::push_then_throttle, true, false); });
}

}  // namespace
