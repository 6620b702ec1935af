// SPDX-License-Identifier: BSL-1.0
// this_task::release and holds where something else continues: children fail, a child runs in the
// place of its creation, a hold outlives the function.
#include <quern/dependences/access_list.hpp>
#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern_test::scaled;

class domain_release : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(domain_release);

/// A child sets it as the last thing before it throws, and another task wants to know whether the
/// domain has taken notice: it yields some times more.
void wait_for(const std::atomic<bool>& set) {
    while (!set) {
        quern::this_task::yield();
    }
    for (int i = 0; i < 20; ++i) {
        quern::this_task::yield();
    }
}

void fails_at(std::atomic<bool>& now) {
    now = true;
    throw std::runtime_error("child");
}

// Holds: domain: An access that the parent of a failed child releases is kept: no task runs on
//     data that were not computed.
TEST_P(domain_release, what_a_child_failed_to_compute_is_not_released) {
    inside([] {
        for (int round = 0; round < scaled(100, 20); ++round) {
            domain work;
            int value = 0;
            std::atomic<bool> has_thrown{false};
            std::atomic<int> later{0};
            work.spawn(inout(value), [&](int& v) {
                quern::spawn(inout(v), [&](int&) { fails_at(has_thrown); });
                wait_for(has_thrown);
                quern::this_task::release(inout(v));
                quern::this_task::yield();
            });
            work.spawn(in(value), [&later] { ++later; });
            EXPECT_THROW(work.taskwait(), std::runtime_error);
            EXPECT_EQ(later, 0);
        }
    });
}

// Holds: domain: An access that the parent of a failed child...
TEST_P(domain_release, a_child_may_fail_after_the_release) {
    inside([] {
        for (int round = 0; round < scaled(100, 20); ++round) {
            domain work;
            int value = 0;
            std::atomic<bool> may_throw{false};
            std::atomic<bool> has_thrown{false};
            std::atomic<int> later{0};
            work.spawn(inout(value), [&](int& v) {
                quern::spawn(inout(v), [&](int&) {
                    while (!may_throw) {
                        quern::this_task::yield();
                    }
                    fails_at(has_thrown);
                });
                quern::spawn(inout(v), [&later] { ++later; });
                quern::this_task::release(inout(v));
                may_throw = true;
                wait_for(has_thrown);
            });
            work.spawn(in(value), [&later] { ++later; });
            EXPECT_THROW(work.taskwait(), std::runtime_error);
            EXPECT_EQ(later, 0);
        }
    });
}

// Holds: domain: An access that the parent of a failed child...
TEST_P(domain_release, it_is_the_same_at_any_depth) {
    inside([] {
        for (int round = 0; round < scaled(100, 20); ++round) {
            domain work;
            int value = 0;
            std::atomic<bool> has_thrown{false};
            std::atomic<int> later{0};
            work.spawn(inout(value), [&](int& v) {
                quern::spawn(inout(v), [&](int& w) {
                    quern::spawn(inout(w), [&](int& x) {
                        quern::spawn(inout(x), [&](int&) { fails_at(has_thrown); });
                        quern::this_task::release(inout(x));
                    });
                    quern::this_task::release(inout(w));
                    wait_for(has_thrown);
                });
                quern::spawn(in(v), [&later] { ++later; });
                quern::this_task::release(inout(v));
            });
            work.spawn(in(value), [&later] { ++later; });
            EXPECT_THROW(work.taskwait(), std::runtime_error);
            EXPECT_EQ(later, 0);
        }
    });
}

// Holds: domain: A parent that has caught the error of a child may release what it has repaired.
TEST_P(domain_release, after_the_error_was_caught_a_release_counts) {
    inside([] {
        domain work;
        int value = 0;
        std::atomic<bool> has_seen{false};
        work.spawn(inout(value), [&](int& v) {
            quern::spawn(inout(v), [] { throw std::runtime_error("child"); });
            EXPECT_THROW(quern::taskwait(), std::runtime_error);
            v = 5;
            quern::this_task::release(inout(v));
            while (!has_seen) {
                quern::this_task::yield();
            }
        });
        work.spawn(in(value), [&](const int& v) { has_seen = v == 5; });
        work.taskwait();
        EXPECT_TRUE(has_seen);
    });
}

