// SPDX-License-Identifier: BSL-1.0
// The protocol of the event, a gate that can be closed again (quern/sync/detail/gate.hpp), in every
// interleaving.
#include <quern/sync/detail/gate.hpp>

#include "sync_parts.hpp"

namespace {

using namespace model_sync;
using model::expect_passes_everywhere;
using model::run;

using gate = quern::detail::gate<model::protocol_atomics, waiter>;

struct event {
    void set() { wake_all(opened.open()); }
    void reset() { opened.close(); }
    void wait() {
        if (!opened.is_open()) {
            waiter self;
            if (opened.enqueue(self)) {
                self.sleep();
            }
        }
    }
    gate opened{false};
};

TEST(model_event, shows_what_was_done_before_it_was_set_for_the_first_or_the_second_time) {
    expect_passes_everywhere("event, set, reset, set", k_fewer, [](run& r) {
        struct state {
            event ready;
            model::var<int> done{0};
        };
        auto& s = r.make<state>();
        r.thread([&s] {
            s.done = 1;
            s.ready.set();
            s.ready.reset();
            s.ready.set();
        });
        for (int t = 0; t != 2; ++t) {
            r.thread([&s] {
                s.ready.wait();
                model::check(s.done == 1, "it is done");
            });
        }
    });
}

/// A thread waits twice, and its second waiter has the address of its first one. Meanwhile another
/// thread comes that may have seen the first waiter at the head of the list.
TEST(model_event, loses_nobody_when_a_waiter_comes_back_at_the_same_place) {
    expect_passes_everywhere("event, a waiter comes twice", k_fewer, [](run& r) {
        struct state {
            event ready;
            model::atomic<int> rounds{0};
            std::optional<waiter> place;
        };
        auto& s = r.make<state>();
        r.thread([&s] {
            for (int i = 0; i != 2; ++i) {
                s.place.emplace();
                if (s.ready.opened.enqueue(*s.place)) {
                    s.place->sleep();
                }
                s.place.reset();
                s.ready.reset();
                s.rounds.store(i + 1, std::memory_order_release);
            }
        });
        r.thread([&s] {
            for (int i = 0; i != 3; ++i) {
                while (s.rounds.load(std::memory_order_acquire) < i) {
                    model::atomics::pause();
                }
                s.ready.set();
            }
        });
        r.thread([&s] { s.ready.wait(); });
    });
}

TEST(model_event, two_may_set_it_and_one_reset_it) {
    expect_passes_everywhere("event, 2 set, 1 resets, 1 waits", k_fewer, [](run& r) {
        auto& ready = r.make<event>();
        r.thread([&ready] { ready.wait(); });
        r.thread([&ready] { ready.set(); });
        r.thread([&ready] {
            ready.reset();
            ready.set();
            ready.set();
        });
    });
}

bool wait_in_time(limited_wait& limited, event& ready) {
    return limited.wait([&ready](waiter& self) { return ready.opened.enqueue_in_time(self); });
}

auto withdraw_from(event& ready) {
    return [&ready](waiter& w) { return ready.opened.withdraw(w) && wake_expired(w); };
}

/// A thread waits with a limit, another without, and the event is set, perhaps reset and set again.
auto limit_against_set(int others, bool twice) {
    return [=](run& r) {
        struct state {
            event ready;
            limited_wait limited;
            model::var<int> done{0};
        };
        auto& s = r.make<state>();
        r.thread([&s] {
            if (wait_in_time(s.limited, s.ready)) {
                model::check(s.done == 1, "it is done");
            }
        });
        r.thread([&s] { s.limited.ring(withdraw_from(s.ready)); });
        r.thread([&s, twice] {
            s.done = 1;
            s.ready.set();
            if (twice) {
                s.ready.reset();
                s.ready.set();
            }
        });
        for (int i = 0; i != others; ++i) {
            r.thread([&s] { s.ready.wait(); });
        }
        r.at_end([&s] { model::check(s.ready.opened.is_open(), "it is set at the end"); });
    };
}

TEST(model_event, one_whose_limit_passes_leaves_the_others_in_the_list) {
    expect_passes_everywhere("a limit, and a set", k_fewer, limit_against_set(0, false));
    expect_passes_everywhere("a limit, set, reset, set", k_fewer, limit_against_set(0, true));
    expect_passes_everywhere("a limit, a set, another waits", k_fewer, limit_against_set(1, false));
}

TEST(model_event, a_limit_ends_the_wait_when_it_is_not_set) {
    expect_passes_everywhere("a limit alone, event", k_fewer, [](run& r) {
        struct state {
            event ready;
            limited_wait limited;
        };
        auto& s = r.make<state>();
        r.thread([&s] { model::check(!wait_in_time(s.limited, s.ready), "it is not set"); });
        r.thread([&s] { s.limited.ring(withdraw_from(s.ready)); });
    });
}

TEST(model_event, may_be_destroyed_by_one_that_waited_with_a_limit) {
    expect_passes_everywhere("event destroyed after a limit", k_fewer, [](run& r) {
        struct state {
            std::optional<event> ready;
            limited_wait limited;
        };
        auto& s = r.make<state>();
        s.ready.emplace();
        r.thread([&s] {
            if (!wait_in_time(s.limited, *s.ready)) {
                s.ready->wait();
            }
            s.ready.reset();
        });
        r.thread([&s] { s.limited.ring([&s](waiter& w) { return withdraw_from(*s.ready)(w); }); });
        r.thread([&s] { s.ready->set(); });
    });
}

TEST(model_event, may_be_destroyed_after_wait) {
    expect_passes_everywhere("event destroyed", k_fewer, [](run& r) {
        struct state {
            std::optional<event> ready;
        };
        auto& s = r.make<state>();
        s.ready.emplace();
        r.thread([&s] {
            s.ready->reset();
            s.ready->set();
        });
        r.thread([&s] {
            s.ready->wait();
            s.ready.reset();
        });
    });
}

}  // namespace
