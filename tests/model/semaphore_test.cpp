// SPDX-License-Identifier: BSL-1.0
// The semaphore's protocol (quern/sync/detail/permits.hpp) in every interleaving: permits are
// neither lost nor doubled, and the semaphore may be destroyed when they have been taken.
#include <quern/sync/detail/permits.hpp>

#include "sync_parts.hpp"

namespace {

using namespace model_sync;
using model::expect_passes_everywhere;
using model::run;

using permits = quern::detail::permits<model::protocol_atomics, waiter, spin>;

void acquire(permits& p) {
    if (!p.take()) {
        waiter self;
        if (p.enqueue(self)) {
            self.sleep();
        }
    }
}

void release(permits& p, std::ptrdiff_t n) { wake_all(p.give(n).next_owners); }

/// As a lock: each thread takes the one permit and returns it.
auto exclusion(int threads, int rounds) {
    return [=](run& r) {
        struct state {
            permits one{1};
            model::var<int> total{0};
        };
        auto& s = r.make<state>();
        for (int t = 0; t != threads; ++t) {
            r.thread([&s, rounds] {
                for (int i = 0; i != rounds; ++i) {
                    acquire(s.one);
                    s.total = s.total + 1;
                    release(s.one, 1);
                }
            });
        }
        r.at_end([&s, threads, rounds] {
            model::check(s.total == threads * rounds, "each was inside");
            model::check(s.one.try_take() && !s.one.try_take(), "one permit is left");
        });
    };
}

TEST(model_semaphore, excludes_and_loses_no_permit) {
    expect_passes_everywhere("semaphore, 2 threads", {}, exclusion(2, 1));
    expect_passes_everywhere("semaphore, 2 threads twice", k_fewer, exclusion(2, 2));
    expect_passes_everywhere("semaphore, 3 threads", k_fewer, exclusion(3, 1));
}

/// Givers release two permits, one at a time. The taker of the last one destroys the semaphore.
auto last_one_destroys(int takers, int givers) {
    return [=](run& r) {
        struct state {
            std::optional<permits> semaphore;
            model::atomic<int> to_take{2};
        };
        auto& s = r.make<state>();
        s.semaphore.emplace(0);
        for (int t = 0; t != givers; ++t) {
            r.thread([&s, givers] {
                for (int i = 0; i != 2 / givers; ++i) {
                    release(*s.semaphore, 1);
                }
            });
        }
        for (int t = 0; t != takers; ++t) {
            r.thread([&s, takers] {
                bool last = false;
                for (int i = 0; i != 2 / takers; ++i) {
                    acquire(*s.semaphore);
                    last = s.to_take.fetch_sub(1, std::memory_order_acq_rel) == 1;
                }
                if (last) {
                    s.semaphore.reset();
                }
            });
        }
        r.at_end([&s] { model::check(!s.semaphore.has_value(), "all have been taken"); });
    };
}

TEST(model_semaphore, may_be_destroyed_when_all_have_their_permits) {
    expect_passes_everywhere("semaphore destroyed, 1 gives, 1 takes", k_fewer,
                             last_one_destroys(1, 1));
    expect_passes_everywhere("semaphore destroyed, 1 gives, 2 take", k_fewer,
                             last_one_destroys(2, 1));
    expect_passes_everywhere("semaphore destroyed, 2 give, 1 takes", k_fewer,
                             last_one_destroys(1, 2));
}

TEST(model_semaphore, may_be_destroyed_before_the_suspension_is_complete) {
    expect_passes_everywhere("a suspended task destroys a semaphore", k_fewer, [](run& r) {
        struct state {
            std::optional<permits> semaphore;
            std::optional<waiter> suspended;
        };
        auto& s = r.make<state>();
        s.semaphore.emplace(0);
        s.suspended.emplace();
        model::check(!s.semaphore->take(), "there is no permit yet");
        suspend_in_two(
            r, s, [](state& in, waiter& self) { return in.semaphore->enqueue(self); },
            [](state& in) { in.semaphore.reset(); });
        r.thread([&s] { release(*s.semaphore, 1); });
    });
}

/// One release of two permits for two waiters.
TEST(model_semaphore, one_release_serves_several) {
    expect_passes_everywhere("semaphore, 1 gives 2, 2 take", k_fewer, [](run& r) {
        auto& s = r.make<permits>(0);
        r.thread([&s] { release(s, 2); });
        for (int t = 0; t != 2; ++t) {
            r.thread([&s] { acquire(s); });
        }
        r.at_end([&s] { model::check(!s.try_take(), "no permit is left"); });
    });
}

struct limited_permits {
    explicit limited_permits(std::ptrdiff_t count) : all(std::in_place, count) {}

