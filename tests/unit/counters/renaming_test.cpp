// SPDX-License-Identifier: BSL-1.0
// What the counters /dependences/... say of renamed objects.
#include <quern/counters/counter.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/renamed.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <vector>

namespace {

class renaming_counters : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(renaming_counters);

TEST_P(renaming_counters, know_versions_and_copies_back) {
    auto bytes = quern::counters::create("/dependences/renamed-bytes", rt);
    auto copies = quern::counters::create("/dependences/copies-back", rt);
    auto peak = quern::counters::create("/dependences/renamed-bytes-peak", rt);
    auto renamings = quern::counters::create("/dependences/renamings", rt);
    const double copied_before = copies.value().value;
    constexpr double k_version = sizeof(std::vector<int>) + 100 * sizeof(int);
    std::vector<int> object(100);
    {
        quern::domain work(rt.default_pool());
        quern::renamed r(object);
        quern_test::spin_gate gate;
        for (int i = 0; i < 3; ++i) {
            work.spawn(quern::in(r), [&gate] { gate.pass(); });
            work.spawn(quern::out(r), [](auto v) { v[0] = 1; });
            if (i == 0) {
                EXPECT_EQ(bytes.value().value, k_version);
                EXPECT_EQ(copies.value().value, copied_before);
                EXPECT_EQ(renamings.value().value, 1);  // since the counter was made
                gate.open();
            }
            work.taskwait(quern::on(r));
        }
        EXPECT_GE(copies.value().value, copied_before + 1);
    }
    EXPECT_EQ(bytes.value().value, 0);
    EXPECT_GE(peak.value().value, k_version);  // it stays
}

}  // namespace
