// SPDX-License-Identifier: BSL-1.0
// The chain of waiters of a shared state (src/task/README.md, "Shared state"): each waiter is
// notified once or has left, and one that has left is not accessed any more.
#include "protocol.hpp"

#include <quern/task/detail/waiter_chain.hpp>

#include <array>
#include <cstddef>
#include <optional>

namespace {

using model::check;
using model::run;
using model::var;

struct waiter {
    explicit waiter(bool leaves) : can_leave(leaves) {}

    var<waiter*> next = nullptr;
    var<bool> is_linked = false;
    var<waiter*> newer_one = nullptr;
    const bool can_leave;
    var<int>* told = nullptr;

    var<waiter*>* newer() { return can_leave ? &newer_one : nullptr; }
};

template <class Atomics>
struct chain : quern::detail::waiter_chain<Atomics, waiter> {};

/// A chain and the waiters that will be in it. A waiter is destroyed as soon as it may be.
template <class Atomics = model::protocol_atomics>
struct state {
    static constexpr std::size_t k_most = 4;

    void make(std::size_t i, bool leaves) {
        all.at(i).emplace(leaves);
        all.at(i)->told = &told.at(i);
    }
    /// False: the result is there.
    bool add(std::size_t i) {
        if (waiters.add(*all.at(i))) {
            return true;
        }
        check(result == 7, "one who comes late sees the result");
        late.at(i) = 1;
        return false;
    }
    void leave(std::size_t i) {
        if (waiters.leave(*all.at(i))) {
            all.at(i).reset();
            left.at(i) = 1;
        } else {
            check(result == 7, "one who cannot leave sees the result");
        }
    }
    void add_and_leave(std::size_t i) {
        if (add(i)) {
            leave(i);
        }
    }
    /// As the producer.
    void settle() {
        result = 7;
        for (waiter* w = waiters.close(); w != nullptr;) {
            waiter* const after = w->next;
            *w->told = *w->told + 1;
            w = after;
        }
    }
    void expect_each_told_or_gone(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            check(told.at(i) + late.at(i) + left.at(i) == 1, "told, late, or has left");
        }
    }

    chain<Atomics> waiters;
    std::array<std::optional<waiter>, k_most> all;
    std::array<var<int>, k_most> told{0, 0, 0, 0};
    std::array<var<int>, k_most> late{0, 0, 0, 0};
    std::array<var<int>, k_most> left{0, 0, 0, 0};
    var<int> result = 0;
};

TEST(model_waiter_chain, a_waiter_leaves_or_is_told) {
    model::expect_passes_everywhere("waiter chain, one leaves", {}, [](run& r) {
        auto& s = r.make<state<>>();
        s.make(0, true);
        r.thread([&s] { s.add_and_leave(0); });
        r.thread([&s] { s.settle(); });
        r.at_end([&s] { s.expect_each_told_or_gone(1); });
    });
}

TEST(model_waiter_chain, waiters_come_and_leave_at_once) {
    model::expect_passes_everywhere("waiter chain, two come and leave", {}, [](run& r) {
        auto& s = r.make<state<>>();
        s.make(0, true);
        s.make(1, true);
        r.thread([&s] { s.add_and_leave(0); });
        r.thread([&s] { s.add_and_leave(1); });
        r.thread([&s] { s.settle(); });
        r.at_end([&s] { s.expect_each_told_or_gone(2); });
    });
}

/// A chain of three; the first or the last two leave, and perhaps one more comes.
void three(run& r, std::size_t first_leaver, bool one_stays, bool one_comes) {
    auto& s = r.make<state<>>();
    for (std::size_t i = 0; i < 3; ++i) {
        s.make(i, !one_stays || i != 1);
        s.add(i);
    }
    s.make(3, false);
    r.thread([&s, first_leaver] { s.leave(first_leaver); });
    if (!one_stays) {
        r.thread([&s] { s.leave(1); });
    }
    if (one_comes) {
        r.thread([&s] { s.add(3); });
    }
    r.thread([&s] { s.settle(); });
    r.at_end([&s, one_comes] { s.expect_each_told_or_gone(one_comes ? 4 : 3); });
}

TEST(model_waiter_chain, neighbours_leave_a_longer_chain) {
    model::expect_passes_everywhere("waiter chain, the older two of three leave", {},
                                    [](run& r) { three(r, 0, false, false); });
    model::expect_passes_everywhere("waiter chain, the younger two of three leave", {},
                                    [](run& r) { three(r, 2, false, false); });
}

TEST(model_waiter_chain, one_leaves_while_one_comes) {
    model::expect_passes_everywhere("waiter chain, the oldest leaves, one comes", {},
                                    [](run& r) { three(r, 0, true, true); });
    model::expect_passes_everywhere("waiter chain, the youngest leaves, one comes", {},
                                    [](run& r) { three(r, 2, true, true); });
}

TEST(model_waiter_chain, is_told_in_the_order_of_coming) {
    model::expect_passes_everywhere("waiter chain, order", {}, [](run& r) {
        auto& s = r.make<state<>>();
        for (std::size_t i = 0; i < 3; ++i) {
            s.make(i, i == 1);
            s.add(i);
        }
        r.thread([&s] { s.leave(1); });
        r.thread([&s] {
            s.result = 7;
            waiter* const first = s.waiters.close();
            check(first == &*s.all[0], "the oldest first");
            waiter* second = first->next;
            second = second->can_leave ? static_cast<waiter*>(second->next) : second;
            check(second == &*s.all[2], "the youngest last");
        });
    });
}

/// Broken on purpose: close() does not see that a waiter is leaving.
struct blind_atomics : model::protocol_atomics {
    struct blind : model::atomic<bool> {
        using model::atomic<bool>::atomic;
        bool load(std::memory_order) const noexcept { return false; }
    };
    template <class T>
    using atomic = std::conditional_t<std::is_same_v<T, bool>, blind, model::atomic<T>>;
};

TEST(model_waiter_chain, closing_while_one_leaves_is_found) {
    model::expect_found_broken("closing without the lock", {}, [](run& r) {
        auto& s = r.make<state<blind_atomics>>();
        for (std::size_t i = 0; i < 3; ++i) {
            s.make(i, true);
            s.add(i);
        }
        r.thread([&s] { s.leave(1); });
        r.thread([&s] { s.settle(); });
        r.at_end([&s] { s.expect_each_told_or_gone(3); });
    });
}

}  // namespace
