// SPDX-License-Identifier: BSL-1.0
// Random programs of dependent tasks against a serial oracle. Regions of all kinds and overlaps,
// reductions, renamed objects, children. The values must be those of the serial program (no order
// is lost). In each run one task, the blocker, waits until all tasks have ended that the oracle
// does not order after it (no order is invented): these have run beside it. In small programs each
// task is the blocker once, so each pair without an order is seen to overlap.
#include <quern/dependences/detail/access_checks.hpp>

#include "random_dependences.hpp"
#include "run_dependences.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

namespace quern_test::dependents {
namespace {

struct program {
    program(std::uint64_t seed, int depth) {
        dice d(seed);
        constexpr std::uint32_t k_small = 9;
        const bool is_small = d.below(2) == 0;
        steps = random_steps(2 + d.below(is_small ? k_small - 1 : k_most_steps - 1), depth, d);
        const auto n = static_cast<std::uint32_t>(steps.size());
        expected = expected_of(steps);
        after = order_of(steps);
        blockers = is_small ? (step_set{1} << n) - 1 : set_of(d.below(n));
    }

    std::vector<step> steps;
    data expected;
    std::vector<step_set> after;
    step_set blockers = 0;  ///< which are to be tried
};

/// False: a task was ordered after the blocker without a reason.
bool runs_beside(quern::domain& domain, const program& p, std::uint32_t blocker,
                 instance& objects) {
    const step_set kept = kept_by(p.steps, p.after, blocker);
    const auto free = quern::detail::checks_accesses()
                          ? 0  // tasks run one at a time
                          : static_cast<std::ptrdiff_t>(p.steps.size()) - std::popcount(kept);
    std::atomic<std::ptrdiff_t> ended{0};
    std::atomic<bool> is_right{true};
    objects.now.reset();
    for (std::uint32_t i = 0; i < p.steps.size(); ++i) {
        const step& s = p.steps[i];
        objects.spawn(
            s, [&domain](const auto&... parts) { domain.spawn(parts...); },
            [&, i](const views& got) {
                if (i == blocker) {
                    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
                    while (ended.load(std::memory_order_relaxed) < free) {
                        if (std::chrono::steady_clock::now() > limit) {
                            is_right = false;
                            break;
                        }
                        quern::this_task::yield();
                    }
                }
                run_as_task(s, objects.now.plain, got);
                if ((kept & set_of(i)) == 0) {
                    ended.fetch_add(1, std::memory_order_relaxed);
                }
            });
    }
    domain.taskwait();
    return is_right;
}

/// Pairs of tasks that one has seen run beside the other.
std::uint64_t pairs_beside(const program& p, std::uint32_t blocker) {
    const step_set later = (step_set{1} << p.steps.size()) - (set_of(blocker) << 1);
    return static_cast<std::uint64_t>(std::popcount(later & ~kept_by(p.steps, p.after, blocker)));
}

void run_program(quern::domain& domain, const program& p, std::uint64_t seed,
                 std::uint64_t& pairs) {
    instance objects;
    for (step_set left = p.blockers; left != 0 && !testing::Test::HasFailure(); left &= left - 1) {
        const auto blocker = static_cast<std::uint32_t>(std::countr_zero(left));
        EXPECT_TRUE(runs_beside(domain, p, blocker, objects))
            << "a task waited for " << blocker << ", seed " << seed;
        EXPECT_TRUE(objects.now == p.expected) << "blocker " << blocker << ", seed " << seed;
        pairs += pairs_beside(p, blocker);
    }
}

class dependences_stress : public quern_test::on_runtime {
protected:
    void run_programs(int depth, std::uint64_t salt) {
        constexpr std::uint64_t k_in_turn = 64;  // programs of one task
        std::uint64_t pairs = 0;
        quern_test::program_loop programs(20);
        bool is_left = programs.next();
        while (is_left && !HasFailure()) {
            const auto some = [&](auto run) {
                for (std::uint64_t i = 0; i < k_in_turn && is_left && !HasFailure(); ++i) {
                    const std::uint64_t seed = programs.seed();
                    run(program(seed * 2 + salt, depth), seed);
                    is_left = programs.next();
                }
            };
            if (programs.seed() / k_in_turn % 4 == 0) {
                some([&](const program& p, std::uint64_t seed) {
                    quern::domain domain(rt.default_pool());
                    run_program(domain, p, seed, pairs);
                });
            } else {
                inside([&] {
                    some([&](const program& p, std::uint64_t seed) {
                        quern::domain domain;
                        run_program(domain, p, seed, pairs);
                    });
                });
            }
        }
        EXPECT_EQ(quern::detail::read_renaming().bytes, 0U);
        std::printf("[ stress   ] %llu pairs of tasks seen to overlap\n",
                    static_cast<unsigned long long>(pairs));
    }
};
QUERN_ON_1_2_8_WORKERS(dependences_stress);

// The blocker may wait for tasks that are not after it: none of them may be after it in the
// runtime.
TEST_P(dependences_stress, keeps_each_order_and_invents_none) { run_programs(0, 0); }

TEST_P(dependences_stress, keeps_each_order_with_children) { run_programs(2, 1); }

// Of its mistakes, only weak accesses without a child that uses them may be there.
TEST_P(dependences_stress, is_right_and_silent_while_accesses_are_checked) {
    testing::internal::CaptureStderr();
    quern::detail::check_accesses(true);
    run_programs(2, 1);
    quern::detail::check_accesses(false);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("missing"), std::string::npos) << said;
}

}  // namespace
}  // namespace quern_test::dependents
