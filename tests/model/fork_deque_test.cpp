// SPDX-License-Identifier: BSL-1.0
// The fork deque (src/scheduler/README.md, "Fork deque"): every entry runs exactly once; results
// and slots are never seen half written, also while a thief takes private entries over; a reset
// never meets a thief; no request of a thief is lost; and no worker sleeps beside a private entry.
#include "protocol.hpp"

#include <quern/scheduler/detail/completion.hpp>
#include <quern/scheduler/detail/fork_deque.hpp>

#include <array>

namespace {

using model::atomic;
using model::atomics;
using model::check;
using model::run;
using model::var;

struct entry {
    quern::detail::completion<model::protocol_atomics, int> joined;
    var<int> argument = 0;
    var<int> result = 0;
    atomic<int> runs = 0;

    void execute() {
        runs.fetch_add(1, std::memory_order_relaxed);
        result = argument + 1;
    }
};

using fenced = model::fenced_atomics;
using unfenced = model::unfenced_atomics;

enum class publishing { nothing, half, all };

constexpr int k_capacity = 4;

template <class Atomics = fenced>
struct stack {
    using fork_deque = quern::detail::fork_deque<Atomics, entry>;
    using slot = typename fork_deque::slot;

    atomic<std::uint32_t> between = 0;
    std::array<slot, k_capacity + 1> slots;
    fork_deque deque{(fenced::between = &between, slots.data()), slots.data() + k_capacity};
    std::array<entry, 4> entries;
    int used = 0;

    /// fork_join nested `depth` deep; each level forks one entry and continues below.
    void fork(slot* p, int depth, publishing how) {
        if (depth == 0) {
            return;
        }
        entry& e = entries[static_cast<std::size_t>(used++)];
        e.argument = 1;
        if (deque.push(p, &e)) {
            deque.arm();
            if (how == publishing::half) {
                deque.publish_half();
            } else if (how == publishing::all) {
                deque.publish_all();
            }
            deque.force_slow_path();  // so that every push publishes
        }
        fork(p + 1, depth - 1, how);
        if (deque.pop(p) || deque.reclaim(p)) {
            e.execute();
        } else {
            while (!e.joined.done()) {
                atomics::pause();
            }
            deque.reset(p);
        }
        check(e.result == 2, "the child has run when its join returns");
    }

    void thief(int attempts) {
        for (int i = 0; i < attempts; ++i) {
            if (entry* e = deque.steal()) {
                e->execute();
                e->joined.complete();
            }
        }
    }

    /// Takes over, and runs the entries that are public then.
    void starving_thief() {
        deque.take_over();
        thief(1);
    }

