// SPDX-License-Identifier: BSL-1.0
// Errors in nested domains (src/dependences/README.md, "Why it is right", 7): children of a task
// fail or are dropped while its function returns and a task of the outer domain waits for it. That
// task does not begin: some of its data were not computed. The error arrives in the outer domain.
#include "protocol.hpp"

#include <quern/dependences/detail/access_word.hpp>
#include <quern/dependences/detail/failing.hpp>
#include <quern/dependences/detail/given_up.hpp>

namespace {

using model::atomic;
using model::check;
using model::run;
using model::var;

enum class error_fault {
    none,
    inner_domain_first,
    later_error_stops_nothing,
    later_error_does_not_wait,
    parent_does_not_look,
    early_release_does_not_look
};

constexpr model::options k_read_set{.pause = model::pause_wakes::read_set};

struct failing_link {
    var<failing_link*> next = nullptr;
};

struct failing_access {
    quern::detail::successor_stack<model::protocol_atomics, failing_link> successors;
    quern::detail::predecessor_count<model::protocol_atomics> missing;
};

struct failing_domain {
    quern::detail::failing_words<model::protocol_atomics> words;
    quern::detail::failing_words<model::protocol_atomics>& failing() { return words; }
    atomic<bool> raised = false;
    var<int> error = 0;
    atomic<int> reported = 0;
    failing_domain* around = nullptr;

    failing_domain& outer() const { return *around; }
    void raise() { raised.store(true, std::memory_order_relaxed); }
    void place(int e) { error = e; }
    void report(int) { reported.fetch_add(1, std::memory_order_relaxed); }
    bool is_stopped() const {
        return raised.load(std::memory_order_relaxed) ||
               (around != nullptr && around->is_stopped());
    }
};

/// A parent with children; its access is released with theirs. `later` waits for the parent.
struct failing_family {
    failing_family(int users, error_fault f) : users_of_access(users), fault(f) {
        inner.around = &outer;
        check(parent.successors.push(to_later), "the parent has not ended");
        check(!later.missing.registered(1), "it waits");
    }

    void fail(int which) {
        if (fault == error_fault::inner_domain_first) {
            inner.raise();
        }
        if (fault == error_fault::later_error_does_not_wait &&
            inner.failing().has_error.load(std::memory_order_relaxed)) {
            inner.raise();
        } else {
            quern::detail::fail_outwards(inner, 10 + which);
        }
        not_done[which] = 1;
        release_child(which);
    }
    /// The other child: it works, or is dropped.
    void run_or_drop(int which) {
        not_done[which] = inner.is_stopped() ? 1 : 0;
        release_child(which);
    }
    void release_child(int which) {
        if (child[which].successors.release() != nullptr && parent.missing.satisfied()) {
            release_parent();
        }
    }

    void parent_returns() {
        if (fault == error_fault::parent_does_not_look) {
            inner.failing().parent_ended.store(true, std::memory_order_seq_cst);
        } else {
            quern::detail::parent_ends(
                inner, [this] { quern::detail::fail_outwards(outer, inner.error.read()); });
        }
        std::uint32_t links = 0;
        for (int c = 0; c < users_of_access; ++c) {
            links += child[c].successors.push(to_parent[c]) ? 1 : 0;
        }
        if (parent.missing.registered(links)) {
            release_parent();
        }
    }
    void release_parent() {
        if (parent.successors.release() != nullptr && later.missing.satisfied() &&
            !outer.is_stopped()) {
            for (int c = 0; c < users_of_access; ++c) {
                check(not_done[c] == 0, "the children that use it have done their work");
            }
            begun = begun + 1;
        }
    }

    const int users_of_access;  ///< the first children
    const error_fault fault;
    failing_domain outer;
    failing_domain inner;
    failing_access child[3];
    failing_access parent;
    failing_access later;
    failing_link to_parent[3];
    failing_link to_later;
    var<int> not_done[3] = {0, 0, 0};
    var<int> begun = 0;
};

/// The second child fails. It uses the access too, or another one.
auto one_child_fails(int users, error_fault fault = error_fault::none) {
    return [=](run& r) {
        auto& f = r.make<failing_family>(users, fault);
        r.thread([&f] { f.parent_returns(); });
        r.thread([&f] { f.fail(1); });
        r.thread([&f] { f.run_or_drop(0); });
        r.at_end([&f, users] {
            check(users == 1 || f.begun == 0, "what waits for the parent is dropped");
            check(f.outer.error == 11 && f.outer.is_stopped(), "the error arrives outside");
        });
    };
}

auto both_children_fail(error_fault fault = error_fault::none) {
    return [=](run& r) {
        auto& f = r.make<failing_family>(2, fault);
        r.thread([&f] { f.parent_returns(); });
        for (int c = 0; c < 2; ++c) {
            r.thread([&f, c] { f.fail(c); });
        }
        r.at_end([&f] {
            check(f.begun == 0, "what waits for the parent is dropped");
            check(f.outer.failing().failed.load() && f.outer.is_stopped(),
                  "an error arrives outside");
            check(f.inner.reported.load() + f.outer.reported.load() == 1, "the other is reported");
        });
    };
}

/// The same, and a third child uses the access.
auto two_fail_beside_a_third(error_fault fault) {
    return [=](run& r) {
        auto& f = r.make<failing_family>(1, fault);
        r.thread([&f] { f.parent_returns(); });
        r.thread([&f] { f.run_or_drop(0); });
        for (int c = 1; c < 3; ++c) {
            r.thread([&f, c] { f.fail(c); });
        }
        r.at_end([&f] {
            check(f.outer.failing().failed.load() && f.outer.is_stopped(),
                  "an error arrives outside");
        });
    };
}

/// The parent releases its access while its function runs. Two children use it.
struct releasing_family : failing_family {
    using failing_family::failing_family;

