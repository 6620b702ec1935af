// SPDX-License-Identifier: BSL-1.0
// The explorer as an instrument: counts of interleavings equal their closed forms, bounds are
// reported, failures are reported and can be replayed, misuse is named. Run by ctest. It expects
// exact numbers and verdicts, because a model test that passes for the wrong reason is worse than
// none.
#include "expectations.hpp"

#include <set>
#include <stdexcept>
#include <vector>

namespace {

using model::atomic;
using model::check;
using model::explore;
using model::options;
using model::result;
using model::run;
using model::words;

std::uint64_t binomial(std::uint64_t n, std::uint64_t k) {
    std::uint64_t result = 1;
    for (std::uint64_t i = 1; i <= k; ++i)
        result = result * (n - k + i) / i;
    return result;
}

result count_adds(const std::vector<int>& adds_by_thread, bool reduction, bool same_object) {
    return explore({.reduction = reduction}, [&](run& r) {
        struct state {
            atomic<int> objects[4];
        };
        auto& s = r.make<state>();
        for (std::size_t t = 0; t != adds_by_thread.size(); ++t)
            r.thread([&s, n = adds_by_thread[t], o = same_object ? 0 : t] {
                for (int i = 0; i != n; ++i)
                    s.objects[o].fetch_add(1);
            });
    });
}

TEST(model_counts, without_reduction_two_threads_give_the_binomial) {
    for (int n = 0; n != 6; ++n)
        for (int m = 0; m != 6; ++m) {
            const result r = count_adds({n, m}, false, true);
            EXPECT_PASSES(r);
            EXPECT_EQ(r.executions,
                      binomial(static_cast<std::uint64_t>(n + m), static_cast<std::uint64_t>(n)));
        }
}

TEST(model_counts, without_reduction_three_threads_give_the_multinomial) {
    EXPECT_EQ(count_adds({2, 2, 2}, false, true).executions, 90u);
    EXPECT_EQ(count_adds({3, 3, 3}, false, false).executions, 1680u);
    EXPECT_EQ(count_adds({1, 1, 1, 1}, false, false).executions, 24u);
}

TEST(model_counts, reduction_keeps_one_of_those_that_differ_only_in_independent_steps) {
    EXPECT_EQ(count_adds({3, 3, 3}, true, false).executions, 1u);
    const result dependent = count_adds({3, 3, 3}, true, true);
    EXPECT_EQ(dependent.executions, 1680u);
    EXPECT_EQ(dependent.redundant, 0u);
}

TEST(model_counts, readers_commute) {
    const result r = explore({}, [](run& p) {
        auto& s = p.make<words>();
        for (int t = 0; t != 3; ++t)
            p.thread([&s] {
                (void)s.x.load();
                (void)s.x.load();
            });
    });
    EXPECT_PASSES(r);
    EXPECT_EQ(r.executions, 1u);
}

TEST(model_counts, choices_multiply) {
    std::set<unsigned> seen;
    const result r = explore({}, [&](run& p) {
        auto& sum = p.make<unsigned>(0u);
        p.thread([&sum] { sum += model::choose(3); });
        p.thread([&sum] { sum += 10 * model::choose(4); });
        p.at_end([&] { seen.insert(sum); });
    });
    EXPECT_PASSES(r);
    EXPECT_EQ(r.executions, 12u);
    EXPECT_EQ(seen.size(), 12u);
}

result lost_update(const options& o) {
    return explore(o, [](run& r) {
        auto& s = r.make<words>();
        name(s.x, "total");
        for (int t = 0; t != 2; ++t)
            r.thread([&s] {
                for (int i = 0; i != 2; ++i)
                    s.x.store(s.x.load() + 1);
            });
        r.at_end([&s] { check(s.x.load() == 4, "no update is lost"); });
    });
}

TEST(model_reports, a_failure_is_told_step_by_step_and_can_be_replayed) {
    const result found = lost_update({});
    EXPECT_FAILS(found, check);
    EXPECT_EQ(found.message, "no update is lost");
    EXPECT_FALSE(found.exhaustive);
    EXPECT_NE(found.trace.find("T1 store total "), std::string::npos) << found.trace;
    const result again = lost_update({.replay = found.replay});
    EXPECT_FAILS(again, check);
    EXPECT_EQ(again.trace, found.trace);
    EXPECT_EQ(again.executions, 1u);
}

TEST(model_reports, a_bound_is_admitted) {
    const auto adds = [](const options& o) {
        return explore(o, [](run& r) {
            auto& s = r.make<words>();
            for (int t = 0; t != 3; ++t)
                r.thread([&s] {
                    s.x.fetch_add(1);
                    s.x.fetch_add(1);
                });
        });
    };
    const result cut = adds({.max_executions = 10});
    EXPECT_TRUE(cut.ok());
    EXPECT_FALSE(cut.exhaustive);
    EXPECT_EQ(cut.executions, 10u);
    const result whole = adds({.max_executions = 90});
    EXPECT_EQ(whole.executions, 90u);
    EXPECT_TRUE(whole.exhaustive);
}

TEST(model_reports, random_runs_find_but_never_prove) {
    EXPECT_FAILS(lost_update({.random_runs = 1000}), check);
    const result harmless = explore({.random_runs = 50}, [](run& r) {
        auto& s = r.make<words>();
        r.thread([&s] { s.x.fetch_add(1); });
    });
    EXPECT_TRUE(harmless.ok());
    EXPECT_EQ(harmless.executions, 50u);
    EXPECT_FALSE(harmless.exhaustive);
}

TEST(model_reports, an_exception_that_leaves_a_thread_is_a_failure) {
    const result r = explore({}, [](run& p) {
        auto& s = p.make<words>();
        p.thread([&s] {
            if (s.x.load() == 0) throw std::runtime_error("seven");
        });
    });
    EXPECT_FAILS(r, exception);
    EXPECT_NE(r.message.find("seven"), std::string::npos);
}

TEST(model_reports, misuse_is_named) {
    EXPECT_FAILS(explore({}, [](run&) {}), misuse);
    EXPECT_FAILS(explore({},
                         [](run& r) {
                             for (int i = 0; i != 8; ++i)
                                 r.thread([] {});
                         }),
                 misuse);
    EXPECT_FAILS(lost_update({.replay = "0 1 two"}), misuse);
    EXPECT_FAILS(lost_update({.replay = "5"}), misuse);
    int calls = 0;
    const result varies = explore({}, [&calls](run& r) {
        auto& s = r.make<words>();
        const bool odd = ++calls % 2 != 0;
        r.thread([&s, odd] {
            if (odd) s.x.store(1);
        });
        r.thread([&s] { s.x.store(2); });
    });
    EXPECT_FAILS(varies, misuse);
}

}  // namespace
