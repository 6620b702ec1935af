// SPDX-License-Identifier: BSL-1.0
// The ready deque: every item is taken exactly once, by its owner, a thief or the waiter that
// removes it from the middle, with its contents visible, also while the array grows and while a
// thief takes over private items; and no worker sleeps beside a private item.
#include "protocol.hpp"

#include <quern/scheduler/detail/ready_deque.hpp>

#include <array>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

using fenced = model::fenced_atomics;
using unfenced = model::unfenced_atomics;

struct item {
    var<int> payload = 0;
    atomic<int> taken = 0;
    atomic<std::uint32_t> position = 0;
};

template <class Atomics = fenced>
struct shared {
    atomic<std::uint32_t> between = 0;
    quern::detail::ready_deque<Atomics, item> deque;
    std::array<item, 4> items;

    explicit shared(std::uint32_t capacity = 2) : deque((fenced::between = &between, capacity)) {}

    bool push(int i) {
        items[static_cast<std::size_t>(i)].payload = 7;
        return deque.push(&items[static_cast<std::size_t>(i)]);
    }
    void push_public(int i) {
        push(i);
        deque.publish_all();
    }
    bool take(item* got) {
        if (got != nullptr) {
            check(got->payload == 7, "what was written before the push is visible");
            got->taken.fetch_add(1, std::memory_order_relaxed);
        }
        return got != nullptr;
    }
    void remove(int i) {
        item& wanted = items[static_cast<std::size_t>(i)];
        take(deque.remove(wanted) ? &wanted : nullptr);
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

template <class Shared>
void thief(run& r, Shared& s, int attempts) {
    r.thread([&s, attempts] {
        for (int i = 0; i < attempts; ++i) {
            s.take(s.deque.steal());
        }
    });
}

template <class Shared>
void starving_thief(run& r, Shared& s) {
    r.thread([&s] {
        s.deque.take_over();
        s.take(s.deque.steal());
    });
}

TEST(model_ready_deque, pop_against_a_thief) {
    model::expect_passes_everywhere("ready deque, 2 published, 2 popped, 1 thief of 2", {},
                                    [](run& r) {
                                        auto& s = r.make<shared<>>();
                                        r.thread([&s] {
                                            s.push(0);
                                            s.push_public(1);
                                            s.take(s.deque.pop());
                                            s.take(s.deque.pop());
                                        });
                                        thief(r, s, 2);
                                        r.at_end([&s] { s.check_all(2); });
                                    });
}

TEST(model_ready_deque, last_item_pushed_again) {
    model::expect_passes_everywhere("ready deque, published and popped three times, 1 thief of 2",
                                    {}, [](run& r) {
                                        auto& s = r.make<shared<>>();
                                        r.thread([&s] {
                                            for (int i = 0; i < 3; ++i) {
                                                s.push_public(i);
                                                s.take(s.deque.pop());
                                            }
                                        });
                                        thief(r, s, 2);
                                        r.at_end([&s] { s.check_all(3); });
                                    });
}

TEST(model_ready_deque, half_of_what_is_public_comes_back) {
    model::expect_passes_everywhere("ready deque, 3 published, popped, pushed again, 1 thief of 2",
                                    {}, [](run& r) {
                                        auto& s = r.make<shared<>>(4U);
                                        r.thread([&s] {
                                            s.push(0);
                                            s.push(1);
                                            s.push_public(2);
                                            s.take(s.deque.pop());
                                            s.push_public(3);
                                        });
                                        thief(r, s, 2);
                                        r.at_end([&s] { s.check_all(4); });
                                    });
}

TEST(model_ready_deque, owner_takes_a_certain_item_out) {
    model::expect_passes_everywhere("ready deque, taken out of the middle, 1 thief of 2", {},
                                    [](run& r) {
                                        auto& s = r.make<shared<>>(4U);
                                        r.thread([&s] {
                                            s.push_public(0);
                                            s.push(1);
                                            s.push(2);
                                            s.remove(1);
                                            check(s.items[1].taken.load() == 1, "it was private");
                                            s.remove(0);  // it is public
                                            s.deque.publish_all();
                                        });
                                        thief(r, s, 2);
                                        r.at_end([&s] { s.check_all(3); });
                                    });
}

TEST(model_ready_deque, growing_under_a_thief) {
    model::expect_passes_everywhere("ready deque, growing from 2 to 4, 1 thief of 2", {},
                                    [](run& r) {
                                        auto& s = r.make<shared<>>();
                                        r.thread([&s] {
                                            s.push_public(0);
                                            s.push_public(1);
                                            s.push(2);
                                            s.take(s.deque.pop());
                                        });
                                        thief(r, s, 2);
                                        r.at_end([&s] { s.check_all(3); });
                                    });
}

TEST(model_ready_deque, two_thieves) {
    model::expect_passes_everywhere("ready deque, 2 published, 1 popped, 2 thieves of 1", {},
                                    [](run& r) {
                                        auto& s = r.make<shared<>>();
                                        r.thread([&s] {
                                            s.push(0);
                                            s.push_public(1);
                                            s.take(s.deque.pop());
                                        });
                                        thief(r, s, 1);
                                        thief(r, s, 1);
                                        r.at_end([&s] { s.check_all(2); });
                                    });
}

template <class Atomics>
void popped_while_taken_over(run& r) {
    auto& s = r.make<shared<Atomics>>();
    r.thread([&s] {
        s.push(0);
        s.take(s.deque.pop());
        s.push(1);
    });
    starving_thief(r, s);
    r.at_end([&s] { s.check_all(2); });
}

TEST(model_ready_deque, pop_against_one_who_takes_over) {
    model::expect_passes_everywhere("ready deque, 1 popped, 1 pushed, 1 taken over", {},
                                    popped_while_taken_over<fenced>);
}

TEST(model_ready_deque, one_who_takes_over_needs_the_heavy_barrier) {
    model::expect_found_broken("a ready deque without the heavy barrier", {},
                               popped_while_taken_over<unfenced>);
}

template <class Atomics>
void taken_out_while_taken_over(run& r) {
    auto& s = r.make<shared<Atomics>>(4U);
    r.thread([&s] {
        s.push(0);
        s.push(1);
        s.remove(0);
    });
    starving_thief(r, s);
    r.at_end([&s] { s.check_all(2); });
}

TEST(model_ready_deque, removal_against_one_who_takes_over) {
    model::expect_passes_everywhere("ready deque, 2 pushed, the oldest taken out, 1 taken over", {},
                                    taken_out_while_taken_over<fenced>);
}

TEST(model_ready_deque, removal_needs_the_heavy_barrier_too) {
    model::expect_found_broken("removal from a ready deque without the heavy barrier", {},
                               taken_out_while_taken_over<unfenced>);
}

/// A worker about to sleep: request, heavy barrier, check, take over.
template <class Atomics>
void pushed_while_one_goes_to_sleep(run& r) {
    struct state : shared<Atomics> {
        atomic<int> answered = 0;
        atomic<int> found = 0;
    };
    auto& s = r.make<state>();
    r.thread([&s] {
        if (s.push(0)) {
            s.deque.arm();
            s.deque.publish_half();
            s.answered = 1;
        }
    });
    r.thread([&s] {
        s.deque.request_work(1);
        Atomics::heavy_barrier();
        s.found = s.deque.public_size() != 0 || s.deque.take_over() ? 1 : 0;
    });
    r.at_end([&s] {
        check(s.answered.load() == 1 || s.found.load() == 1, "nobody sleeps beside an item");
    });
}

TEST(model_ready_deque, nobody_sleeps_beside_a_private_item) {
    model::expect_passes_everywhere("ready deque, 1 pushed, 1 goes to sleep", {},
                                    pushed_while_one_goes_to_sleep<fenced>);
}

TEST(model_ready_deque, one_who_goes_to_sleep_needs_the_heavy_barrier) {
    model::expect_found_broken("sleep beside a ready deque without the heavy barrier", {},
                               pushed_while_one_goes_to_sleep<unfenced>);
}

}  // namespace
