// SPDX-License-Identifier: BSL-1.0
// Random trees of every way to start and join tasks, with suspensions and exceptions, on more
// workers than cores, while the number of active workers changes. Each node's value depends only on
// the seed, so the parallel sum is compared with a serial walk of the same tree.
#include "seed.hpp"

#include <quern/quern.hpp>

#include <array>
#include <numeric>

namespace {

using quern_test::dice;

struct thrown_leaf {
    long value;
};

constexpr int k_max_children = 4;

/// The serial meaning of the tree.
long walk(dice d, int depth) {
    if (depth == 0) {
        return d.below(1000);
    }
    const auto kind = d.below(8);
    const auto children = 2 + d.below(k_max_children - 1);
    long sum = kind;
    for (std::uint32_t i = 0; i < children; ++i) {
        sum += walk(d.child(i), depth - 1);
    }
    return sum;
}

void perhaps_wait(dice& d) {
    switch (d.below(16)) {
        case 0:
            quern_test::let_others_run();
            break;
        case 1:
            quern::async([] {}).get();
            break;
        case 2:
            quern::async(quern::launch::fork, [] {}).get();
            break;
        case 3:
            if (d.below(4) == 0) {  // long enough for a thief to take over the private entries
                quern_test::spin_for(std::chrono::microseconds(30));
            }
            break;
        default:
            break;
    }
}

long run(dice d, int depth);

long run_and_throw(dice d, int depth) {
    const long value = run(d, depth);
    throw thrown_leaf{value};
}

template <class Wait>
long caught(Wait&& wait) {
    try {
        wait();
    } catch (const thrown_leaf& leaf) {
        return leaf.value;
    }
    return -1;  // makes the sum wrong
}

long by_fork_join(dice d, std::uint32_t first, std::uint32_t last, int depth) {
    if (last - first == 1) {
        return run(d.child(first), depth);
    }
    const std::uint32_t middle = first + (last - first) / 2;
    auto [right, left] = quern::fork_join([=] { return by_fork_join(d, middle, last, depth); },
                                          [=] { return by_fork_join(d, first, middle, depth); });
    return left + right;
}

long run_children(std::uint32_t kind, dice d, std::uint32_t children, int depth) {
    std::array<long, k_max_children> values{};
    long sum = 0;
    switch (kind) {
        case 0:
        case 1:
            return by_fork_join(d, 0, children, depth);
        case 2:
            quern::scope([&](quern::fork_scope& s) {
                for (std::uint32_t i = 0; i < children; ++i) {
                    s.spawn(
                        [&values, d, i, depth]() mutable { values[i] = run(d.child(i), depth); });
                }
            });
            break;
        case 3: {
            quern::task_group group;
            for (std::uint32_t i = 0; i < children; ++i) {
                group.run([&values, d, i, depth]() mutable { values[i] = run(d.child(i), depth); });
            }
            group.wait();
            break;
        }
        case 4: {
            std::vector<quern::future<long>> futures;
            for (std::uint32_t i = 0; i < children; ++i) {
                futures.push_back(quern::async(run, d.child(i), depth));
            }
            for (auto& f : futures) {
                sum += f.get();
            }
            return sum;
        }
        case 5: {
            std::vector<quern::future<long>> futures;
            for (std::uint32_t i = 0; i < children; ++i) {
                futures.push_back(
                    quern::async(run, d.child(i), depth).then([](auto f) { return f.get(); }));
            }
            return quern::dataflow(quern::unwrapping([](const std::vector<long>& all) {
                                       return std::accumulate(all.begin(), all.end(), 0L);
                                   }),
                                   std::move(futures))
                .get();
        }
        case 6:
            quern::parallel_for(0U, children, quern::grain::fixed(1),
                                [&values, d, depth](std::uint32_t i) {
                                    dice mine = d;
                                    values[i] = run(mine.child(i), depth);
                                });
            break;
        default:
            for (std::uint32_t i = 0; i < children; ++i) {
                auto f = quern::async(run_and_throw, d.child(i), depth);
                sum += caught([&f] { f.get(); });
            }
            return sum;
    }
    return std::accumulate(values.begin(), values.end(), 0L);
}

long run(dice d, int depth) {
    if (depth == 0) {
        dice side = d;
        perhaps_wait(side);
        return d.below(1000);
    }
    const auto kind = d.below(8);
    const auto children = 2 + d.below(k_max_children - 1);
    return kind + run_children(kind, d, children, depth - 1);
}

class stress_trees : public quern_test::on_runtime {};
QUERN_ON_FIRST_POLICIES(stress_trees, 2);

TEST_P(stress_trees, random_programs_give_the_serial_sum) {
    const auto end = quern_test::stress_end();
    constexpr int k_depth = 6;
    std::uint64_t round = 0;
    do {
        const dice d(quern_test::stress_seed() + round++);
        ASSERT_EQ(inside([d] { return run(d, k_depth); }), walk(d, k_depth))
            << "seed " << quern_test::stress_seed() << " round " << round - 1;
    } while (std::chrono::steady_clock::now() < end);
    std::printf("[ stress   ] %llu trees\n", static_cast<unsigned long long>(round));
}

TEST_P(stress_trees, while_the_number_of_active_workers_changes) {
    const auto end = quern_test::stress_end();
    std::atomic<bool> stop{false};
    std::thread changer([&] {
        dice d(quern_test::stress_seed());
        while (!stop) {
            rt.default_pool().set_active_workers(1 + d.below(workers()));
            std::this_thread::sleep_for(std::chrono::microseconds(d.below(500)));
        }
    });
    std::uint64_t round = 0;
    do {
        const dice d(quern_test::stress_seed() + 1'000'000 + round++);
        EXPECT_EQ(inside([d] { return run(d, 5); }), walk(d, 5));
    } while (std::chrono::steady_clock::now() < end && !HasFailure());
    stop = true;
    changer.join();
}

TEST_P(stress_trees, from_many_outside_threads) {
    const auto end = quern_test::stress_end();
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([this, t, end] {
            std::uint64_t round = 0;
            do {
                const dice d(quern_test::stress_seed() + 1000 * t + round++);
                EXPECT_EQ(inside([d] { return run(d, 4); }), walk(d, 4));
            } while (std::chrono::steady_clock::now() < end && !HasFailure());
        });
    }
    for (auto& t : threads) {
        t.join();
    }
}

}  // namespace
