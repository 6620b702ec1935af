// SPDX-License-Identifier: BSL-1.0
// Dependences (src/dependences/README.md): an access that is registered while its predecessors end,
// on other workers, begins exactly once, after all of them, and sees their effects; and an access
// whose task has ended is released when the last child that uses it has released its own.
#include "protocol.hpp"

#include <quern/dependences/detail/access_word.hpp>

#include <optional>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

struct successor;

struct link {
    var<link*> next = nullptr;
    var<successor*> to = nullptr;
};

using successor_stack = quern::detail::successor_stack<model::protocol_atomics, link>;
using predecessor_count = quern::detail::predecessor_count<model::protocol_atomics>;

/// A task, or an access of a task that has ended: it begins, or is released.
struct successor {
    predecessor_count missing;
    var<int> begun = 0;
};

/// A task that has begun, with one access.
struct predecessor {
    std::optional<successor_stack> successors{std::in_place};
    var<int> effect = 0;
};

struct graph {
    static constexpr int k_most = 3;

    predecessor before[k_most];
    successor after[k_most];
    link links[k_most][k_most];  // [successor][predecessor]
    atomic<int> begins = 0;

    /// What the thread does that leaves nothing missing.
    void begin(int which, int predecessors) {
        for (int p = 0; p < predecessors; ++p) {
            check(before[p].effect == 1, "the predecessors have ended");
        }
        after[which].begun = after[which].begun + 1;
        begins.fetch_add(1, std::memory_order_relaxed);
    }

    /// The owner registers a task with the first `predecessors`.
    void spawn(int which, int predecessors) {
        std::uint32_t made = 0;
        for (int p = 0; p < predecessors; ++p) {
            link& to = links[which][p];
            to.to = &after[which];
            made += before[p].successors->push(to) ? 1 : 0;
        }
        if (after[which].missing.registered(made)) {
            begin(which, predecessors);
        }
    }

    void end(int p, int predecessors) {
        before[p].effect = 1;
        for (link* each = before[p].successors->release(); each != nullptr;) {
            link* const now = each;
            each = now->next;
            successor* const to = now->to;
            if (to->missing.satisfied()) {
                begin(static_cast<int>(to - after), predecessors);
            }
        }
    }
};

void each_begins_once(int predecessors, int successors) {
    model::expect_passes_everywhere("dependences", {}, [=](run& r) {
        auto& g = r.make<graph>();
        r.thread([&g, predecessors, successors] {
            for (int s = 0; s < successors; ++s) {
                g.spawn(s, predecessors);
            }
        });
        for (int p = 0; p < predecessors; ++p) {
            r.thread([&g, p, predecessors] { g.end(p, predecessors); });
        }
        r.at_end([&g, successors] {
            check(g.begins.load() == successors, "each has begun");
            for (int s = 0; s < successors; ++s) {
                check(g.after[s].begun == 1, "once");
            }
        });
    });
}

TEST(model_dependences, registration_against_the_end_of_the_predecessor) { each_begins_once(1, 1); }
TEST(model_dependences, two_successors_of_one_access) { each_begins_once(1, 2); }
TEST(model_dependences, two_predecessors) { each_begins_once(2, 1); }
TEST(model_dependences, two_successors_of_two_accesses) { each_begins_once(2, 2); }
TEST(model_dependences, three_predecessors) { each_begins_once(3, 1); }

// A chain: the owner registers the second and the third task while the first ends; the thread that
// makes the second ready runs it.
TEST(model_dependences, a_chain_is_registered_while_it_runs) {
    model::expect_passes_everywhere("dependences, a chain", {}, [](run& r) {
        struct chain {
            predecessor first;
            predecessor second;
            successor begins_second;
            successor begins_third;
            link to_second;
            link to_third;
            var<int> third = 0;

            void run_third() {
                check(first.effect == 1 && second.effect == 1, "both have ended");
                third = third + 1;
            }
            void run_second() {
                check(first.effect == 1, "the first has ended");
                second.effect = 1;
                if (second.successors->release() != nullptr && begins_third.missing.satisfied()) {
                    run_third();
                }
            }
        };
        auto& c = r.make<chain>();
        atomic<int>& offered = r.make<atomic<int>>(0);  // the queue of ready tasks
        r.thread([&c, &offered] {
            const bool second_waits = c.first.successors->push(c.to_second);
            if (c.begins_second.missing.registered(second_waits ? 1 : 0)) {
                offered.store(1, std::memory_order_release);
            }
            const bool third_waits = c.second.successors->push(c.to_third);
            if (c.begins_third.missing.registered(third_waits ? 1 : 0)) {
                c.run_third();
            }
        });
        r.thread([&c, &offered] {
            c.first.effect = 1;
            if (c.first.successors->release() != nullptr) {
                if (c.begins_second.missing.satisfied()) {
                    c.run_second();
                    return;
                }
            }
            while (offered.load(std::memory_order_acquire) == 0) {
                model::atomics::pause();
            }
            c.run_second();
        });
        r.at_end([&c] { check(c.third == 1, "the third has run once"); });
    });
}

