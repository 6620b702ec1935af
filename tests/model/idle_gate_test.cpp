// SPDX-License-Identifier: BSL-1.0
// Parking (src/scheduler/README.md): work is never public while all workers sleep. Workers are
// background threads: they may sleep at the end, but then no work may be left.
#include "protocol.hpp"

#include <quern/scheduler/detail/idle_gate.hpp>

#include <array>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

using gate_type = quern::detail::idle_gate<model::protocol_atomics>;
using parker_type = gate_type::sleeper_type;

struct pool {
    gate_type gate;
    std::array<parker_type, 2> parkers;
    atomic<int> work = 0;
    atomic<int> pinned = 0;  // for the first worker only
    atomic<int> done = 0;
    int workers = 1;
    bool look_again = true;
    bool look_at_pinned = true;

    bool take(std::size_t rank) {
        if (rank == 0 && pinned.load(std::memory_order_seq_cst) > 0) {
            pinned.fetch_sub(1, std::memory_order_acq_rel);
            return true;
        }
        int seen = work.load(std::memory_order_seq_cst);
        while (seen > 0) {
            if (work.compare_exchange_strong(seen, seen - 1, std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }

    void wake_one() {
        for (int i = 0; i < workers; ++i) {
            if (gate.wake(parkers[static_cast<std::size_t>(i)])) {
                return;
            }
        }
    }

    void publish() {
        work.fetch_add(1, std::memory_order_seq_cst);
        if (gate.load().must_wake()) {
            wake_one();
        }
    }

    void publish_pinned() {
        pinned.fetch_add(1, std::memory_order_seq_cst);
        gate.wake(parkers[0]);
    }

    bool has_work(std::size_t rank) {
        return work.load(std::memory_order_seq_cst) > 0 ||
               (rank == 0 && look_at_pinned && pinned.load(std::memory_order_seq_cst) > 0);
    }

    /// A worker that ends after `items` items, or sleeps for ever.
    void live(std::size_t rank, int items) {
        while (items > 0) {
            gate.begin_search();
            while (!take(rank)) {
                gate.announce_sleep(parkers[rank]);
                if (look_again && has_work(rank)) {
                    gate.cancel_sleep(parkers[rank]);
                } else {
                    gate.sleep(parkers[rank]);
                }
            }
            if (gate.end_search()) {
                wake_one();
            }
            done.fetch_add(1, std::memory_order_relaxed);
            --items;
        }
    }
};

void parking(run& r, int workers, int publishers, int each, bool look_again) {
    auto& p = r.make<pool>();
    p.workers = workers;
    p.look_again = look_again;
    for (int i = 0; i < workers; ++i) {
        r.background_thread(
            [&p, i, publishers, each] { p.live(static_cast<std::size_t>(i), publishers * each); });
    }
    for (int i = 0; i < publishers; ++i) {
        r.thread([&p, each] {
            for (int k = 0; k < each; ++k) {
                p.publish();
            }
        });
    }
    r.at_end([&p, publishers, each] {
        check(p.done.load() == publishers * each, "all published work was done");
    });
}

TEST(model_idle_gate, one_worker_one_publisher) {
    model::expect_passes_everywhere("parking, 1 worker, 1 publisher of 1", {},
                                    [](run& r) { parking(r, 1, 1, 1, true); });
    model::expect_passes_everywhere("parking, 1 worker, 1 publisher of 2", {},
                                    [](run& r) { parking(r, 1, 1, 2, true); });
}

TEST(model_idle_gate, one_worker_two_publishers) {
    model::expect_passes_everywhere("parking, 1 worker, 2 publishers of 1", {},
                                    [](run& r) { parking(r, 1, 2, 1, true); });
}

TEST(model_idle_gate, two_workers_one_publisher) {
    // Seven million interleavings, 20 s. One memory model is enough: every step of the protocol is
    // a seq_cst operation.
    model::expect_passes("parking, 2 workers, 1 publisher of 1", {}, model::memory::sequential,
                         [](run& r) { parking(r, 2, 1, 1, true); });
}

/// A guest in the place of a worker, and the state that both use: the explorer detects concurrent
/// use.
struct shared_place : pool {
    var<int> state = 0;  ///< the worker's own
    bool looks_when_it_leaves = true;

    /// Takes the ready items there, and leaves `items` behind.
    void visit(int items) {
        if (!gate.take_place(parkers[0])) {
            for (int i = 0; i < items; ++i) {
                publish();
            }
            return;
        }
        state = state + 1;
        for (int i = 0; i < items; ++i) {
            work.fetch_add(1, std::memory_order_seq_cst);
        }
        gate.leave_place(parkers[0]);
        if (looks_when_it_leaves && has_work(0)) {
            gate.wake(parkers[0]);
        }
    }

    /// As live(), but accesses its own state only while it is not at rest.
    void live_with_guests(int items) {
        for (; items > 0; --items) {
            gate.begin_search();
            while (!take(0)) {
                state = state + 1;
                gate.announce_sleep(parkers[0]);
                if (has_work(0)) {
                    gate.cancel_sleep(parkers[0]);
                } else {
                    gate.sleep(parkers[0]);
                }
                state = state + 1;
            }
            if (gate.end_search()) {
                wake_one();
            }
            done.fetch_add(1, std::memory_order_relaxed);
        }
    }
};

void parking_with_guest(run& r, int publishers, int left, bool looks) {
    auto& p = r.make<shared_place>();
    p.looks_when_it_leaves = looks;
    r.background_thread([&p, publishers, left] { p.live_with_guests(publishers + left); });
    r.thread([&p, left] { p.visit(left); });
    for (int i = 0; i < publishers; ++i) {
        r.thread([&p] { p.publish(); });
    }
    r.at_end([&p, publishers, left] {
        check(p.done.load() == publishers + left, "all published work was done");
    });
}

TEST(model_idle_gate, a_guest_has_the_place_alone_and_loses_nothing) {
    model::expect_passes_everywhere("a guest that leaves an item", {},
                                    [](run& r) { parking_with_guest(r, 0, 1, true); });
    model::expect_passes_everywhere("a guest and a publisher", {},
                                    [](run& r) { parking_with_guest(r, 1, 0, true); });
    model::expect_passes("a guest that leaves an item and a publisher", {},
                         model::memory::sequential,
                         [](run& r) { parking_with_guest(r, 1, 1, true); });
}

TEST(model_idle_gate, a_guest_that_leaves_without_a_look_is_found) {
    model::expect_found_broken("no look when the guest leaves", {},
                               [](run& r) { parking_with_guest(r, 1, 0, false); });
}

/// One item for all workers, and one that only the first worker may take.
void parking_with_pinned(run& r, int workers, bool look_at_pinned) {
    auto& p = r.make<pool>();
    p.workers = workers;
    p.look_at_pinned = look_at_pinned;
    for (int i = 0; i < workers; ++i) {
        r.background_thread([&p, i] { p.live(static_cast<std::size_t>(i), 2); });
    }
    r.thread([&p] { p.publish_pinned(); });
    if (workers == 1) {
        r.thread([&p] { p.publish(); });
    }
    r.at_end([&p, workers] {
        check(p.done.load() == (workers == 1 ? 2 : 1), "all published work was done");
    });
}

TEST(model_idle_gate, pinned_work_wakes_its_worker) {
    model::expect_passes_everywhere("parking, 1 worker, pinned and not", {},
                                    [](run& r) { parking_with_pinned(r, 1, true); });
    model::expect_passes("parking, 2 workers, pinned", {}, model::memory::sequential,
                         [](run& r) { parking_with_pinned(r, 2, true); });
}

TEST(model_idle_gate, sleeping_without_a_look_at_pinned_work_is_found) {
    model::expect_found_broken("no look at pinned work", {},
                               [](run& r) { parking_with_pinned(r, 1, false); });
}

TEST(model_idle_gate, sleeping_without_a_last_look_is_found) {
    model::expect_found_broken("no last look", {}, [](run& r) { parking(r, 1, 1, 1, false); });
}

}  // namespace