// Holds: domain: A parent that has caught the error of a child...; an access that was kept for the
//     error is released at the end.
TEST_P(domain_release, what_was_kept_is_released_at_the_end) {
    inside([] {
        domain work;
        int value = 0;
        int seen = 0;
        work.spawn(inout(value), [&](int& v) {
            std::atomic<bool> may_throw{false};
            quern::spawn(inout(v), [&] {
                while (!may_throw) {
                    quern::this_task::yield();
                }
                throw std::runtime_error("child");
            });
            quern::this_task::release(inout(v));
            may_throw = true;
            EXPECT_THROW(quern::taskwait(), std::runtime_error);
            v = 5;
        });
        work.spawn(in(value), [&seen](const int& v) { seen = v; });
        work.taskwait();
        EXPECT_EQ(seen, 5);
    });
}

// Holds: domain: A child of a final task may release its accesses; its siblings come after it in
//     any case, and those of the final task are kept.
TEST_P(domain_release, a_child_in_place_releases_its_own_accesses) {
    for (const bool is_final : {false, true}) {
        inside([is_final] {
            domain work;
            int v[4] = {};
            std::vector<int> more(3);
            std::atomic<int> steps{0};
            work.spawn({.final = is_final}, inout(v, 4), inout(more), [&](auto s, auto m) {
                quern::spawn(inout(s[1]), [](int& x) {
                    x = 7;
                    quern::this_task::release(inout(x));
                    EXPECT_THROW(quern::this_task::release(inout(x)), std::invalid_argument);
                });
                quern::spawn(in(s[1]), [s](const int& x) {
                    EXPECT_EQ(x, 7);
                    EXPECT_THROW(quern::this_task::release(inout(s[1])), std::invalid_argument);
                });
                // The region of the parent: no later task may begin.
                quern::spawn(inout(s.data(), 4),
                             [](auto all) { quern::this_task::release(inout(all.data(), 4)); });
                quern::access_list list;
                list.add(inout(m[2]));
                quern::spawn(list, out(m[0]), [&more](int& first) {
                    quern::spawn(inout(first), [](int& x) {
                        x = 1;
                        quern::this_task::release(inout(x));
                    });
                    quern::taskwait();
                    quern::this_task::release(inout(more[2]), out(first));
                    EXPECT_THROW(quern::this_task::release(inout(more[1])), std::invalid_argument);
                });
                for (int i = 0; i < 50; ++i) {
                    quern::this_task::yield();
                }
                ++steps;
                quern::this_task::release(inout(s.data(), 4));
            });
            work.spawn(inout(v, 4), [&steps](auto) { EXPECT_EQ(steps.exchange(5), 1); });
            work.taskwait();
            EXPECT_EQ(steps, 5);
        });
    }
}

/// Counts when what it has been moved to last is destroyed.
class counts_its_end {
public:
    explicit counts_its_end(std::atomic<int>& gone) : m_gone(&gone) {}
    counts_its_end(counts_its_end&& other) noexcept
        : m_gone(std::exchange(other.m_gone, nullptr)) {}
    counts_its_end& operator=(counts_its_end&&) = delete;
    ~counts_its_end() {
        if (m_gone != nullptr) {
            ++*m_gone;
        }
    }

private:
    std::atomic<int>* m_gone;
};

// Holds: domain: The captures of a function are kept until its task's holds have been dropped, and
//     destroyed before the next task begins.
TEST_P(domain_release, captures_live_as_long_as_a_hold) {
    inside([] {
        domain work;
        int value = 0;
        std::atomic<int> gone{0};
        int gone_before = -1;
        constexpr int k_held = 20;  // more than a domain notes for reports
        std::vector<int> others(k_held);
        std::jthread device;
        auto holds = std::make_shared<std::vector<quern::access_hold>>(k_held);
        std::atomic<int> returned{0};
        for (std::size_t i = 0; i < k_held; ++i) {
            work.spawn(out(others[i]), in(value),
                       [&, i, kept = counts_its_end(gone)](int&, const int&) {
                           (*holds)[i] = quern::this_task::hold_accesses();
                           ++returned;
                       });
        }
        work.spawn([&] {
            while (returned < k_held) {
                quern::this_task::yield();
            }
            for (int i = 0; i < 50; ++i) {
                quern::this_task::yield();  // the functions have returned
            }
            device = std::jthread([&] {
                gone_before = gone;
                for (quern::access_hold& each : *holds) {
                    each.drop();
                }
            });
        });
        int gone_after = -1;
        work.spawn(out(value), [&](int&) { gone_after = gone; });
        work.taskwait();
        EXPECT_EQ(gone_before, 0);
        EXPECT_EQ(gone_after, k_held);
    });
}

}  // namespace
