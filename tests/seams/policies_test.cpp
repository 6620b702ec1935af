// SPDX-License-Identifier: BSL-1.0
// A toy program adds its own scheduling policies: own queues for each worker, an own order of
// victims, no stealing; and the errors for invalid policies.
#include "under_policy.hpp"

#include <unit/scheduler/in_child.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using quern::policy_host;
using quern::policy_queues;
using quern::ready_item;
using quern::ready_list;
using quern::scheduling_policy;
using quern_test::under_policy;

/// Queues of each worker, each with a lock: the owner takes the youngest, thieves the oldest. They
/// use an ordinary container.
class own_stacks : public policy_queues {
public:
    explicit own_stacks(policy_host of) : m_host(of), m_of(of.workers()) {}

    unsigned push(unsigned self, ready_item item) override {
        put(self, item);
        return self;
    }
    ready_item pop(unsigned self) override {
        place& mine = m_of[self];
        const std::scoped_lock lock(mine.mutex);
        if (mine.items.empty()) {
            return {};
        }
        const ready_item youngest = mine.items.back();
        mine.items.pop_back();
        return youngest;
    }
    bool take_back(unsigned self, ready_item item) override {
        place& mine = m_of[self];
        const std::scoped_lock lock(mine.mutex);
        return std::erase(mine.items, item) == 1;
    }
    ready_list steal(unsigned victim, unsigned, const quern::theft& what) override {
        place& from = m_of[victim];
        const std::scoped_lock lock(from.mutex);
        ready_list taken;
        while (!from.items.empty() && taken.size() < what.share_of(from.items.size())) {
            taken.push_back(from.items.front());
            from.items.pop_front();
        }
        return taken;
    }
    std::size_t size(unsigned worker) const override {
        const std::scoped_lock lock(m_of[worker].mutex);
        return m_of[worker].items.size();
    }

protected:
    void put(unsigned worker, ready_item item) {
        const std::scoped_lock lock(m_of[worker].mutex);
        m_of[worker].items.push_back(item);
    }
    policy_host m_host;

private:
    struct place {
        mutable std::mutex mutex;
        std::deque<ready_item> items;
    };
    std::vector<place> m_of;
};

/// Each new task goes to another worker, by its name if it has one; it is not stolen from there.
class dealt final : public own_stacks {
public:
    using own_stacks::own_stacks;

    unsigned push(unsigned self, ready_item item) override {
        const bool is_first = item.is_new() && item.name() != nullptr &&
                              std::string_view(item.name()) == "for the first";
        const unsigned to = is_first || !item.is_new() ? 0 : (self + 1) % m_host.active_workers();
        put(to, item);
        return to;
    }
};

template <class Queues>
std::unique_ptr<policy_queues> make(policy_host of) {
    return std::make_unique<Queues>(of);
}

void all_in_one_ring(policy_host of, unsigned thief, quern::victim_rings& victims) {
    victims.assign(1, {});
    for (unsigned worker = 0; worker < of.workers(); ++worker) {
        if (worker != thief) {
            victims.front().push_back(worker);
        }
    }
}

/// The worker of the next lower rank first, each in a ring of its own.
void downwards(policy_host of, unsigned thief, quern::victim_rings& victims) {
    victims.clear();
    for (unsigned i = 1; i < of.workers(); ++i) {
        victims.push_back({(thief + of.workers() - i) % of.workers()});
    }
}

constexpr scheduling_policy k_own_stacks{.name = "own-stacks",
                                         .summary = "own queues, victims at random",
                                         .make = make<own_stacks>,
                                         .arrange = all_in_one_ring};
constexpr scheduling_policy k_downwards{
    .name = "downwards", .summary = "the default with other victims", .arrange = downwards};
constexpr scheduling_policy k_upwards{
    .name = "upwards",
    .summary = "the same the other way round",
    .arrange = [](policy_host of, unsigned thief, quern::victim_rings& victims) {
        downwards(of, thief, victims);
        std::reverse(victims.begin(), victims.end());
    }};
constexpr scheduling_policy k_dealt{
    .name = "dealt", .summary = "to others in turn", .make = make<dealt>, .steals = false};