    bool has_failed() const {
        return inner.words.failed.load(std::memory_order_acquire) || inner.is_stopped();
    }
    void release_if_allowed() {
        const bool looks = fault != error_fault::early_release_does_not_look;
        if (given_up.may_release([this, looks] { return looks && has_failed(); })) {
            release_parent();
        }
    }
    void end_child(int which) {
        if (child[which].successors.release() != nullptr && parent.missing.satisfied()) {
            release_if_allowed();
        }
    }
    void child_fails(int which) {
        quern::detail::fail_outwards(inner, 10 + which);
        not_done[which] = 1;
        end_child(which);
    }
    void child_works(int which) {
        not_done[which] = inner.is_stopped() ? 1 : 0;
        end_child(which);
    }
    void parent_runs() {
        std::uint32_t links = 0;
        for (int c = 0; c < 2; ++c) {
            links += child[c].successors.push(to_parent[c]) ? 1 : 0;
        }
        given_up.by_running_task();
        if (parent.missing.registered(links)) {
            release_if_allowed();
        }
        quern::detail::parent_ends(
            inner, [this] { quern::detail::fail_outwards(outer, inner.error.read()); });
        if (given_up.is_left_to_end()) {
            release_parent();
        }
    }

    quern::detail::given_up_word<model::protocol_atomics> given_up;
};

auto a_child_fails_beside_an_early_release(error_fault fault = error_fault::none) {
    return [=](run& r) {
        auto& f = r.make<releasing_family>(2, fault);
        r.thread([&f] { f.parent_runs(); });
        r.thread([&f] { f.child_fails(1); });
        r.thread([&f] { f.child_works(0); });
        r.at_end([&f] {
            check(f.begun == 0, "what waits for the parent is dropped");
            check(f.later.missing.left() == 0, "the access was released");
            check(f.outer.error == 11 && f.outer.is_stopped(), "the error arrives outside");
        });
    };
}

/// Of two children that fail at the same time one has a successor: `next`, their sibling.
auto a_successor_of_the_later_error(error_fault fault = error_fault::none) {
    return [=](run& r) {
        struct siblings {
            failing_domain home;
            failing_access first;
            failing_access next;
            failing_link to_next;
            var<int> begun = 0;
        };
        auto& s = r.make<siblings>();
        check(s.first.successors.push(s.to_next) && !s.next.missing.registered(1), "it waits");
        const auto fail = [&s, fault](int which) {
            if (fault == error_fault::none) {
                quern::detail::fail_outwards(s.home, which);
            } else if (!s.home.failing().has_error.exchange(true, std::memory_order_relaxed)) {
                s.home.raise();
            }
        };
        r.thread([&s, fail] {
            fail(1);
            if (s.first.successors.release() != nullptr && s.next.missing.satisfied() &&
                !s.home.is_stopped()) {
                s.begun = 1;
            }
        });
        r.thread([fail] { fail(2); });
        r.at_end([&s] { check(s.begun == 0, "what waits for a failed task is dropped"); });
    };
}

TEST(model_dependences_errors, a_child_fails_while_its_parent_returns) {
    model::expect_passes_everywhere("a child fails, its parent returns", {}, one_child_fails(2));
    model::expect_passes_everywhere("a child fails, another uses the access", {},
                                    one_child_fails(1));
}

TEST(model_dependences_errors, both_children_fail_while_their_parent_returns) {
    model::expect_passes_everywhere("both children fail, their parent returns", k_read_set,
                                    both_children_fail());
}

TEST(model_dependences_errors, two_siblings_fail_at_the_same_time) {
    model::expect_passes_everywhere("two siblings fail", {}, a_successor_of_the_later_error());
}

TEST(model_dependences_errors, two_children_fail_beside_a_third) {
    model::expect_passes_everywhere("2 of 3 children fail, their parent returns", k_read_set,
                                    two_fail_beside_a_third(error_fault::none));
}

TEST(model_dependences_errors, a_child_fails_while_its_parent_releases_and_returns) {
    model::expect_passes_everywhere("a child fails, its parent releases early", {},
                                    a_child_fails_beside_an_early_release());
}

TEST(model_dependences_errors, an_early_release_that_does_not_look_is_found) {
    model::expect_found_broken(
        "an early release does not look for errors", {},
        a_child_fails_beside_an_early_release(error_fault::early_release_does_not_look));
}

// The other child sees that its domain is stopped and is dropped; so the parent's access is
// released, before the outer domain is stopped.
TEST(model_dependences_errors, stopping_the_inner_domain_first_is_found) {
    model::expect_found_broken("the inner domain is stopped first", {},
                               one_child_fails(1, error_fault::inner_domain_first));
}

TEST(model_dependences_errors, a_later_error_that_stops_nothing_is_found) {
    model::expect_found_broken(
        "a later error stops nothing", {},
        a_successor_of_the_later_error(error_fault::later_error_stops_nothing));
}

TEST(model_dependences_errors, a_later_error_that_does_not_wait_is_found) {
    model::expect_found_broken("a later error does not wait for the earlier one", k_read_set,
                               two_fail_beside_a_third(error_fault::later_error_does_not_wait));
}

TEST(model_dependences_errors, a_parent_that_does_not_look_is_found) {
    model::expect_found_broken("the parent does not look for errors", {},
                               one_child_fails(1, error_fault::parent_does_not_look));
}

}  // namespace
