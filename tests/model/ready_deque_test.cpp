// SPDX-License-Identifier: BSL-1.0
// The ready deque: every item is taken exactly once, by its owner or a thief, with its contents
// visible, also while the array grows.
#include "protocol.hpp"

#include <quern/scheduler/ready_deque.hpp>

#include <array>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

struct item {
    var<int> payload = 0;
    atomic<int> taken = 0;
};

struct shared {
    quern::detail::ready_deque<model::protocol_atomics, item> deque{2};
    std::array<item, 4> items;

    void push(int i) {
        items[static_cast<std::size_t>(i)].payload = 7;
        deque.push(&items[static_cast<std::size_t>(i)]);
    }
    void take(item* got) {
        if (got != nullptr) {
            check(got->payload == 7, "what was written before the push is visible");
            got->taken.fetch_add(1, std::memory_order_relaxed);
        }
    }
    void check_all(int count) {
        for (item* rest = deque.pop(); rest != nullptr; rest = deque.pop()) {
            take(rest);
        }
        for (int i = 0; i < count; ++i) {
            check(items[static_cast<std::size_t>(i)].taken.load() == 1, "taken exactly once");
        }
    }
};

void thief(run& r, shared& s, int attempts) {
    r.thread([&s, attempts] {
        for (int i = 0; i < attempts; ++i) {
            s.take(s.deque.steal());
        }
    });
}

TEST(model_ready_deque, pop_against_a_thief) {
    model::expect_passes_everywhere("ready deque, 2 pushed, 2 popped, 1 thief of 2", {},
                                    [](run& r) {
                                        auto& s = r.make<shared>();
                                        r.thread([&s] {
                                            s.push(0);
                                            s.push(1);
                                            s.take(s.deque.pop());
                                            s.take(s.deque.pop());
                                        });
                                        thief(r, s, 2);
                                        r.at_end([&s] { s.check_all(2); });
                                    });
}

TEST(model_ready_deque, last_item_pushed_again) {
    model::expect_passes_everywhere("ready deque, push and pop three times, 1 thief of 2", {},
                                    [](run& r) {
                                        auto& s = r.make<shared>();
                                        r.thread([&s] {
                                            for (int i = 0; i < 3; ++i) {
                                                s.push(i);
                                                s.take(s.deque.pop());
                                            }
                                        });
                                        thief(r, s, 2);
                                        r.at_end([&s] { s.check_all(3); });
                                    });
}

TEST(model_ready_deque, owner_takes_a_certain_item_back) {
    model::expect_passes_everywhere("ready deque, 2 pushed, both asked for by name, 1 thief of 2",
                                    {}, [](run& r) {
                                        auto& s = r.make<shared>();
                                        r.thread([&s] {
                                            s.push(0);
                                            s.push(1);
                                            // Never the youngest while the other one is there.
                                            item* const older = s.deque.pop_if(&s.items[0]);
                                            s.take(older);
                                            check(older == nullptr, "not under the younger one");
                                            s.take(s.deque.pop_if(&s.items[1]));
                                            s.take(s.deque.pop_if(&s.items[0]));
                                        });
                                        thief(r, s, 2);
                                        r.at_end([&s] { s.check_all(2); });
                                    });
}

TEST(model_ready_deque, growing_under_a_thief) {
    model::expect_passes_everywhere("ready deque, growing from 2 to 4, 1 thief of 2", {},
                                    [](run& r) {
                                        auto& s = r.make<shared>();
                                        r.thread([&s] {
                                            for (int i = 0; i < 3; ++i) {
                                                s.push(i);
                                            }
                                            s.take(s.deque.pop());
                                        });
                                        thief(r, s, 2);
                                        r.at_end([&s] { s.check_all(3); });
                                    });
}

TEST(model_ready_deque, two_thieves) {
    model::expect_passes_everywhere("ready deque, 2 pushed, 1 popped, 2 thieves of 1", {},
                                    [](run& r) {
                                        auto& s = r.make<shared>();
                                        r.thread([&s] {
                                            s.push(0);
                                            s.push(1);
                                            s.take(s.deque.pop());
                                        });
                                        thief(r, s, 1);
                                        thief(r, s, 1);
                                        r.at_end([&s] { s.check_all(2); });
                                    });
}

}  // namespace