const bool k_registered = [] {
    quern::register_policy(k_own_stacks);
    quern::register_policy(k_downwards);
    quern::register_policy(k_upwards);
    quern::register_policy(k_dealt);
    return true;
}();

class policies_of_a_program : public under_policy {};
INSTANTIATE_TEST_SUITE_P(on, policies_of_a_program, testing::Values(1U, 2U, 8U));

// Holds: scheduling policies: A program's policy with queues of its own, with another order of
//     victims, and without stealing runs every kind of task and wait.
TEST_P(policies_of_a_program, with_queues_and_victims_of_their_own_run_everything) {
    ASSERT_TRUE(k_registered);
    runs_everything("own-stacks");
}
// Holds: scheduling policies: A program's policy with...
TEST_P(policies_of_a_program, with_other_victims_alone_run_everything) {
    runs_everything("downwards");
}
// Holds: scheduling policies: A program's policy with...
TEST_P(policies_of_a_program, that_do_not_steal_run_everything) { runs_everything("dealt"); }

// Holds: scheduling policies: It decides the order, the worker that runs a task, and the first
//     victim of a thief.
TEST(policy_of_a_program, decides_the_order) {
    EXPECT_EQ(quern_test::order_on_one_worker("own-stacks"), "9 8 7 6 5 4 3 2 1 0");
    EXPECT_EQ(quern_test::order_on_one_worker("downwards"), "9 8 7 6 5 4 3 2 1 0");
}

// Holds: scheduling policies: It decides the order...
TEST(policy_of_a_program, decides_who_runs_a_task_and_knows_its_name) {
    const quern::runtime rt(quern::runtime_options::with_workers(4, "dealt"));
    const quern::task_attributes on_the_third{
        .name = "for the first", .worker = 2, .pool = &rt.default_pool().get()};
    const int made_by = quern::async(on_the_third, [] {
                            const int maker = quern::current_worker_rank();
                            const auto rank = [] { return quern::current_worker_rank(); };
                            // Not by get(), which might run a task in the place of the waiter.
                            int next = -1, first = -1;
                            quern::latch ran(2);
                            quern::post([&] {
                                next = rank();
                                ran.count_down();
                            });
                            quern::post({.name = "for the first"}, [&] {
                                first = rank();
                                ran.count_down();
                            });
                            ran.wait();
                            EXPECT_EQ(next, (maker + 1) % 4);
                            EXPECT_EQ(first, 0);
                            return maker;
                        }).get();
    EXPECT_EQ(made_by, 2);
}

/// The workers 0 and 1 are held by tasks that have made one task each. Returns the order in which
/// worker 2 takes these, by where it found them.
std::vector<int> stolen_by_the_third(const char* policy) {
    quern::detail::pool pool({.workers = 3, .policy = &quern::find_scheduling_policy(policy)});
    std::atomic<int> held{0}, made{0}, run{0};
    std::vector<int> stolen;
    for (int i = 0; i < 3; ++i) {
        quern::post({.pool = &pool}, [&] {
            held.fetch_add(1);
            while (held.load() != 3) {  // then each worker holds one
                std::this_thread::yield();
            }
            const int mine = quern::current_worker_rank();
            if (mine == 2) {
                while (made.load() != 2) {
                    std::this_thread::yield();
                }
                return;
            }
            quern::post([&, mine] {
                stolen.push_back(mine);
                run.fetch_add(1);
            });
            made.fetch_add(1);
            while (run.load() != 2) {
                std::this_thread::yield();
            }
        });
    }
    pool.wait_until_quiet();
    return stolen;
}

// Holds: scheduling policies: It decides the order...
TEST(policy_of_a_program, decides_which_victim_a_thief_tries_first) {
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(stolen_by_the_third("downwards"), (std::vector{1, 0}));
        EXPECT_EQ(stolen_by_the_third("upwards"), (std::vector{0, 1}));
    }
}

