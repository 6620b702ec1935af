// SPDX-License-Identifier: BSL-1.0
// The latch's protocol (quern/sync/detail/gate.hpp) in every interleaving: a waiter is woken or
// finds the latch open, sees all earlier writes, and may destroy it at once.
#include <quern/sync/detail/gate.hpp>

#include "sync_parts.hpp"

namespace {

using namespace model_sync;
using model::expect_passes_everywhere;
using model::explore;
using model::run;

using gate = quern::detail::gate<model::protocol_atomics, waiter>;

struct latch {
    explicit latch(int count) : left(count) {}
    void count_down() {
        if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            wake_all(opened.open());
        }
    }
    void wait() {
        if (!opened.is_open()) {
            waiter self;
            if (opened.enqueue(self)) {
                self.sleep();
            }
        }
    }
    model::atomic<int> left;
    gate opened{false};
};

auto count_and_wait(int counters, int waiting) {
    return [=](run& r) {
        struct state {
            explicit state(int count) : met(count) {}
            latch met;
            model::var<int> done[2]{0, 0};
        };
        auto& s = r.make<state>(counters);
        for (int t = 0; t != counters; ++t) {
            r.thread([&s, t] {
                s.done[t] = 1;
                s.met.count_down();
            });
        }
        for (int t = 0; t != waiting; ++t) {
            r.thread([&s, counters] {
                s.met.wait();
                for (int i = 0; i != counters; ++i) {
                    model::check(s.done[i] == 1, "all is done");
                }
            });
        }
    };
}

TEST(model_latch, lets_everybody_go_on_when_all_is_done) {
    expect_passes_everywhere("latch, 1 counts, 1 waits", {}, count_and_wait(1, 1));
    expect_passes_everywhere("latch, 2 count, 1 waits", k_fewer, count_and_wait(2, 1));
    expect_passes_everywhere("latch, 1 counts, 2 wait", k_fewer, count_and_wait(1, 2));
}

/// The waiter destroys the latch when `finished` permits it.
template <class Finished>
auto destroy_after_wait(int counters, Finished finished) {
    return [=](run& r) {
        struct state {
            std::optional<latch> met;
        };
        auto& s = r.make<state>();
        s.met.emplace(counters);
        for (int t = 0; t != counters; ++t) {
            r.thread([&s] { s.met->count_down(); });
        }
        r.thread([&s, finished] {
            finished(*s.met);
            s.met.reset();
        });
    };
}

TEST(model_latch, may_be_destroyed_after_wait) {
    const auto wait = [](latch& l) { l.wait(); };
    expect_passes_everywhere("latch destroyed, 1 counts", k_fewer, destroy_after_wait(1, wait));
    expect_passes_everywhere("latch destroyed, 2 count", k_fewer, destroy_after_wait(2, wait));
}

TEST(model_latch, may_be_destroyed_before_the_suspension_is_complete) {
    expect_passes_everywhere("a suspended task destroys a latch", k_fewer, [](run& r) {
        struct state {
            std::optional<latch> met;
            std::optional<waiter> suspended;
        };
        auto& s = r.make<state>();
        s.met.emplace(1);
        s.suspended.emplace();
        suspend_in_two(
            r, s, [](state& in, waiter& self) { return in.met->opened.enqueue(self); },
            [](state& in) { in.met.reset(); });
        r.thread([&s] { s.met->count_down(); });
    });
}

/// Shows why the count and the gate are separate.
TEST(model_latch, may_not_be_destroyed_when_only_the_count_is_zero) {
    const auto found = explore(k_fewer, destroy_after_wait(1, [](latch& l) {
                                   if (l.left.load(std::memory_order_acquire) != 0) {
                                       l.wait();
                                   }
                               }));
    EXPECT_FAILS(found, lifetime);
}

}  // namespace
