// SPDX-License-Identifier: BSL-1.0
// Pollers (src/scheduler/README.md): it never happens that an operation is outstanding, every
// worker sleeps, and none of them keeps the watch. Workers are background threads: they may sleep
// at the end, but then all operations must have been seen.
#include "protocol.hpp"

#include <quern/scheduler/detail/idle_gate.hpp>
#include <quern/scheduler/pollers.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace {

using model::atomic;
using model::check;
using model::run;

using gate_type = quern::detail::idle_gate<model::protocol_atomics>;
using parker_type = gate_type::sleeper_type;
using count_type = quern::detail::outstanding_count<model::protocol_atomics>;

constexpr std::uint32_t k_nobody = 9;

struct pool {
    gate_type gate;
    std::array<parker_type, 2> parkers;
    count_type::word armed = 0;
    count_type count;
    atomic<std::uint32_t> watch = k_nobody;
    atomic<int> ended = 0;
    atomic<int> work = 0;
    std::uint32_t workers = 1;
    bool has_timer = false;       // far away: the watch sleeps for it
    bool looks_at_watch = true;   // the thread that begins an operation
    bool looks_first = false;     // the same
    bool finds_successor = true;  // the worker that runs an item

    bool needs_watch() { return has_timer || armed.load(std::memory_order_seq_cst) != 0; }

    void wake_one() {
        for (std::uint32_t i = 0; i < workers; ++i) {
            if (gate.wake(parkers[i])) {
                return;
            }
        }
    }

    /// poller::expect and pool::arm.
    void expect() {
        if (looks_first) {
            see_to_it();
        }
        if (!count.raise_further(1) && count.raise(armed, 1) && !looks_first) {
            see_to_it();
        }
    }

    void see_to_it() {
        const std::uint32_t kept_by =
            looks_at_watch ? watch.load(std::memory_order_seq_cst) : k_nobody;
        if (kept_by != k_nobody) {
            gate.wake(parkers[kept_by]);
        } else if (gate.load().must_wake()) {
            wake_one();
        }
    }

    /// All operations have ended.
    void ask() {
        if (const std::uint64_t all = count.value(); all != 0) {
            check(armed.load(std::memory_order_seq_cst) != 0, "what is outstanding is armed");
            ended.fetch_add(static_cast<int>(all), std::memory_order_relaxed);
            count.lower(armed, all);
        }
    }

    /// worker::sleep. A sleep limited by the pollers' clock does not count as one here.
    void sleep(std::uint32_t rank) {
        while (needs_watch()) {
            std::uint32_t nobody = k_nobody;
            if (!watch.compare_exchange_strong(nobody, rank, std::memory_order_seq_cst,
                                               std::memory_order_seq_cst)) {
                break;
            }
            bool woken = false;
            while (!woken && needs_watch()) {
                if (armed.load(std::memory_order_seq_cst) != 0) {
                    ask();
                    model::protocol_atomics::pause();
                } else {
                    gate.sleep(parkers[rank]);
                    woken = true;
                }
            }
            watch.exchange(k_nobody, std::memory_order_seq_cst);
            if (woken) {
                return;
            }
        }
        gate.sleep(parkers[rank]);
    }

    /// The only item runs for ever.
    void live(std::uint32_t rank, bool is_asleep) {
        if (is_asleep) {
            gate.sleep(parkers[rank]);
        } else {
            gate.begin_search();
        }
        while (work.exchange(0, std::memory_order_seq_cst) == 0) {
            gate.announce_sleep(parkers[rank]);
            if (work.load(std::memory_order_seq_cst) != 0) {
                gate.cancel_sleep(parkers[rank]);
            } else {
                sleep(rank);
            }
        }
        gate.end_search();
        // worker::see_to_watch.
        if (finds_successor && needs_watch() && watch.load(std::memory_order_relaxed) == k_nobody &&
            gate.load().must_wake()) {
            wake_one();
        }
    }
};

