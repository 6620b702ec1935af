// SPDX-License-Identifier: BSL-1.0
// Known-good and known-bad algorithms with their verdicts: Peterson, ticket lock, Treiber's stack,
// Chase and Lev's deque. They also show how to write a model. Run by ctest. None of this is
// production code, and the broken ones must stay broken.
#include "expectations.hpp"

namespace {

using model::atomic;
using model::atomics;
using model::check;
using model::explore;
using model::memory;
using model::options;
using model::result;
using model::run;
using model::var;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto seq_cst = std::memory_order_seq_cst;

// ---- Peterson's lock

struct peterson {
    atomic<int> wants[2]{0, 0};
    atomic<int> turn{0};
    atomic<int> inside{0};

    void lock_use_unlock(int me, std::memory_order order) {
        wants[me].store(1, order);
        turn.store(1 - me, order);
        while (wants[1 - me].load(seq_cst) == 1 && turn.load(seq_cst) == 1 - me)
            atomics::pause();
        check(inside.load(relaxed) == 0, "alone inside");
        inside.store(1, relaxed);
        inside.store(0, relaxed);
        wants[me].store(0, release);
    }
};

result two_in_peterson(memory stores, std::memory_order order) {
    return explore({.stores = stores}, [=](run& r) {
        auto& lock = r.make<peterson>();
        for (int me = 0; me != 2; ++me)
            r.thread([&lock, me, order] { lock.lock_use_unlock(me, order); });
    });
}

TEST(model_classics, peterson_needs_seq_cst_stores) {
    EXPECT_PASSES(two_in_peterson(memory::sequential, relaxed));
    EXPECT_PASSES(two_in_peterson(memory::tso, seq_cst));
    EXPECT_PASSES(two_in_peterson(memory::pso, seq_cst));
    EXPECT_FAILS(two_in_peterson(memory::tso, relaxed), check);
    EXPECT_FAILS(two_in_peterson(memory::tso, release), check);
}

// ---- ticket lock

result ticket_lock(int threads, std::memory_order unlock, memory stores) {
    return explore({.stores = stores}, [=](run& r) {
        struct state {
            atomic<unsigned> next{0}, serving{0};
            var<int> total{0};
        };
        auto& s = r.make<state>();
        for (int t = 0; t != threads; ++t)
            r.thread([&s, unlock] {
                const unsigned mine = s.next.fetch_add(1, relaxed);
                while (s.serving.load(acquire) != mine)
                    atomics::pause();
                s.total = s.total + 1;
                s.serving.store(mine + 1, unlock);
            });
        r.at_end([&s, threads] { check(s.total == threads, "each was inside once"); });
    });
}

TEST(model_classics, a_ticket_lock_needs_release) {
    EXPECT_PASSES(ticket_lock(3, release, memory::sequential));
    EXPECT_PASSES(ticket_lock(3, release, memory::pso));
    EXPECT_FAILS(ticket_lock(2, relaxed, memory::sequential), race);
}

// ---- a lock that sleeps

// 0 free, 1 held, 2 held and a thread may sleep (Drepper, "Futexes are tricky", 2011, the third
// mutex).
result sleeping_lock(int threads, std::uint32_t mark_after_sleep, const options& o) {
    return explore(o, [=](run& r) {
        struct state {
            atomic<std::uint32_t> word{0};
            var<int> total{0};
        };
        auto& s = r.make<state>();
        for (int t = 0; t != threads; ++t)
            r.thread([&s, mark_after_sleep] {
                std::uint32_t seen = 0;
                std::uint32_t mark = 2;
                if (!s.word.compare_exchange_strong(seen, 1, acquire, relaxed)) {
                    if (seen != 2) seen = s.word.exchange(2, acquire);
                    while (seen != 0) {
                        atomics::futex_wait(s.word, mark);
                        mark = mark_after_sleep;
                        seen = s.word.exchange(mark, acquire);
                    }
                }
                s.total = s.total + 1;
                if (s.word.exchange(0, release) == 2) atomics::futex_wake(s.word, 1);
            });
        r.at_end([&s, threads] { check(s.total == threads, "each was inside once"); });
    });
}

TEST(model_classics, a_sleeping_lock_must_remember_the_other_sleepers) {
    EXPECT_PASSES(sleeping_lock(2, 2, {}));
    EXPECT_PASSES(sleeping_lock(3, 2, {}));
    EXPECT_PASSES(sleeping_lock(2, 2, {.stores = memory::pso, .spurious_wakeups = 1}));
    EXPECT_FAILS(sleeping_lock(3, 1, {}), deadlock);
}

// ---- Treiber's stack

// Three nodes, linked 1 -> 2 -> 3; 0 is no node. The upper half of `head` counts changes when
// `tagged`.
struct treiber {
    atomic<std::uint64_t> head{1};
    atomic<std::uint64_t> next[4]{0, 2, 3, 0};
    bool tagged;