// Locality: who wrote the data of a predecessor is known to the successor when it begins, whether
// the link that lies in its access is followed, or refused. No two threads write that at a time.
TEST(model_dependences, a_successor_is_told_who_wrote_its_data) {
    model::expect_passes_everywhere("dependences, the last writer", {}, [](run& r) {
        struct told {
            predecessor before[2];
            var<int> writer[2] = {0, 0};
            successor after;
            link own;
            link block;
            var<int> last_writer = 0;
            var<int> begun = 0;

            void begin() {
                check(last_writer != 0, "it has been told");
                begun = begun + 1;
            }
            void end(int p) {
                writer[p] = p + 1;
                link* const first = before[p].successors->release();
                for (link* each = first; each != nullptr; each = each->next) {
                    if (each == &own) {
                        last_writer = static_cast<int>(writer[p]);
                    }
                }
                for (link* each = first; each != nullptr;) {
                    each = each->next;
                    if (after.missing.satisfied()) {
                        begin();
                    }
                }
            }
        };
        auto& t = r.make<told>();
        r.thread([&t] {
            std::uint32_t made = 0;
            for (int p = 0; p < 2; ++p) {
                link& to = made == 0 ? t.own : t.block;
                to.to = &t.after;
                if (t.before[p].successors->push(to)) {
                    ++made;
                } else if (made == 0) {
                    t.last_writer = static_cast<int>(t.writer[p]);
                }
            }
            if (t.after.missing.registered(made)) {
                t.begin();
            }
        });
        r.thread([&t] { t.end(0); });
        r.thread([&t] { t.end(1); });
        r.at_end([&t] { check(t.begun == 1, "begun once"); });
    });
}

// Early release: the function of a task has returned. Its access is linked to those of two
// children, which end on two workers, while a later task registers with the access.
TEST(model_dependences, an_access_is_released_with_the_last_child_that_uses_it) {
    model::expect_passes_everywhere("dependences, early release", {}, [](run& r) {
        struct family {
            predecessor child[2];
            successor parent_access;  // when released
            successor_stack parent_successors;
            link to_parent[2];
            successor later;
            link to_later;
            var<int> later_runs = 0;

            void run_later() {
                check(child[0].effect == 1 && child[1].effect == 1, "the children have ended");
                later_runs = later_runs + 1;
            }
            void release_parent() {
                if (parent_successors.release() != nullptr && later.missing.satisfied()) {
                    run_later();
                }
            }
            void end_child(int which) {
                child[which].effect = 1;
                if (child[which].successors->release() != nullptr &&
                    parent_access.missing.satisfied()) {
                    release_parent();
                }
            }
            void end_body() {
                std::uint32_t links = 0;
                for (int c = 0; c < 2; ++c) {
                    links += child[c].successors->push(to_parent[c]) ? 1 : 0;
                }
                if (parent_access.missing.registered(links)) {
                    release_parent();
                }
            }
        };
        auto& f = r.make<family>();
        r.thread([&f] { f.end_body(); });
        r.thread([&f] { f.end_child(0); });
        r.thread([&f] { f.end_child(1); });
        r.thread([&f] {
            const bool waits = f.parent_successors.push(f.to_later);
            if (f.later.missing.registered(waits ? 1 : 0)) {
                f.run_later();
            }
        });
        r.at_end([&f] { check(f.later_runs == 1, "the later task has run once"); });
    });
}

// A count without the guard of the registration begins the task when the first of two predecessors
// ends between the two registrations.
TEST(model_dependences, counting_link_by_link_is_found) {
    model::expect_found_broken("links counted one by one", {}, [](run& r) {
        struct counted {
            predecessor before[2];
            link links[2];
            atomic<int> missing = 0;
            atomic<int> begins = 0;

            void end(int p) {
                if (before[p].successors->release() != nullptr &&
                    missing.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                    begins.fetch_add(1, std::memory_order_relaxed);
                }
            }
        };
        auto& c = r.make<counted>();
        r.thread([&c] {
            bool any = false;
            for (int p = 0; p < 2; ++p) {
                c.missing.fetch_add(1, std::memory_order_relaxed);
                if (c.before[p].successors->push(c.links[p])) {
                    any = true;
                } else {
                    c.missing.fetch_sub(1, std::memory_order_relaxed);
                }
            }
            if (!any) {
                c.begins.fetch_add(1, std::memory_order_relaxed);
            }
        });
        for (int p = 0; p < 2; ++p) {
            r.thread([&c, p] { c.end(p); });
        }
        r.at_end([&c] { check(c.begins.load() == 1, "begun once"); });
    });
}

}  // namespace