// Holds: scheduling policies: register_policy(): a program's policy is chosen like all others.
TEST(policy_of_a_program, is_chosen_like_a_built_in_one) {
    const auto show = [](int& argc, char** argv) {
        if (quern::take_command_line(argc, argv)) {
            std::printf("%s", std::string(quern::runtime().default_pool().policy()).c_str());
        }
        return 0;
    };
    using quern_test::in_child;
    EXPECT_EQ(in_child({.variables = {{"QUERN_POLICY", "own-stacks"}}}, show).output, "own-stacks");
    EXPECT_EQ(in_child({.arguments = {"--quern:policy=dealt"}}, show).output, "dealt");
    EXPECT_NE(in_child({.arguments = {"--quern:policy=deelt"}}, show)
                  .output.find("did you mean 'dealt'?"),
              std::string::npos);
    EXPECT_NE(quern::settings_help().find("own-stacks"), std::string::npos);
}

std::string error_of(const scheduling_policy& row) {
    try {
        quern::register_policy(row);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

scheduling_policy like(const scheduling_policy& good, void (*change)(scheduling_policy&)) {
    scheduling_policy row = good;
    row.name = "toy";
    change(row);
    return row;
}

// Holds: scheduling policies: register_policy(): std::invalid_argument for a name that is taken or
//     cannot be spelt.
TEST(register_policy, refuses_a_name_that_is_taken_or_cannot_be_spelt) {
    EXPECT_EQ(error_of(k_dealt), "quern: there is a scheduling policy 'dealt' already");
    EXPECT_EQ(error_of(like(k_dealt, [](auto& row) { row.name = "static"; })),
              "quern: there is a scheduling policy 'static' already");
    EXPECT_EQ(
        error_of(like(k_dealt, [](auto& row) { row.name = "My policy"; })),
        "quern: a scheduling policy cannot be called 'My policy'; accepted: a-z, 0-9, - and _");
}

// Holds: scheduling policies: register_policy(): std::invalid_argument for a row that is incomplete
//     or contradicts itself.
TEST(register_policy, refuses_rows_that_are_incomplete_or_contradict_themselves) {
    EXPECT_EQ(error_of(like(k_dealt, [](auto& row) { row.summary = ""; })),
              "quern: scheduling policy 'toy' has no summary");
    EXPECT_EQ(error_of(like(k_downwards, [](auto& row) { row.arrange = nullptr; })),
              "quern: scheduling policy 'toy' has neither queues (make) nor an order of victims "
              "(arrange)");
    EXPECT_EQ(error_of(like(k_own_stacks, [](auto& row) { row.turns = 0; })),
              "quern: scheduling policy 'toy' has turns = 0; accepted: 1 to 16");
    EXPECT_EQ(error_of(like(k_downwards, [](auto& row) { row.turns = 2; })),
              "quern: scheduling policy 'toy' has turns = 2 but no queues (make) that would give "
              "something else in each");
    EXPECT_EQ(
        error_of(like(k_downwards, [](auto& row) { row.steals = false; })),
        "quern: scheduling policy 'toy' has steals = false but no queues (make): the deque of "
        "a worker is for thieves too");
    EXPECT_EQ(
        error_of(like(k_dealt, [](auto& row) { row.arrange = downwards; })),
        "quern: scheduling policy 'toy' has steals = false and an order of victims (arrange)");
    EXPECT_THROW((void)quern::find_scheduling_policy("toy"), std::invalid_argument);
}

// Holds: scheduling policies: A pool is not made when victims are missing or the policy makes no
//     queues.
TEST(a_pool, is_not_made_with_victims_that_are_missing_or_without_queues) {
    const auto error_of_pool = [](const scheduling_policy& row) -> std::string {
        try {
            const quern::detail::pool pool({.workers = 3, .policy = &row});
        } catch (const std::logic_error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(error_of_pool(like(k_downwards,
                                 [](auto& row) {
                                     row.arrange = [](policy_host, unsigned,
                                                      quern::victim_rings& victims) {
                                         victims.assign(1, {0});
                                     };
                                 })),
              "quern: scheduling policy 'toy': the victims of worker 0 must be all other workers, "
              "each once");
    EXPECT_EQ(error_of_pool(like(k_dealt,
                                 [](auto& row) {
                                     row.make = [](policy_host) -> std::unique_ptr<policy_queues> {
                                         return nullptr;
                                     };
                                 })),
              "quern: scheduling policy 'toy' has made no queues");
}

}  // namespace
