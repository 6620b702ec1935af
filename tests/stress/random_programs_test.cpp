// SPDX-License-Identifier: BSL-1.0
// Random trees of every kind of task, with waits and exceptions, compared with a serial run.
#include "random_program.hpp"
#include "stopwatch.hpp"

#include <quern/settings/settings.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace {

using quern_test::random_for;
using quern_test::random_program;
using quern_test::stress_end;

class random_programs : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(random_programs);

TEST_P(random_programs, give_the_serial_answer) {
    auto random = random_for(workers());
    const auto end = stress_end();
    int programs = 0;
    for (; programs == 0 || std::chrono::steady_clock::now() < end; ++programs) {
        const std::uint64_t seed = random.next();
        const int budget = 2 + static_cast<int>(random.below(8));
        const std::uint64_t expected = random_program::run_serially(seed, budget);
        const std::uint64_t value = inside([=] { return random_program::run(seed, budget); });
        ASSERT_EQ(value, expected) << "program " << seed << ", budget " << budget;
    }
    RecordProperty("programs", programs);
}

TEST_P(random_programs, give_the_serial_answer_when_many_run_at_once) {
    auto random = random_for(100 + workers());
    const auto end = stress_end();
    do {
        struct program {
            std::uint64_t seed;
            quern::future<std::uint64_t> value;
        };
        constexpr int k_budget = 6;
        std::vector<program> all;
        for (int i = 0; i < 20; ++i) {
            const std::uint64_t seed = random.next();
            all.push_back(
                {seed, quern::async(rt, [seed] { return random_program::run(seed, k_budget); })});
        }
        for (program& p : all) {
            ASSERT_EQ(p.value.get(), random_program::run_serially(p.seed, k_budget)) << p.seed;
        }
    } while (std::chrono::steady_clock::now() < end);
}

/// Plain async asks the rule too.
class random_programs_inlined : public testing::TestWithParam<unsigned> {
protected:
    ~random_programs_inlined() override {
        quern::set_setting("inlining", "quern");
        quern::set_setting("launch", "async");
        const quern::runtime resets_the_rule(quern::runtime_options::with_workers(1));
    }
};
INSTANTIATE_TEST_SUITE_P(on, random_programs_inlined, testing::Values(1U, 2U, 8U),
                         [](const auto& of) { return std::to_string(of.param) + "_workers"; });

TEST_P(random_programs_inlined, give_the_serial_answer) {
    auto random = random_for(200 + GetParam());
    for (const char* const rule : {"always", "baseline", "quern"}) {
        SCOPED_TRACE(rule);
        quern::set_setting("inlining", rule);
        quern::set_setting("launch", "adaptive");
        const quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
        const auto end = stress_end();
        do {
            const std::uint64_t seed = random.next();
            const int budget = 2 + static_cast<int>(random.below(8));
            const std::uint64_t expected = random_program::run_serially(seed, budget);
            const std::uint64_t value =
                quern::async(rt, [=] { return random_program::run(seed, budget); }).get();
            ASSERT_EQ(value, expected) << "program " << seed << ", budget " << budget;
        } while (std::chrono::steady_clock::now() < end);
    }
}

}  // namespace