    bool acquire_in_time() {
        return limited.wait([this](waiter& self) { return all->enqueue(self); });
    }
    void ring() {
        limited.ring([this](waiter& w) { return all->withdraw(w) && wake_expired(w); });
    }

    std::optional<permits> all;
    limited_wait limited;
    int got = 0;
};

/// A thread has claimed a permit with a limit while permits come.
auto limit_against_release(int releases, int each) {
    return [=](run& r) {
        auto& s = r.make<limited_permits>(0);
        model::check(!s.all->take(), "there is no permit yet");
        r.thread([&s] { s.got = s.acquire_in_time() ? 1 : 0; });
        r.thread([&s] { s.ring(); });
        for (int i = 0; i != releases; ++i) {
            r.thread([&s, each] { release(*s.all, each); });
        }
        r.at_end([&s, releases, each] {
            for (int left = releases * each - s.got; left != 0; --left) {
                model::check(s.all->try_take(), "no permit is lost");
            }
            model::check(!s.all->try_take(), "and none is doubled");
        });
    };
}

TEST(model_semaphore, one_whose_limit_passes_gives_its_claim_back) {
    expect_passes_everywhere("a limit, 1 gives 1", k_fewer, limit_against_release(1, 1));
    expect_passes_everywhere("a limit, 1 gives 2", k_fewer, limit_against_release(1, 2));
    expect_passes_everywhere("a limit, 2 give 1", k_fewer, limit_against_release(2, 1));
}

TEST(model_semaphore, a_limit_ends_the_wait_when_no_permit_comes) {
    expect_passes_everywhere("a limit alone, semaphore", k_fewer, [](run& r) {
        auto& s = r.make<limited_permits>(0);
        model::check(!s.all->take(), "there is no permit yet");
        r.thread([&s] { model::check(!s.acquire_in_time(), "it has not got one"); });
        r.thread([&s] { s.ring(); });
        r.at_end([&s] { model::check(s.all->count() == 0, "nobody wants one at the end"); });
    });
}

/// Two threads wait, the first with a limit. One permit comes, and another one if the first thread
/// did not get it.
TEST(model_semaphore, one_whose_limit_passes_leaves_the_permit_to_the_next) {
    expect_passes_everywhere("a limit, and one behind it", k_fewer, [](run& r) {
        struct state : limited_permits {
            state() : limited_permits(0) {}
            std::optional<waiter> other;
        };
        auto& s = r.make<state>();
        model::check(!s.all->take() && !s.all->take(), "there is no permit yet");
        s.all->enqueue(s.limited.self());
        s.other.emplace();
        s.all->enqueue(*s.other);
        r.thread([&s] {
            if (s.limited.end()) {
                release(*s.all, 1);
            }
        });
        r.thread([&s] {
            s.other->sleep();
            s.other.reset();
        });
        r.thread([&s] { s.ring(); });
        r.thread([&s] { release(*s.all, 1); });
        r.at_end([&s] { model::check(!s.all->try_take(), "no permit is left"); });
    });
}

TEST(model_semaphore, may_be_destroyed_by_one_whose_limit_did_not_pass_in_time) {
    expect_passes_everywhere("a limit, and who gets the permit destroys", k_fewer, [](run& r) {
        auto& s = r.make<limited_permits>(0);
        model::check(!s.all->take(), "there is no permit yet");
        r.thread([&s] {
            if (!s.acquire_in_time()) {
                acquire(*s.all);
            }
            s.all.reset();
        });
        r.thread([&s] { s.ring(); });
        r.thread([&s] { release(*s.all, 1); });
    });
}

TEST(model_semaphore, what_precedes_a_release_is_seen) {
    expect_passes_everywhere("semaphore publishes", {}, [](run& r) {
        struct state {
            permits filled{0};
            model::var<int> item{0};
        };
        auto& s = r.make<state>();
        r.thread([&s] {
            s.item = 7;
            release(s.filled, 1);
        });
        r.thread([&s] {
            acquire(s.filled);
            model::check(s.item == 7, "the item is there");
        });
    });
}

}  // namespace
