// SPDX-License-Identifier: BSL-1.0
// The protocol of a channel's wait lists (quern/sync/detail/node_queue.hpp) in every interleaving:
// nodes are neither lost nor doubled and keep their order, closing ends every wait, and the channel
// may be destroyed when its last value has been taken or it is known to be closed.
#include <quern/sync/detail/node_queue.hpp>

#include "sync_parts.hpp"

#include <array>
#include <optional>

namespace {

using namespace model_sync;
using model::expect_passes_everywhere;
using model::run;

struct node {
    model::var<node*> next{nullptr};
    model::var<int> value{0};
};

struct taker {
    void wake() noexcept { m_awake.store(1, std::memory_order_release); }
    void sleep() noexcept {
        while (m_awake.load(std::memory_order_acquire) == 0) {
            model::atomics::pause();
        }
    }

    model::var<taker*> next{nullptr};
    model::var<node*> got{nullptr};
    model::var<bool> late{false};
    model::var<bool> expired{false};

private:
    model::atomic<std::uint32_t> m_awake{0};
};

using queue = quern::detail::node_queue<model::protocol_atomics, node, taker, spin>;

bool put(queue& q, node& n) {
    taker* next_owner = nullptr;
    const bool done = q.put(n, next_owner);
    if (next_owner != nullptr) {
        next_owner->wake();
    }
    return done;
}

bool send(queue& q, node& n, int value) {
    n.value = value;
    return put(q, n);
}

/// Null: closed and empty.
node* take(queue& q) {
    if (node* const n = q.try_take()) {
        return n;
    }
    taker self;
    if (q.enqueue(self)) {
        self.sleep();
    }
    return self.got;
}

void wake_chain(taker* first) {
    while (first != nullptr) {
        taker* const next = first->next;
        first->wake();
        first = next;
    }
}

void close(queue& outer, queue& inner) {
    const auto [of_outer, of_inner] = queue::close(outer, inner);
    wake_chain(of_outer);
    wake_chain(of_inner);
}

/// Putters put the values 10 p + 0, 1, …; takers take the same number of nodes altogether.
auto exchange(int putters, int takers, int values) {
    return [=](run& r) {
        struct state {
            queue all;
            std::array<std::array<node, 4>, 3> nodes;
            std::array<model::var<int>, 32> times;
        };
        auto& s = r.make<state>();
        for (int p = 0; p != putters; ++p) {
            r.thread([&s, p, putters, values] {
                for (int i = 0; i != values / putters; ++i) {
                    model::check(send(s.all, s.nodes[p][i], 10 * p + i), "it is open");
                }
            });
        }
        for (int t = 0; t != takers; ++t) {
            r.thread([&s, takers, values] {
                std::array<int, 3> last{-1, -1, -1};
                for (int i = 0; i != values / takers; ++i) {
                    node* const n = take(s.all);
                    model::check(n != nullptr, "there is one for each");
                    const int value = n->value;
                    model::check(last[value / 10] < value, "in the order of their putter");
                    last[value / 10] = value;
                    s.times[value] = s.times[value] + 1;
                }
            });
        }
        r.at_end([&s, putters, values] {
            for (int p = 0; p != putters; ++p) {
                for (int i = 0; i != values / putters; ++i) {
                    model::check(s.times[10 * p + i] == 1, "each was taken once");
                }
            }
            model::check(s.all.try_take() == nullptr, "none is left");
        });
    };
}

TEST(model_channel, loses_no_node_and_keeps_the_order) {
    expect_passes_everywhere("channel, 1 puts 2, 1 takes 2", k_fewer, exchange(1, 1, 2));
    expect_passes_everywhere("channel, 1 puts 2, 2 take", k_fewer, exchange(1, 2, 2));
    expect_passes_everywhere("channel, 2 put, 1 takes 2", k_fewer, exchange(2, 1, 2));
}

/// Taken without waiting by two threads, some from each end.
TEST(model_channel, hands_nodes_out_in_the_order_of_both_ends) {
    expect_passes_everywhere("channel, nodes at both ends", k_fewer, [](run& r) {
        struct state {
            queue all;
            std::array<node, 4> nodes;
            std::array<model::var<int>, 4> times;
        };
        auto& s = r.make<state>();
        send(s.all, s.nodes[0], 0);
        send(s.all, s.nodes[1], 1);
        send(s.all, s.nodes[2], 2);
        model::check(s.all.try_take() == &s.nodes[0], "the first one");  // moves the others
        r.thread([&s] { send(s.all, s.nodes[3], 3); });
        r.thread([&s] {
            int last = 0;
            for (int i = 0; i != 3; ++i) {
                if (node* const n = s.all.try_take()) {
                    const int value = n->value;
                    model::check(value == last + 1, "the next one");
                    last = value;
                }
            }
            model::check(last >= 2, "what was there before has been taken");
        });
    });
}

/// Two nodes, moved to the taking end by the first try_take(): the other one finds a node too.
TEST(model_channel, finds_a_node_while_another_taker_moves_it) {
    expect_passes_everywhere("channel, 2 nodes, 2 try to take", k_fewer, [](run& r) {
        struct state {
            queue all;
            std::array<node, 2> nodes;
        };
        auto& s = r.make<state>();
        send(s.all, s.nodes[0], 0);
        send(s.all, s.nodes[1], 1);
        for (int t = 0; t != 2; ++t) {
            r.thread([&s] { model::check(s.all.try_take() != nullptr, "there is one for each"); });
        }
    });
}

/// The two takers wait already, and the values come in the order of their waiting.
TEST(model_channel, serves_the_longest_waiting_taker_first) {
    expect_passes_everywhere("channel, 2 wait, 1 comes", k_fewer, [](run& r) {
        struct state {
            queue all;
            std::array<node, 3> nodes;
            std::array<taker, 2> waiting;
        };
        auto& s = r.make<state>();
        model::check(s.all.enqueue(s.waiting[0]) && s.all.enqueue(s.waiting[1]), "it is empty");
        r.thread([&s] {
            send(s.all, s.nodes[0], 0);
            send(s.all, s.nodes[1], 1);
            send(s.all, s.nodes[2], 2);
        });
        r.thread([&s] {
            node* const n = take(s.all);
            model::check(n->value == 2, "those who waited come first");
        });
        r.at_end([&s] {
            for (int i = 0; i != 2; ++i) {
                model::check(s.waiting[i].got == &s.nodes[i], "in the order of their waiting");
            }
        });
    });
}

/// One putter and one taker, which destroys the queue when it has the last value.
auto taker_destroys(int values) {
    return [=](run& r) {
        struct state {
            std::optional<queue> all;
            std::array<node, 2> nodes;
        };
        auto& s = r.make<state>();
        s.all.emplace();
        r.thread([&s, values] {
            for (int i = 0; i != values; ++i) {
                send(*s.all, s.nodes[i], i);
            }
        });
        r.thread([&s, values] {
            for (int i = 0; i != values; ++i) {
                model::check(take(*s.all)->value == i, "the next value");
            }
            s.all.reset();
        });
    };
}

TEST(model_channel, may_be_destroyed_when_the_last_value_has_been_taken) {
    expect_passes_everywhere("channel destroyed, 1 value", k_fewer, taker_destroys(1));
    expect_passes_everywhere("channel destroyed, 2 values", k_fewer, taker_destroys(2));
}

TEST(model_channel, may_be_destroyed_before_the_suspension_is_complete) {
    expect_passes_everywhere("a suspended task destroys a channel", k_fewer, [](run& r) {
        struct state {
            std::optional<queue> all;
            std::optional<taker> suspended;
            node value;
        };
        auto& s = r.make<state>();
        s.all.emplace();
        s.suspended.emplace();
        r.thread([&s] {
            taker& self = *s.suspended;
            if (!s.all->enqueue(self)) {
                self.wake();
            }
        });
        r.thread([&s] {
            s.suspended->sleep();
            model::check(s.suspended->got == &s.value, "it has the value");
            s.suspended.reset();
            s.all.reset();
        });
        r.thread([&s] { send(*s.all, s.value, 1); });
    });
}

/// A wait with a limit while values come.
auto limit_against_values(int values) {
    return [=](run& r) {
        struct state {
            queue all;
            std::array<node, 2> nodes;
            std::optional<taker> self{std::in_place};
            model::atomic<int> rung{0};
            int got = 0;
        };
        auto& s = r.make<state>();
        r.thread([&s] {
            if (s.all.enqueue(*s.self)) {
                s.self->sleep();
            }
            if (!s.self->expired || s.self->late) {
                while (s.rung.load(std::memory_order_acquire) == 0) {
                    model::atomics::pause();
                }
            }
            model::check(s.self->expired == (s.self->got == nullptr), "a node or the limit");
            s.got = s.self->expired ? 0 : 1;
            s.self.reset();
        });
        r.thread([&s] {
            if (s.all.withdraw(*s.self)) {
                s.self->wake();
            } else {
                s.rung.store(1, std::memory_order_release);
            }
        });
        r.thread([&s, values] {
            for (int i = 0; i != values; ++i) {
                send(s.all, s.nodes[i], i);
            }
        });
        r.at_end([&s, values] {
            for (int left = values - s.got; left != 0; --left) {
                model::check(s.all.try_take() != nullptr, "no node is lost");
            }
            model::check(s.all.try_take() == nullptr, "and none is doubled");
        });
    };
}

TEST(model_channel, a_taker_whose_limit_passes_leaves_the_node_to_others) {
    expect_passes_everywhere("a limit, 1 value", k_fewer, limit_against_values(1));
    expect_passes_everywhere("a limit, 2 values", k_fewer, limit_against_values(2));
    expect_passes_everywhere("a limit, 1 value, another tries", k_fewer, [](run& r) {
        struct state {
            queue all;
            node value;
            taker waiting;
            bool has_left = false;
            bool another_got = false;
        };
        auto& s = r.make<state>();
        model::check(s.all.enqueue(s.waiting), "it is empty");
        r.thread([&s] { s.has_left = s.all.withdraw(s.waiting); });
        r.thread([&s] { send(s.all, s.value, 1); });
        r.thread([&s] { s.another_got = s.all.try_take() != nullptr; });
        r.at_end([&s] {
            const bool has_got = s.waiting.got != nullptr;
            model::check(has_got != s.has_left, "a node or the limit");
            const int taken = (has_got ? 1 : 0) + (s.another_got ? 1 : 0);
            model::check((s.all.try_take() != nullptr ? 1 : 0) + taken == 1, "it is there once");
        });
    });
}

/// As the slots of a channel: `free` is the outer list.
struct two_lists {
    queue filled;
    queue free;
};

/// A value is sent while the channel is closed. The taker ends when there is nothing more, and
/// destroys the channel after its check.
TEST(model_channel, may_be_destroyed_by_a_receiver_when_it_is_closed) {
    expect_passes_everywhere("channel closed and destroyed", k_fewer, [](run& r) {
        struct state {
            std::optional<two_lists> lists;
            node value;
        };
        auto& s = r.make<state>();
        s.lists.emplace();
        r.thread([&s] {
            model::check(send(s.lists->filled, s.value, 1), "it is open");
            close(s.lists->free, s.lists->filled);
        });
        r.thread([&s] {
            model::check(take(s.lists->filled) == &s.value, "what was sent before comes");
            model::check(take(s.lists->filled) == nullptr, "then nothing");
            model::check(s.lists->free.is_closed(), "because it is closed");
            s.lists.reset();
        });
    });
}

/// A sender that is refused gives its slot back, and may then destroy the channel.
TEST(model_channel, may_be_destroyed_by_a_sender_when_it_is_closed) {
    expect_passes_everywhere("a refused sender destroys a channel", k_fewer, [](run& r) {
        struct state {
            std::optional<two_lists> lists;
            node value;
        };
        auto& s = r.make<state>();
        s.lists.emplace();
        r.thread([&s] { close(s.lists->free, s.lists->filled); });
        r.thread([&s] {
            if (!send(s.lists->filled, s.value, 1)) {
                model::check(!s.lists->free.keep(s.value, 1), "the slot is refused too");
                model::check(s.lists->free.is_closed(), "because it is closed");
                s.lists.reset();
            }
        });
    });
}

/// Closing ends the waits at both lists.
TEST(model_channel, closing_ends_every_wait) {
    expect_passes_everywhere("channel closed, 2 wait", k_fewer, [](run& r) {
        auto& s = r.make<two_lists>();
        r.thread([&s] { close(s.free, s.filled); });
        r.thread([&s] { model::check(take(s.filled) == nullptr, "no value"); });
        r.thread([&s] { model::check(take(s.free) == nullptr, "no slot"); });
    });
}

/// Slots of an unbounded channel: kept up to a number, used again in any order.
TEST(model_channel, keeps_slots_up_to_a_number) {
    expect_passes_everywhere("slots kept and taken", k_fewer, [](run& r) {
        struct state {
            queue free;
            std::array<node, 3> nodes;
            std::array<bool, 3> kept{};
            int taken = 0;
        };
        auto& s = r.make<state>();
        for (int t = 0; t != 2; ++t) {
            r.thread([&s, t] { s.kept[t] = s.free.keep(s.nodes[t], 1); });
        }
        r.thread([&s] { s.taken = s.free.try_take() != nullptr ? 1 : 0; });
        r.at_end([&s] {
            const int kept = (s.kept[0] ? 1 : 0) + (s.kept[1] ? 1 : 0);
            model::check(kept == 2 ? s.taken == 1 : kept == 1, "one at each end at most");
            for (int left = kept - s.taken; left != 0; --left) {
                model::check(s.free.try_take() != nullptr, "what was kept can be taken");
            }
            model::check(s.free.try_take() == nullptr, "once");
        });
    });
}

}  // namespace
