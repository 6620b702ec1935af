// SPDX-License-Identifier: BSL-1.0
// renamed: one buffer that is filled and read again and again, as a ring of processes uses it: with
// every budget the same bits, and never more bytes than the budget.
#include <quern/dependences/detail/renamed_core.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/renamed.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

class renamed_ring : public quern_test::on_runtime {
protected:
    void TearDown() override { rt.default_pool().set_knob("renaming-bytes", 256U << 20); }
};
QUERN_ON_1_2_8_WORKERS(renamed_ring);

constexpr std::size_t k_numbers = 1000;
constexpr std::uint32_t k_version = sizeof(std::vector<double>) + k_numbers * sizeof(double);

std::uint64_t bytes_of_versions() { return quern::detail::read_renaming().bytes; }

/// The sum that a round reads depends on each number that its filling wrote.
template <class Numbers>
void fill(Numbers&& to, int round) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = std::sin(static_cast<double>(i + 1) * (round + 1));
    }
}
template <class Numbers>
double sum_of(const Numbers& from) {
    double sum = 0;
    for (const double x : from) {
        sum += x * 1.000001;
    }
    return sum;
}

// Holds: renamed: Tasks get the values that the serial program would give them.
// Holds: renamed: Versions beside the user's object never...
TEST_P(renamed_ring, has_the_same_bits_within_every_budget) {
    const int rounds = quern_test::scaled(100, 20);
    std::vector<double> expected;
    std::vector<double> buffer(k_numbers);
    for (int r = 0; r < rounds; ++r) {
        fill(buffer, r);
        expected.push_back(sum_of(buffer));
    }
    for (const std::uint32_t budget : {0U, k_version, 3 * k_version, 64U << 20}) {
        rt.default_pool().set_knob("renaming-bytes", budget);
        inside([&] {
            std::vector<double> one(k_numbers);
            std::vector<double> sums(static_cast<std::size_t>(rounds));
            quern::domain work;
            quern::renamed ring(one);
            for (int r = 0; r < rounds; ++r) {
                work.spawn(quern::out(ring), [r](auto to) { fill(to, r); });
                work.spawn(quern::in(ring), quern::out(sums[static_cast<std::size_t>(r)]),
                           [](auto from, double& s) { s = sum_of(from); });
                EXPECT_LE(bytes_of_versions(), budget);
            }
            work.taskwait();
            EXPECT_EQ(sums, expected) << budget;
            EXPECT_EQ(one, buffer) << budget;
        });
    }
}

}  // namespace
