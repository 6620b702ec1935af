// SPDX-License-Identifier: BSL-1.0
// Global objects: calls of all localities take turns in their caller's order, wherever the object
// moves meanwhile.
#include "object_types.hpp"
#include "on_job.hpp"

#include <quern/localities/object.hpp>
#include <quern/sync/latch.hpp>
#include <quern/task/task_group.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::all;
using quern::localities::count;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::migrate;
using quern::localities::object;
using quern::localities::remote_error;
using quern::localities::run_at;

std::atomic<int> g_beside{0};

class objects_test : public on_job {
protected:
    void TearDown() override {
        end_job();
        EXPECT_EQ(sum_of_ranks(static_cast<std::uint64_t>(g_counted_living.load())), 0U);
    }
};
QUERN_ON_1_2_WORKERS(objects_test);

// Holds: object: a member function, a function and a lambda are called where the object is.
TEST_P(objects_test, are_called_where_they_are) {
    const int where = next_locality();
    const auto one = make_at<ledger>(where, std::size_t{40'000});
    EXPECT_TRUE(one);
    EXPECT_EQ(one.call(&ledger::place).get(), where);
    EXPECT_EQ(one.call(&ledger::filling).get(), 20'000.0);
    EXPECT_EQ(one.call(&ledger::words, 3).get(), "3 words");
    EXPECT_EQ(one.call([](const ledger& of, int n) { return of.place() + n; }, 10).get(),
              where + 10);
    one.call(&ledger::note, here(), std::uint64_t{1}).get();
    one.post([](ledger& of, int caller) { of.note(caller, 2); }, here());
    EXPECT_EQ(one.call(&ledger::calls).get(), 2U);
    const auto aggregate = make_at<cell>(where, 40);
    EXPECT_EQ(aggregate.call(&cell::add, 2).get(), 42);
    const std::vector<int> large(100'000, 1);
    EXPECT_EQ(aggregate
                  .call(
                      [](cell& of, const std::vector<int>& more) {
                          return of.add(static_cast<int>(more.size()));
                      },
                      large)
                  .get(),
              100'042);
}

TEST_P(objects_test, are_called_from_plain_threads) {
    const auto one = make_at<cell>(next_locality(), 0);
    std::thread([&one] {
        for (int i = 0; i < 100; ++i) {
            one.post(&cell::add, 1);
        }
        EXPECT_EQ(one.call(&cell::get).get(), 100);
    }).join();
}

// Holds: object: exceptions of calls arrive as remote_error.
TEST_P(objects_test, exceptions_travel) {
    const int where = next_locality();
    const auto one = make_at<ledger>(where);
    for (int move = 0; move < 2; ++move) {
        const int place = one.call(&ledger::place).get();
        try {
            one.call(&ledger::fail, std::string("no such page")).get();
            FAIL();
        } catch (const remote_error& error) {
            EXPECT_EQ(error.report().type, "std::range_error");
            EXPECT_EQ(error.report().message, "no such page");
            EXPECT_EQ(error.report().locality, place);
        }
        migrate(one, here()).get();
    }
}

TEST_P(objects_test, bad_input_is_refused_in_words) {
    const object<cell> none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.last_known_place(), -1);
    EXPECT_THROW(none.call(&cell::get), std::logic_error);
    EXPECT_THROW(none.post(&cell::add, 1), std::logic_error);
    EXPECT_THROW(migrate(none, 0), std::logic_error);
    try {
        make_at<cell>(count());
        ADD_FAILURE() << "no exception";
    } catch (const std::out_of_range& error) {
        EXPECT_NE(std::string(error.what()).find("make_at of locality"), std::string::npos);
    }
    const auto one = make_at<cell>(next_locality());
    EXPECT_THROW(migrate(one, -1), std::out_of_range);
    EXPECT_EQ(one.call(&cell::add, 1).get(), 1);
}

// Holds: migrate: the name stays, the object moves; an object that moves to where it is stays.
TEST_P(objects_test, move_and_keep_their_name_and_state) {
    const auto one = make_at<ledger>(next_locality(), std::size_t{30'000});
    const auto name = one.name();
    std::uint64_t calls = 0;
    for (int round = 0; round < 3; ++round) {
        for (const int to : all()) {
            one.post(&ledger::note, here(), ++calls);
            migrate(one, to).get();
            EXPECT_EQ(one.call(&ledger::place).get(), to);
            migrate(one, to).get();
            EXPECT_EQ(one.call(&ledger::calls).get(), calls);
            EXPECT_EQ(one.call(&ledger::filling).get(), 15'000.0);
            EXPECT_TRUE(eventually([&] { return one.last_known_place() == to; }));
        }
    }
    EXPECT_EQ(one.name(), name);
}

void use_it(const object<ledger>& it, int rounds, std::uint64_t seed) {
    std::vector<quern::future<void>> moves;
    for (int i = 0; i < rounds; ++i) {
        it.post(&ledger::note, here(), static_cast<std::uint64_t>(i) + 1);
        if (i % 16 == 5) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            moves.push_back(
                migrate(it, static_cast<int>((seed >> 33U) % static_cast<unsigned>(count()))));
        }
    }
    for (auto& each : moves) {
        each.get();
    }
    EXPECT_TRUE(it.call(&ledger::is_in_order).get());  // behind the last one of this locality
}

// Holds: migrate: no call is lost, doubled or reordered.
TEST_P(objects_test, move_under_calls_of_all_localities) {
    constexpr int k_rounds = 400;
    if (here() == quern::localities::root) {
        const auto one = make_at<ledger>(next_locality(), std::size_t{5'000});
        std::vector<quern::future<void>> uses;
        for (const int each : all()) {
            uses.push_back(run_at(each, &use_it, one, k_rounds, static_cast<std::uint64_t>(each)));
        }
        for (auto& each : uses) {
            each.get();
        }
        EXPECT_TRUE(one.call(&ledger::is_in_order).get());
        EXPECT_EQ(one.call(&ledger::calls).get(), static_cast<std::uint64_t>(k_rounds * count()));
        EXPECT_EQ(one.call(&ledger::filling).get(), 2'500.0);
    }
}

// Holds: object: references are members of objects and travel with them.
TEST_P(objects_test, refer_to_one_another) {
    constexpr int k_cells = 50;
    object<cell> first;
    for (int i = 0; i < k_cells; ++i) {
        first = make_at<cell>(i % count(), i, std::move(first));
    }
    int sum = 0;
    for (object<cell> at = first; at;) {
        sum += at.call(&cell::get).get();
        const auto moved = migrate(at, (at.last_known_place() + 1) % count());  // not waited for
        at = at.call([](const cell& of) { return of.next; }).get();
    }
    EXPECT_EQ(sum, k_cells * (k_cells - 1) / 2);
}

/// Its calls meet.
struct meeting {
    std::shared_ptr<int> none{};
    bool meet() const {
        ++g_beside;
        return eventually([] {
            quern::this_task::yield();
            return g_beside.load() == 2;
        });
    }
};

// Holds: object: calls that take it as const run beside each other.
TEST_P(objects_test, const_calls_run_beside_each_other) {
    g_beside = 0;
    const auto one = make_at<meeting>(here());
    auto first = one.call(&meeting::meet);
    auto second = one.call(&meeting::meet);
    EXPECT_TRUE(first.get());
    EXPECT_TRUE(second.get());
}

/// Cannot be written, or be read.
struct stubborn {
    int value = 7;
    bool is_unwritable = false;
    void be_unwritable(bool is_so) { is_unwritable = is_so; }
    int get() const { return value; }
    template <class Archive>
    void save(Archive& into) const {
        if (is_unwritable) {
            throw std::runtime_error("it stays");
        }
        into(value);
    }
    template <class Archive>
    void load(Archive& from) {
        from(value);
        if (here() == 0) {
            throw std::runtime_error("not to the root");
        }
    }
};

// Holds: migrate: an object that cannot be written or read stays where it was.
TEST_P(objects_test, stay_if_they_cannot_move) {
    if (count() == 1) {  // a move to where it is neither writes nor reads
        const auto one = make_at<stubborn>(0);
        one.call(&stubborn::be_unwritable, true).get();
        EXPECT_NO_THROW(migrate(one, 0).get());
        EXPECT_EQ(one.call(&stubborn::get).get(), 7);
        return;
    }
    if (here() != 1) {
        return;
    }
    const auto one = make_at<stubborn>(1);
    const auto expect_refused = [&one](int to, const std::string& why) {
        auto moved = migrate(one, to);
        auto value = one.call(&stubborn::get);  // behind the move
        try {
            moved.get();
            ADD_FAILURE() << "it has moved";
        } catch (const remote_error& error) {
            EXPECT_EQ(error.report().message, why);
        }
        EXPECT_EQ(value.get(), 7);
        EXPECT_EQ(one.call([](const stubborn&) { return here(); }).get(), 1);
    };
    expect_refused(0, "not to the root");
    expect_refused(0, "not to the root");
    one.call(&stubborn::be_unwritable, true).get();
    expect_refused(0, "it stays");
    one.call(&stubborn::be_unwritable, false).get();
    migrate(one, count() - 1).get();
    EXPECT_EQ(one.call(&stubborn::get).get(), 7);
}

/// A reference that says it is of another type.
struct other {
    int value = 0;
};
TEST_P(objects_test, of_another_type_are_refused) {
    const auto one = make_at<cell>(next_locality());
    quern::localities::writer bytes;
    one.save(bytes);
    quern::localities::reader from(bytes.bytes());
    object<other> wrong;
    try {
        wrong.load(from);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("is a"), std::string::npos) << error.what();
    }
}

}  // namespace
