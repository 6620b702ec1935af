// SPDX-License-Identifier: BSL-1.0
// Global objects end after the last reference, and never before; references may outlive them.
#include "object_types.hpp"
#include "on_job.hpp"

#include <quern/localities/object.hpp>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <utility>

namespace {

using namespace quern_test;
using quern::localities::count;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::migrate;
using quern::localities::object;
using quern::localities::run_at;

/// Goes around the localities `left` times, with a reference.
void pass_on(const object<cell>& one, int left) {
    one.post(&cell::add, 1);
    if (left > 0) {
        quern::localities::post_to(next_locality(), &pass_on, one, left - 1);
    }
}

class object_references_test : public on_workers {};
QUERN_ON_1_2_WORKERS(object_references_test);

std::atomic<std::uint64_t> g_sum{0};

// Holds: object: it lives as long as a reference, also one under way, and its calls run.
TEST_P(object_references_test, under_way_keep_their_object) {
    constexpr int k_objects = 100;
    constexpr int k_times = 300;
    g_sum = 0;
    own_job job(GetParam());
    {
        const auto one = make_at<cell>(next_locality());
        pass_on(one, k_times);
    }
    for (int i = 0; i < k_objects; ++i) {  // no reference is left when the calls come
        const auto one = make_at<cell>(next_locality());
        one.post(&cell::add, 1);
        one.post([](cell& of) { g_sum += static_cast<std::uint64_t>(of.value); });
    }
    job.end();
    EXPECT_EQ(sum_of_ranks(g_sum.load()), k_objects * number_of_ranks());
}

// A chain of objects, each of which has the only reference to the next one.
TEST_P(object_references_test, in_long_chains_end_one_after_the_other) {
    const int cells = scaled(100'000, 1'000);
    own_job job(GetParam());
    object<cell> first;
    for (int i = 0; i < cells; ++i) {
        first = make_at<cell>(here(), i, std::move(first));
    }
    EXPECT_EQ(first.call(&cell::get).get(), cells - 1);
    first = object<cell>();
    object<cell> far;
    for (int i = 0; i < 100; ++i) {
        far = make_at<cell>(i % count(), i, std::move(far));
    }
    job.end();
}

/// Two of them, with no other references.
struct ring {
    object<ring> other{};
    counted alive{};
    void set(object<ring> of) { other = std::move(of); }
};

// Holds: object: what refers to itself in a ring ends with the session.
TEST_P(object_references_test, in_rings_end_with_the_session) {
    own_job job(GetParam());
    const auto one = make_at<ring>(here());
    const auto two = make_at<ring>(next_locality());
    one.call(&ring::set, two).get();
    two.call(&ring::set, one).get();
    job.end();
    EXPECT_EQ(sum_of_ranks(static_cast<std::uint64_t>(g_counted_living.load())), 0U);
}

// Holds: object: a reference may outlive the session.
TEST_P(object_references_test, may_outlive_the_session) {
    object<ledger> kept;
    object<ledger> copy;
    {
        own_job job(GetParam());
        kept = make_at<ledger>(next_locality());
        EXPECT_TRUE(kept.call(&ledger::is_in_order).get());
        job.end();
    }
    copy = kept;
    EXPECT_TRUE(copy == kept);
    EXPECT_EQ(sum_of_ranks(static_cast<std::uint64_t>(g_counted_living.load())), 0U);
    EXPECT_THROW(kept.call(&ledger::is_in_order), std::logic_error);
    {
        own_job next(GetParam());
        EXPECT_THROW(kept.call(&ledger::is_in_order), std::logic_error);
        EXPECT_THROW(migrate(kept, 0), std::logic_error);
        if (next_locality() != here()) {
            const auto take = [](const object<ledger>&) {};
            EXPECT_THROW(run_at(next_locality(), take, kept), std::logic_error);
        }
        next.end();
    }
}

}  // namespace
