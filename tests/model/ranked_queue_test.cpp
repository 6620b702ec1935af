// SPDX-License-Identifier: BSL-1.0
// Parking and the queues in the order of ranks (src/scheduler/README.md, "Ranks"): a push writes
// the word `best` only if its key is larger, and others read it without the lock. No item is left
// while its worker sleeps.
#include "protocol.hpp"

#include <quern/scheduler/detail/idle_gate.hpp>

#include <algorithm>
#include <array>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

using gate_type = quern::detail::idle_gate<model::protocol_atomics>;
using parker_type = gate_type::sleeper_type;

constexpr int k_none = 0;
constexpr int k_largest = 2;

/// A queue of keys 1 and 2 by the protocol of ranked_queue, and one worker.
struct pool {
    gate_type gate;
    parker_type parker;
    atomic<int> locked = 0;
    atomic<int> best = k_none;
    std::array<var<int>, k_largest + 1> items{var<int>(0), var<int>(0), var<int>(0)};
    atomic<int> done = 0;
    std::memory_order how = std::memory_order_seq_cst;

    void lock() {
        while (locked.exchange(1, std::memory_order_acquire) != 0) {
            model::atomics::pause();
        }
    }
    void unlock() { locked.store(0, std::memory_order_release); }

    int largest() {
        int key = k_largest;
        while (key != k_none && items[static_cast<std::size_t>(key)] == 0) {
            --key;
        }
        return key;
    }

    void push(int key) {
        lock();
        items[static_cast<std::size_t>(key)] = items[static_cast<std::size_t>(key)] + 1;
        if (key > best.load(std::memory_order_relaxed)) {
            best.store(key, how);
        }
        unlock();
        if (gate.load().must_wake()) {
            gate.wake(parker);
        }
    }

    bool pop() {
        if (best.load(std::memory_order_relaxed) == k_none) {
            return false;
        }
        lock();
        const int key = best.load(std::memory_order_relaxed);
        if (key != k_none) {
            items[static_cast<std::size_t>(key)] = items[static_cast<std::size_t>(key)] - 1;
            best.store(largest(), std::memory_order_relaxed);
        }
        unlock();
        return key != k_none;
    }

    void live(int wanted) {
        while (wanted > 0) {
            gate.begin_search();
            while (!pop()) {
                gate.announce_sleep(parker);
                if (best.load(std::memory_order_seq_cst) != k_none) {
                    gate.cancel_sleep(parker);
                } else {
                    gate.sleep(parker);
                }
            }
            gate.end_search();
            done.fetch_add(1, std::memory_order_relaxed);
            --wanted;
        }
    }
};

/// One thread pushes both keys, the second of which does not raise `best` if it is not larger and
/// the first item is still there. Two threads would do the same, in the order of the lock.
void ranked(run& r, int first, int second, std::memory_order how) {
    auto& p = r.make<pool>();
    p.how = how;
    r.background_thread([&p] { p.live(2); });
    r.thread([&p, first, second] {
        p.push(first);
        p.push(second);
    });
    r.at_end([&p] { check(p.done.load() == 2, "both items were run"); });
}

TEST(model_ranked_queue, an_item_of_any_rank_wakes_the_worker) {
    model::expect_passes_everywhere("ranks, the second not larger", {},
                                    [](run& r) { ranked(r, 2, 1, std::memory_order_seq_cst); });
    model::expect_passes_everywhere("ranks, the second larger", {},
                                    [](run& r) { ranked(r, 1, 2, std::memory_order_seq_cst); });
}

TEST(model_ranked_queue, a_weaker_write_of_the_best_is_found) {
    model::expect_found_broken("ranks, best written relaxed", {},
                               [](run& r) { ranked(r, 1, 2, std::memory_order_relaxed); });
}

}  // namespace