struct variant {
    std::uint32_t workers = 1;
    int operations = 1;
    bool has_timer = false;
    bool looks_at_watch = true;
    bool looks_first = false;
    bool has_work = false;
    bool finds_successor = true;
};

void polling(run& r, const variant& v) {
    auto& p = r.make<pool>();
    p.workers = v.workers;
    p.has_timer = v.has_timer;
    p.looks_at_watch = v.looks_at_watch;
    p.looks_first = v.looks_first;
    p.finds_successor = v.finds_successor;
    p.work.store(v.has_work ? 1 : 0, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < v.workers; ++i) {
        const bool is_asleep = v.has_work && i != 0;
        if (is_asleep) {
            p.gate.begin_search();
            p.gate.announce_sleep(p.parkers[i]);
        }
        r.background_thread([&p, i, is_asleep] { p.live(i, is_asleep); });
    }
    r.thread([&p, v] {
        for (int i = 0; i < v.operations; ++i) {
            p.expect();
        }
    });
    r.at_end([&p, n = v.operations] {
        check(p.ended.load() == n, "all operations were seen to end");
        check(p.armed.load() == 0 && p.count.value() == 0, "nothing is outstanding");
    });
}

TEST(model_pollers, one_worker) {
    model::expect_passes_everywhere("polling, 1 worker, 1 operation", {},
                                    [](run& r) { polling(r, {}); });
    model::expect_passes_everywhere("polling, 1 worker with a timer, 1 operation", {},
                                    [](run& r) { polling(r, {.has_timer = true}); });
    model::expect_passes("polling, 1 worker, 2 operations", {}, model::memory::sequential,
                         [](run& r) { polling(r, {.operations = 2}); });
}

/// The item is ready when the operation begins, and the other worker sleeps.
TEST(model_pollers, two_workers_of_which_one_gets_an_item_that_takes_for_ever) {
    model::expect_passes("polling, 2 workers, 1 operation, 1 item", {}, model::memory::sequential,
                         [](run& r) { polling(r, {.workers = 2, .has_work = true}); });
}

// Holds: poller: Also when an operation...
TEST(model_pollers, two_workers_of_which_one_sleeps_for_a_timer) {
    model::expect_passes("polling, 2 workers with a timer, 1 operation", {},
                         model::memory::sequential,
                         [](run& r) { polling(r, {.workers = 2, .has_timer = true}); });
}

/// Two threads begin an operation each; a third sees that none, one or both end.
// Holds: poller: expect() and settle() may...
TEST(model_pollers, counts_what_several_threads_begin) {
    model::expect_passes_everywhere("counting, 2 operations", {}, [](run& r) {
        auto& p = r.make<pool>();
        r.thread([&p] { p.expect(); });
        r.thread([&p] { p.expect(); });
        r.thread([&p] { p.ask(); });
        r.at_end([&p] {
            const std::uint64_t left = p.count.value();
            check(p.ended.load() + static_cast<int>(left) == 2, "each operation is counted once");
            check(p.armed.load() == (left != 0 ? 1U : 0U), "armed while something is outstanding");
        });
    });
}

TEST(model_pollers, looking_for_a_sleeper_before_the_count_is_raised_is_found) {
    model::expect_found_broken("look before the count", {},
                               [](run& r) { polling(r, {.looks_first = true}); });
}

TEST(model_pollers, leaving_the_watch_for_an_item_without_a_successor_is_found) {
    model::expect_found_broken("no successor", {}, [](run& r) {
        polling(r, {.workers = 2, .has_work = true, .finds_successor = false});
    });
}

TEST(model_pollers, waking_another_than_the_watch_is_found) {
    model::expect_found_broken("no look at the watch", {}, [](run& r) {
        polling(r, {.workers = 2, .has_timer = true, .looks_at_watch = false});
    });
}

}  // namespace
