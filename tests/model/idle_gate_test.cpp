// SPDX-License-Identifier: BSL-1.0
// Parking (src/scheduler/README.md): it never happens that work is public and everybody sleeps.
// Workers are background threads: they may sleep at the end, but then no work may be left.
#include "protocol.hpp"

#include <quern/scheduler/idle_gate.hpp>

#include <array>

namespace {

using model::atomic;
using model::check;
using model::run;

using gate_type = quern::detail::idle_gate<model::protocol_atomics>;
using bed_type = gate_type::sleeper_type;

struct pool {
    gate_type gate;
    std::array<bed_type, 2> beds;
    atomic<int> work = 0;
    atomic<int> pinned = 0;  // for the first worker alone
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
            if (gate.wake(beds[static_cast<std::size_t>(i)])) {
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
        gate.wake(beds[0]);
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
                gate.announce_sleep(beds[rank]);
                if (look_again && has_work(rank)) {
                    gate.cancel_sleep(beds[rank]);
                } else {
                    gate.sleep(beds[rank]);
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
    // Two million interleavings; the protocol's every step is a seq_cst operation, for which the
    // memory models do not differ.
    model::expect_passes("parking, 2 workers, 1 publisher of 1", {}, model::memory::sequential,
                         [](run& r) { parking(r, 2, 1, 1, true); });
}

/// One item for all, and one that the first of the workers alone may take.
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
