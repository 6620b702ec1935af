// SPDX-License-Identifier: BSL-1.0
// Parking (src/scheduler/README.md): work is never public while all workers sleep. Workers are
// background threads: they may sleep at the end, but then no work may be left.
#include "protocol.hpp"

#include <quern/scheduler/detail/idle_gate.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

using gate_type = quern::detail::idle_gate<model::protocol_atomics>;
using parker_type = gate_type::sleeper_type;

struct pool {
    gate_type gate;
    std::array<parker_type, 3> parkers;
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

    bool wake_one() {
        for (int i = 0; i < workers; ++i) {
            if (gate.wake(parkers[static_cast<std::size_t>(i)])) {
                return true;
            }
        }
        return false;
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

/// Wake-ups as a tree (src/scheduler/worker/waking.cpp). Each worker takes one item, so each item
/// needs a worker of its own.
struct tree : pool {
    std::uint32_t fanout = 2;
    bool last_wakes = true;
    std::uint32_t woken = 0;  ///< beside those that the last searcher wakes
    std::uint32_t most = 0;   ///< that it can be: no act wakes more than it sees items for

    void wake_up_to(std::uint32_t count) {
        for (; count != 0 && wake_one(); --count) {
            ++woken;
        }
    }

    /// wake_for_items()
    void publish_several(std::uint32_t parts) {
        work.fetch_add(static_cast<int>(parts), std::memory_order_seq_cst);
        const auto idle = gate.load();
        const std::uint32_t allowed = std::min(parts, fanout);
        most += allowed;
        check(!idle.must_wake() || allowed > idle.searching, "no wake-up of the relay is left out");
        if (idle.sleeping != 0 && idle.searching < allowed) {
            wake_up_to(allowed - idle.searching);
        }
    }

    /// wake_for_rest()
    void wake_for_rest() {
        const auto idle = gate.load();
        const int seen = work.load(std::memory_order_relaxed);
        const auto left = static_cast<std::uint32_t>(std::max(seen, 0));
        check(idle.searching != 0, "the caller searches");
        const std::uint32_t others = idle.searching - 1;
        const std::uint32_t allowed =
            fanout > 1 ? std::min(fanout, left - std::min(left, others)) : 0;
        most += allowed;
        if (idle.sleeping != 0) {
            wake_up_to(allowed);
        }
    }

    /// search_and_park() from its first line, or from step 4 of park().
    void live_once(std::size_t rank, bool is_asleep) {
        if (is_asleep) {
            gate.sleep(parkers[rank]);
        } else {
            gate.begin_search();
        }
        while (!take(rank)) {
            gate.announce_sleep(parkers[rank]);
            if (has_work(rank)) {
                gate.cancel_sleep(parkers[rank]);
            } else {
                gate.sleep(parkers[rank]);
            }
        }
        wake_for_rest();
        if (gate.end_search() && last_wakes) {
            wake_one();
        }
        done.fetch_add(1, std::memory_order_relaxed);
    }
};

struct tree_case {
    int workers;
    int asleep;  ///< so many of them sleep at the start, the others begin to search
    int publishers;
    std::uint32_t each;
    std::uint32_t fanout = 2;
    bool last_wakes = true;
};

void wake_as_tree(run& r, const tree_case& c) {
    auto& p = r.make<tree>();
    p.workers = c.workers;
    p.fanout = c.fanout;
    p.last_wakes = c.last_wakes;
    for (int i = 0; i < c.workers; ++i) {
        const auto rank = static_cast<std::size_t>(i);
        if (i < c.asleep) {
            p.gate.begin_search();
            p.gate.announce_sleep(p.parkers[rank]);
        }
        r.background_thread(
            [&p, rank, c] { p.live_once(rank, static_cast<int>(rank) < c.asleep); });
    }
    for (int i = 0; i < c.publishers; ++i) {
        r.thread([&p, c] { p.publish_several(c.each); });
    }
    r.at_end([&p, c] {
        check(p.done.load() == c.publishers * static_cast<int>(c.each),
              "all published work was done");
        check(p.woken <= p.most, "no act wakes more than it sees work for");
    });
}

TEST(model_idle_gate, a_tree_loses_no_wake_up) {
    model::expect_passes_everywhere("tree, 2 asleep, 1 publisher of 2", {}, [](run& r) {
        wake_as_tree(r, {2, 2, 1, 2});
    });
    model::expect_passes("tree, 2 asleep, 2 publishers of 1", {}, model::memory::sequential,
                         [](run& r) {
                             wake_as_tree(r, {2, 2, 2, 1});
                         });
    model::expect_passes("tree, 1 of 2 asleep, 1 publisher of 2", {}, model::memory::sequential,
                         [](run& r) {
                             wake_as_tree(r, {2, 1, 1, 2});
                         });
}

TEST(model_idle_gate, a_tree_with_one_branch_is_the_relay) {
    model::expect_passes("relay, 2 asleep, 1 publisher of 2", {}, model::memory::sequential,
                         [](run& r) {
                             wake_as_tree(r, {2, 2, 1, 2, 1});
                         });
}

// More than three million interleavings, so a sample of them.
TEST(model_idle_gate, a_tree_of_three_loses_no_wake_up) {
    const model::options sample{.random_runs = 100'000};
    const model::result r = model::explore(sample, [](run& run) {
        wake_as_tree(run, {3, 3, 1, 3});
    });
    EXPECT_TRUE(r.ok()) << r.report();
}

TEST(model_idle_gate, a_tree_without_the_wake_up_of_the_last_searcher_is_found) {
    model::expect_found_broken("the last searcher wakes none", {}, [](run& r) {
        wake_as_tree(r,
                     {.workers = 2, .asleep = 2, .publishers = 2, .each = 1, .last_wakes = false});
    });
}

}  // namespace
