// SPDX-License-Identifier: BSL-1.0
// Locks of commutative tasks (src/dependences/README.md, "Commutative locks"): tasks that need the
// same lock never hold it together, each gets all of its locks in the end, and those that share one
// may.
#include "protocol.hpp"

#include <quern/dependences/detail/commutative_lock.hpp>

#include <span>
#include <vector>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

class model_lock {
public:
    void lock() noexcept {
        while (m_held.exchange(true, std::memory_order_acquire)) {
            model::protocol_atomics::pause();
        }
    }
    void unlock() noexcept { m_held.store(false, std::memory_order_release); }

private:
    atomic<bool> m_held{false};
};

struct request;
using lock = quern::detail::basic_commutative_lock<model::protocol_atomics, model_lock, request>;

struct request {
    int rank = 0;
    var<request*> next_waiting = nullptr;
    std::vector<lock::use> needed;
    var<int> runs = 0;

    std::span<const lock::use> uses() const { return needed; }
};

/// Three tasks, each of them made ready by a thread of its own, and the objects that they use.
struct tasks {
    lock locks[3];
    request requests[3];
    var<int> object[3] = {0, 0, 0};
    model_lock single[2];

    void need(int which, int of, bool is_alone = true) {
        requests[which].needed.push_back({&locks[of], is_alone});
    }
    /// What the thread does that finds that all of its predecessors have ended.
    void make_ready(int which) {
        if (lock::take_all(requests[which])) {
            run_it(requests[which]);
        }
    }
    void run_it(request& r) {
        std::vector<request*> granted;
        for (const lock::use& each : r.uses()) {
            if (each.is_alone) {
                var<int>& at = object[each.of - locks];  // a race if another task runs
                at = at + 1;
            }
        }
        r.runs = r.runs + 1;
        for (const lock::use& each : r.uses()) {
            each.of->give_back(each.is_alone, [&](request& next) { granted.push_back(&next); });
        }
        for (request* const next : granted) {
            run_it(*next);
        }
    }
};

using needs = std::vector<int>;  ///< objects of a task that it needs alone; 10 + i: shared

/// The first `before` tasks have been made ready, in this order, so that the first one runs and the
/// others wait. Then a thread ends the first one, and one thread each makes the others ready.
void each_runs_once(const std::vector<needs>& uses, int before = 0) {
    model::expect_passes_everywhere("locks", {}, [uses, before](run& r) {
        auto& t = r.make<tasks>();
        const int n = static_cast<int>(uses.size());
        for (int which = 0; which < n; ++which) {
            for (const int of : uses[static_cast<std::size_t>(which)]) {
                t.need(which, of % 10, of < 10);
            }
            if (which < before) {
                const bool runs = lock::take_all(t.requests[which]);
                check(runs == (which == 0), "the others wait");
            } else {
                r.thread([&t, which] { t.make_ready(which); });
            }
        }
        if (before != 0) {
            r.thread([&t] { t.run_it(t.requests[0]); });
        }
        r.at_end([&t, n] {
            for (int which = 0; which < n; ++which) {
                check(t.requests[which].runs == 1, "each has run once");
            }
        });
    });
}

TEST(model_commutative_locks, two_tasks_of_one_object) { each_runs_once({{0}, {0}}); }
TEST(model_commutative_locks, two_tasks_of_two_objects) { each_runs_once({{0, 1}, {0, 1}}); }
TEST(model_commutative_locks, one_object_in_common) { each_runs_once({{0, 1}, {1, 2}}); }
TEST(model_commutative_locks, a_third_comes_while_one_waits) { each_runs_once({{0}, {0}, {0}}, 2); }
TEST(model_commutative_locks, two_wait_at_different_objects) {
    each_runs_once({{0, 1}, {0}, {0, 1}}, 2);
}
TEST(model_commutative_locks, parts_share_the_lock_of_the_whole) {
    each_runs_once({{0}, {10, 1}, {10, 2}}, 2);
    each_runs_once({{0}, {10, 1}, {10, 1}}, 2);
}

// A task that takes what it can get and waits with it for the rest: two of them wait for ever. The
// test is that the explorer finds such a mistake.
TEST(model_commutative_locks, taking_one_by_one_in_any_order_is_found) {
    model::expect_found_broken("locks taken one by one", {}, [](run& r) {
        auto& t = r.make<tasks>();
        for (int which = 0; which < 2; ++which) {
            r.thread([&t, which] {
                model_lock* const held[] = {&t.single[which], &t.single[1 - which]};
                held[0]->lock();
                held[1]->lock();
                held[1]->unlock();
                held[0]->unlock();
            });
        }
    });
}

}  // namespace
