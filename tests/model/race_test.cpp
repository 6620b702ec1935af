// SPDX-License-Identifier: BSL-1.0
// Which accesses the explorer calls a data race: the rules of happens-before, one case each, in a
// program that has the order and in one that lacks it. Run by ctest. The verdict depends only on
// the program's memory orders, never on values.
#include "expectations.hpp"

#include <memory>

namespace {

using model::atomic;
using model::atomics;
using model::check;
using model::explore;
using model::result;
using model::run;
using model::words;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

result message_passing(std::memory_order store, std::memory_order load) {
    return explore({}, [=](run& r) {
        auto& s = r.make<words>();
        name(s.data, "data");
        r.thread([&s, store] {
            s.data = 42;
            s.x.store(1, store);
        });
        r.thread([&s, load] {
            if (s.x.load(load) == 1) check(s.data == 42, "the message is there");
        });
    });
}

TEST(model_races, message_passing_needs_release_and_acquire) {
    EXPECT_PASSES(message_passing(release, acquire));
    EXPECT_FAILS(message_passing(relaxed, acquire), race);
    EXPECT_FAILS(message_passing(release, relaxed), race);
    EXPECT_NE(message_passing(relaxed, relaxed).message.find("data"), std::string::npos);
}

result through_a_middle_thread(bool by_exchange) {
    return explore({}, [=](run& r) {
        auto& s = r.make<words>();
        r.thread([&s] {
            s.data = 1;
            s.x.store(1, release);
        });
        r.thread([&s, by_exchange] {
            if (by_exchange)
                s.x.fetch_add(1, relaxed);
            else if (s.x.load(relaxed) == 1)
                s.x.store(2, relaxed);
        });
        r.thread([&s] {
            if (s.x.load(acquire) == 2) check(s.data == 1, "message");
        });
    });
}

TEST(model_races, a_read_modify_write_continues_a_release_sequence_and_a_store_ends_it) {
    EXPECT_PASSES(through_a_middle_thread(true));
    EXPECT_FAILS(through_a_middle_thread(false), race);
}

result with_fences(bool release_fence, bool acquire_fence) {
    return explore({}, [=](run& r) {
        auto& s = r.make<words>();
        r.thread([&s, release_fence] {
            s.data = 1;
            if (release_fence) atomics::fence(release);
            s.x.store(1, relaxed);
        });
        r.thread([&s, acquire_fence] {
            if (s.x.load(relaxed) != 1) return;
            if (acquire_fence) atomics::fence(acquire);
            check(s.data == 1, "message");
        });
    });
}

TEST(model_races, fences_order_relaxed_accesses) {
    EXPECT_PASSES(with_fences(true, true));
    EXPECT_FAILS(with_fences(true, false), race);
    EXPECT_FAILS(with_fences(false, true), race);
}

TEST(model_races, concurrent_readers_are_no_race_and_a_writer_beside_them_is) {
    const auto program = [](bool writer) {
        return explore({}, [=](run& r) {
            auto& s = r.make<words>();
            r.thread([&s] { (void)s.data.read(); });
            r.thread([&s, writer] { writer ? s.data.write(1) : (void)s.data.read(); });
        });
    };
    EXPECT_PASSES(program(false));
    EXPECT_FAILS(program(true), race);
}

result destroy_after(std::memory_order last_use, bool checked) {
    return explore({.check_lifetimes = checked}, [=](run& r) {
        struct state {
            std::unique_ptr<atomic<int>> object = std::make_unique<atomic<int>>(0);
            atomic<int>* pointer = object.get();
        };
        auto& s = r.make<state>();
        r.thread([&s, last_use] { s.pointer->exchange(1, last_use); });
        r.thread([&s] {
            while (s.pointer->load(acquire) == 0)
                atomics::pause();
            s.object.reset();
        });
    });
}

TEST(model_races, destruction_must_be_ordered_after_the_last_use) {
    EXPECT_PASSES(destroy_after(release, true));
    EXPECT_FAILS(destroy_after(relaxed, true), lifetime);
    EXPECT_PASSES(destroy_after(relaxed, false));
}

TEST(model_races, a_plain_variable_works_like_its_type) {
    EXPECT_PASSES(explore({}, [](run& r) {
        struct pair {
            int first = 0;
        };
        auto& only = r.make<pair>();
        auto& number = r.make<model::var<int>>(1);
        auto& pointer = r.make<model::var<pair*>>(&only);
        r.thread([&] {
            ++number;
            number += 4;
            pointer->first = number;
            const model::var<int> copy = number;
            check(copy == 6 && only.first == 6, "as an int and a pointer would");
        });
    }));
}

struct counts_when_destroyed {
    atomic<int> uses{0};
    ~counts_when_destroyed() { check(uses.load() == 1, "used once"); }
};

TEST(model_races, destructors_of_the_state_may_use_atomics) {
    const auto program = [](int threads) {
        return explore({}, [=](run& r) {
            auto& s = r.make<counts_when_destroyed>();
            for (int t = 0; t != threads; ++t)
                r.thread([&s] { s.uses.fetch_add(1); });
        });
    };
    EXPECT_PASSES(program(1));
    EXPECT_FAILS(program(2), check);
}

}  // namespace