    explicit treiber(bool with_tag) : tagged(with_tag) {}
    [[nodiscard]] std::uint64_t moved(std::uint64_t old, std::uint64_t node) const {
        return tagged ? ((old >> 32) + 1) << 32 | node : node;
    }
    std::uint64_t pop() {
        for (std::uint64_t old = head.load(acquire);;) {
            const std::uint64_t node = old & 0xffffffff;
            if (node == 0) return 0;
            const std::uint64_t after = next[node].load(relaxed);
            if (head.compare_exchange_weak(old, moved(old, after), acquire, acquire)) return node;
        }
    }
    void push(std::uint64_t node) {
        std::uint64_t old = head.load(relaxed);
        do
            next[node].store(old & 0xffffffff, relaxed);
        while (!head.compare_exchange_weak(old, moved(old, node), release, relaxed));
    }
};

result pop_against_pop_pop_push(bool tagged) {
    return explore({}, [=](run& r) {
        struct state {
            treiber stack;
            int owners[4] = {};
            explicit state(bool with_tag) : stack(with_tag) {}
            void take(std::uint64_t node) {
                check(node == 0 || ++owners[node] == 1, "a node has one owner");
            }
        };
        auto& s = r.make<state>(tagged);
        r.thread([&s] { s.take(s.stack.pop()); });
        r.thread([&s] {
            const std::uint64_t first = s.stack.pop();
            s.take(first);
            s.take(s.stack.pop());
            if (first == 0) return;
            --s.owners[first];
            s.stack.push(first);
        });
        r.at_end([&s] {
            for (int i = 0; i != 3; ++i)
                s.take(s.stack.pop());
        });
    });
}

TEST(model_classics, treibers_stack_suffers_from_aba_without_a_tag) {
    EXPECT_FAILS(pop_against_pop_pop_push(false), check);
    EXPECT_PASSES(pop_against_pop_pop_push(true));
}

// ---- Chase and Lev's deque

struct chase_lev {
    atomic<int> top{0}, bottom{0};
    atomic<int> slots[4]{0, 0, 0, 0};
    bool fenced;

    explicit chase_lev(bool with_fence) : fenced(with_fence) {}
    void push(int value) {
        const int b = bottom.load(relaxed);
        slots[b].store(value, relaxed);
        bottom.store(b + 1, release);
    }
    int pop() {
        const int b = bottom.load(relaxed) - 1;
        bottom.store(b, relaxed);
        if (fenced) atomics::fence(seq_cst);  // the store of bottom comes before the load of top
        int t = top.load(relaxed);
        if (t > b) {
            bottom.store(b + 1, relaxed);
            return 0;
        }
        const int value = slots[b].load(relaxed);
        if (t != b) return value;
        const bool won = top.compare_exchange_strong(t, t + 1, seq_cst, relaxed);
        bottom.store(b + 1, relaxed);
        return won ? value : 0;
    }
    int steal() {
        int t = top.load(acquire);
        if (t >= bottom.load(acquire)) return 0;
        const int value = slots[t].load(relaxed);
        return top.compare_exchange_strong(t, t + 1, seq_cst, relaxed) ? value : 0;
    }
};

result owner_against_thieves(bool fenced, int thieves, int steals, memory stores) {
    return explore({.stores = stores}, [=](run& r) {
        struct state {
            chase_lev deque;
            int taken[3] = {};
            explicit state(bool with_fence) : deque(with_fence) {}
            void take(int value) {
                check(value == 0 || ++taken[value] == 1, "an entry is taken once");
            }
        };
        auto& s = r.make<state>(fenced);
        r.thread([&s] {
            s.deque.push(1);
            s.deque.push(2);
            s.take(s.deque.pop());
            s.take(s.deque.pop());
        });
        for (int t = 0; t != thieves; ++t)
            r.thread([&s, steals] {
                for (int i = 0; i != steals; ++i)
                    s.take(s.deque.steal());
            });
        r.at_end([&s] { check(s.taken[1] == 1 && s.taken[2] == 1, "no entry is lost"); });
    });
}

TEST(model_classics, chase_and_levs_pop_needs_its_fence) {
    EXPECT_PASSES(owner_against_thieves(true, 1, 2, memory::tso));
    EXPECT_PASSES(owner_against_thieves(true, 2, 1, memory::tso));
    EXPECT_PASSES(owner_against_thieves(true, 1, 2, memory::pso));
    EXPECT_PASSES(owner_against_thieves(false, 1, 2, memory::sequential));
    EXPECT_FAILS(owner_against_thieves(false, 1, 2, memory::tso), check);
}

}  // namespace