    void check_runs() {
        for (int i = 0; i < used; ++i) {
            check(entries[static_cast<std::size_t>(i)].runs.load() == 1, "each entry ran once");
        }
    }
};

void one_owner(run& r, int depth, int rounds, int thieves, int attempts, publishing how) {
    auto& s = r.make<stack<>>();
    r.thread([&s, depth, rounds, how] {
        for (int i = 0; i < rounds; ++i) {
            s.fork(s.slots.data(), depth, how);
        }
    });
    for (int i = 0; i < thieves; ++i) {
        r.thread([&s, attempts] { s.thief(attempts); });
    }
    r.at_end([&s] { s.check_runs(); });
}

constexpr model::options k_read_set{.pause = model::pause_wakes::read_set};

TEST(model_fork_deque, nested_two_deep_with_one_thief) {
    model::expect_passes_everywhere("fork deque, depth 2, 1 thief of 2, half", k_read_set,
                                    [](run& r) { one_owner(r, 2, 1, 1, 2, publishing::half); });
    model::expect_passes_everywhere("fork deque, depth 2, 1 thief of 2, all", k_read_set,
                                    [](run& r) { one_owner(r, 2, 1, 1, 2, publishing::all); });
}

TEST(model_fork_deque, nested_three_deep_with_one_thief) {
    model::expect_passes_everywhere("fork deque, depth 3, 1 thief of 3, half", k_read_set,
                                    [](run& r) { one_owner(r, 3, 1, 1, 3, publishing::half); });
}

TEST(model_fork_deque, slots_are_used_again) {
    model::expect_passes_everywhere("fork deque, depth 1 three times, 1 thief of 3", k_read_set,
                                    [](run& r) { one_owner(r, 1, 3, 1, 3, publishing::all); });
    model::expect_passes_everywhere("fork deque, depth 2 twice, 1 thief of 2", k_read_set,
                                    [](run& r) { one_owner(r, 2, 2, 1, 2, publishing::all); });
}

TEST(model_fork_deque, two_thieves) {
    model::expect_passes_everywhere("fork deque, depth 2, 2 thieves of 1", k_read_set,
                                    [](run& r) { one_owner(r, 2, 1, 2, 1, publishing::all); });
}

/// The thief announces itself on a gate and then leaves its request; the owner arms and reads the
/// gate. After the owner's next push an entry must be public.
void hunger(run& r, bool arm_first) {
    struct state : stack<> {
        atomic<int> gate = 0;
        atomic<int> asked = 0;
    };
    auto& s = r.make<state>();
    const auto slow_push = [&s, arm_first] {
        if (arm_first) {
            s.deque.arm();
        }
        const bool somebody = s.gate.load(std::memory_order_seq_cst) != 0;
        if (!arm_first) {
            s.deque.arm();
        }
        if (somebody) {
            s.deque.publish_all();
        }
    };
    r.thread([&s, slow_push] {
        if (s.deque.push(s.slots.data(), &s.entries[0])) {
            slow_push();
        }
        while (s.asked.load(std::memory_order_acquire) == 0) {
            atomics::pause();
        }
        if (s.deque.push(s.slots.data() + 1, &s.entries[1])) {
            slow_push();
        }
        check(s.deque.has_public(), "after the next push the thief finds something");
    });
    r.thread([&s] {
        s.gate.fetch_add(1, std::memory_order_seq_cst);
        s.deque.request_work(1);
        s.asked.store(1, std::memory_order_release);
    });
}

TEST(model_fork_deque, a_request_is_never_lost) {
    model::expect_passes_everywhere("hunger", k_read_set, [](run& r) { hunger(r, true); });
}

TEST(model_fork_deque, looking_before_arming_loses_the_request) {
    model::expect_found_broken("look, then arm", k_read_set, [](run& r) { hunger(r, false); });
}

TEST(model_fork_deque, resetting_while_entries_are_public_is_found) {
    model::expect_found_broken("reset without waiting", k_read_set, [](run& r) {
        auto& s = r.make<stack<>>();
        r.thread([&s] {
            for (int i = 0; i < 2; ++i) {
                entry& e = s.entries[static_cast<std::size_t>(s.used++)];
                e.argument = 1;
                s.deque.push(s.slots.data(), &e);
                s.deque.publish_all();
                if (s.deque.pop(s.slots.data()) || s.deque.reclaim(s.slots.data())) {
                    e.execute();
                } else {
                    s.deque.reset(s.slots.data());  // the thief may still be reading the slot
                }
            }
        });
        r.thread([&s] { s.thief(2); });
    });
}

/// `rounds` forks, nested `depth` deep and published or not, beside a thief that takes over.
template <class Atomics>
void taken_over(run& r, int depth, int rounds, publishing how) {
    auto& s = r.make<stack<Atomics>>();
    r.thread([&s, depth, rounds, how] {
        for (int i = 0; i < rounds; ++i) {
            s.fork(s.slots.data(), depth, how);
        }
    });
    r.thread([&s] { s.starving_thief(); });
    r.at_end([&s] { s.check_runs(); });
}

TEST(model_fork_deque, pop_against_one_who_takes_over) {
    model::expect_passes_everywhere("fork deque, depth 1, 1 takes over", k_read_set, [](run& r) {
        taken_over<fenced>(r, 1, 1, publishing::nothing);
    });
    model::expect_passes_everywhere("fork deque, depth 2, 1 takes over", k_read_set, [](run& r) {
        taken_over<fenced>(r, 2, 1, publishing::nothing);
    });
}

TEST(model_fork_deque, slots_are_used_again_while_one_takes_over) {
    model::expect_passes_everywhere(
        "fork deque, depth 1 three times, 1 takes over", k_read_set,
        [](run& r) { taken_over<fenced>(r, 1, 3, publishing::nothing); });
}

TEST(model_fork_deque, entries_are_published_while_one_takes_over) {
    model::expect_passes_everywhere("fork deque, depth 2, half public, 1 takes over", k_read_set,
                                    [](run& r) { taken_over<fenced>(r, 2, 1, publishing::half); });
    model::expect_passes_everywhere("fork deque, depth 1 twice, public, 1 takes over", k_read_set,
                                    [](run& r) { taken_over<fenced>(r, 1, 2, publishing::all); });
}

TEST(model_fork_deque, one_who_takes_over_needs_the_heavy_barrier) {
    model::expect_found_broken("a fork deque without the heavy barrier", k_read_set,
                               [](run& r) { taken_over<unfenced>(r, 1, 1, publishing::nothing); });
}

/// One thief takes over and one steals, while the owner waits for a stolen entry and begins again.
TEST(model_fork_deque, reset_against_one_who_takes_over) {
    model::expect_passes_everywhere("fork deque, depth 1 twice, 1 thief, 1 takes over", k_read_set,
                                    [](run& r) {
                                        auto& s = r.make<stack<>>();
                                        r.thread([&s] {
                                            s.fork(s.slots.data(), 1, publishing::all);
                                            s.fork(s.slots.data(), 1, publishing::nothing);
                                        });
                                        r.thread([&s] { s.thief(1); });
                                        r.thread([&s] { s.deque.take_over(); });
                                        r.at_end([&s] { s.check_runs(); });
                                    });
}

TEST(model_fork_deque, two_who_take_over) {
    model::expect_passes_everywhere("fork deque, depth 1, 2 take over", k_read_set, [](run& r) {
        auto& s = r.make<stack<>>();
        r.thread([&s] { s.fork(s.slots.data(), 1, publishing::nothing); });
        r.thread([&s] { s.starving_thief(); });
        r.thread([&s] { s.starving_thief(); });
        r.at_end([&s] { s.check_runs(); });
    });
}

/// A worker about to sleep: request, heavy barrier, check, take over.
template <class Atomics>
void pushed_while_one_goes_to_sleep(run& r) {
    struct state : stack<Atomics> {
        atomic<int> answered = 0;
        atomic<int> found = 0;
    };
    auto& s = r.make<state>();
    s.deque.arm();
    r.thread([&s] {
        if (s.deque.push(s.slots.data(), &s.entries[0])) {
            s.deque.arm();
            s.deque.publish_half();
            s.answered = 1;
        }
    });
    r.thread([&s] {
        s.deque.request_work(1);
        Atomics::heavy_barrier();
        s.found = s.deque.has_public() || s.deque.take_over() ? 1 : 0;
    });
    r.at_end([&s] {
        check(s.answered.load() == 1 || s.found.load() == 1, "no worker sleeps beside an entry");
    });
}

TEST(model_fork_deque, no_worker_sleeps_beside_a_private_entry) {
    model::expect_passes_everywhere("fork deque, 1 pushed, 1 goes to sleep", k_read_set,
                                    pushed_while_one_goes_to_sleep<fenced>);
}

TEST(model_fork_deque, one_who_goes_to_sleep_needs_the_heavy_barrier) {
    model::expect_found_broken("sleep beside a fork deque without the heavy barrier", k_read_set,
                               pushed_while_one_goes_to_sleep<unfenced>);
}

}  // namespace
