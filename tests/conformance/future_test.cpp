// SPDX-License-Identifier: BSL-1.0
// [futures.unique.future]: one case per sentence.
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>

#include "conformance/expect_error.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace {

using quern::future;
using quern::make_ready_future;
using quern::promise;

// Holds: future: It can be moved, without exceptions, and not copied.
TEST(future, can_be_moved_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<future<int>>);
    EXPECT_FALSE(std::is_copy_assignable_v<future<int>>);
    EXPECT_TRUE(std::is_nothrow_default_constructible_v<future<int>>);
    EXPECT_TRUE(std::is_nothrow_move_constructible_v<future<int>>);
    EXPECT_TRUE(std::is_nothrow_move_assignable_v<future<int>>);
}

static_assert(std::is_same_v<decltype(std::declval<future<int>>().get()), int>);
static_assert(std::is_same_v<decltype(std::declval<future<int&>>().get()), int&>);
static_assert(std::is_same_v<decltype(std::declval<future<void>>().get()), void>);

// Holds: future: By default it refers to no state, and valid() is false.
TEST(future, by_default_refers_to_no_state) { EXPECT_FALSE(future<int>().valid()); }

// Holds: future: Move construction takes the state over; the other one is invalid afterwards.
TEST(future, move_constructor_transfers_the_state) {
    future<int> f = make_ready_future(1);
    future<int> g(std::move(f));
    EXPECT_FALSE(f.valid());
    EXPECT_TRUE(g.valid());
    EXPECT_EQ(g.get(), 1);
}

// Holds: future: Move assignment releases the old state and takes the other's over.
TEST(future, move_assignment_releases_and_transfers) {
    auto witness = std::make_shared<int>(0);
    future<std::shared_ptr<int>> f = make_ready_future(witness);
    EXPECT_EQ(witness.use_count(), 2);
    future<std::shared_ptr<int>> other = make_ready_future(std::make_shared<int>(1));
    f = std::move(other);
    EXPECT_FALSE(other.valid());
    EXPECT_EQ(witness.use_count(), 1);
    EXPECT_EQ(*f.get(), 1);
}

// Holds: future: The destructor does not wait. **Differs**: nor does it for the future of an
//     async().
TEST(future, destructor_releases_the_state_without_waiting) {
    promise<int> p;
    { const future<int> f = p.get_future(); }
    p.set_value(1);
}

// Holds: future: get() waits until the result is there and returns it.
// Holds: future: A thread that is no worker may wait too.
TEST(future, get_waits_and_returns_the_value) {
    promise<std::string> p;
    future<std::string> f = p.get_future();
    std::thread producer([&p] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        p.set_value("late");
    });
    EXPECT_EQ(f.get(), "late");
    producer.join();
}

// Holds: future: get() moves the value out.
TEST(future, get_moves_the_value_out) {
    future<std::unique_ptr<int>> f = make_ready_future(std::make_unique<int>(1));
    EXPECT_EQ(*f.get(), 1);
}

// Holds: future: After get() the future is invalid and its state is released.
TEST(future, get_releases_the_state) {
    auto witness = std::make_shared<int>(0);
    future<std::shared_ptr<int>> f = make_ready_future(witness);
    (void)f.get();
    EXPECT_FALSE(f.valid());
    EXPECT_EQ(witness.use_count(), 1);
}

// Holds: future: get() throws the stored exception.
TEST(future, get_throws_the_stored_exception_and_releases_the_state) {
    auto f = quern::make_exceptional_future<int>(std::make_exception_ptr(std::logic_error("x")));
    EXPECT_THROW(f.get(), std::logic_error);
    EXPECT_FALSE(f.valid());
}

// Holds: future: get() without a state...
TEST(future, get_may_be_called_once) {
    future<int> f = make_ready_future(1);
    (void)f.get();
    QUERN_EXPECT_FUTURE_ERROR(f.get(), no_state);
}

// Holds: future: get() without a state: **differs**: throws std::future_error(no_state), where the
//     standard leaves it undefined.
// Holds: future: wait() and its timed forms without a state throw std::future_error(no_state).
//     **Differs**: undefined there.
TEST(future, without_state_reports_no_state) {
    future<int> f;
    QUERN_EXPECT_FUTURE_ERROR(f.get(), no_state);
    QUERN_EXPECT_FUTURE_ERROR(f.wait(), no_state);
    QUERN_EXPECT_FUTURE_ERROR(f.wait_for(std::chrono::seconds(0)), no_state);
    QUERN_EXPECT_FUTURE_ERROR(f.wait_until(std::chrono::steady_clock::now()), no_state);
    QUERN_EXPECT_FUTURE_ERROR(f.is_ready(), no_state);
}

// Holds: future: wait() returns when the result is there, and leaves it there.
// Holds: future: is_ready(): whether get() would return at once.
TEST(future, wait_blocks_until_ready_and_leaves_the_value) {
    promise<int> p;
    future<int> f = p.get_future();
    std::thread producer([&p] { p.set_value(1); });
    f.wait();
    EXPECT_TRUE(f.is_ready());
    f.wait();
    EXPECT_TRUE(f.valid());
    EXPECT_EQ(f.get(), 1);
    producer.join();
}

// Holds: future: share() transfers the state into a shared_future; this one is invalid afterwards.
TEST(future, share_transfers_the_state) {
    future<int> f = make_ready_future(1);
    quern::shared_future<int> s = f.share();
    EXPECT_FALSE(f.valid());
    EXPECT_EQ(s.get(), 1);
}

// Holds: future: share() does not throw.
TEST(future, share_does_not_throw) { EXPECT_TRUE(noexcept(std::declval<future<int>&>().share())); }

// Holds: future: share() of a future without state gives one without state.
TEST(future, share_without_state_gives_none) {
    future<int> f;
    EXPECT_FALSE(f.share().valid());
}

// Holds: future: get() of a reference refers to the object itself.
TEST(future, of_a_reference_refers_to_the_object) {
    promise<std::string&> p;
    std::string text = "a";
    p.set_value(text);
    p.get_future().get() += "b";
    EXPECT_EQ(text, "ab");
}

// Holds: future: has_exception(): whether get() would throw what the producer threw.
TEST(future, has_exception_says_what_get_would_do) {
    promise<int> p;
    future<int> f = p.get_future();
    p.set_exception(std::make_exception_ptr(std::logic_error("x")));
    EXPECT_TRUE(f.has_exception());
    EXPECT_THROW(f.get(), std::logic_error);
    future<int> fine = make_ready_future(1);
    EXPECT_FALSE(fine.has_exception());
    EXPECT_EQ(fine.get(), 1);
}

/// Waits in one of five ways.
void wait_somehow(const future<void>& f, int how) {
    switch (how) {
        case 0:
            f.wait();
            break;
        case 1:
            EXPECT_EQ(f.wait_for(std::chrono::hours(1)), std::future_status::ready);
            break;
        case 2:
            EXPECT_EQ(f.wait_until(std::chrono::steady_clock::now() + std::chrono::hours(1)),
                      std::future_status::ready);
            break;
        case 3:
            while (f.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
            }
            break;
        default:
            while (!f.is_ready()) {
                std::this_thread::yield();
            }
    }
}

// Holds: future: What the producer did before it delivered happens before the return of wait(),
//     wait_for(), wait_until() when they say ready, and of is_ready().
TEST(future, synchronizes_with_every_way_to_wait) {
    for (int i = 0; i < 100; ++i) {
        int data = 0;  // plain: ordered only by the future
        promise<void> p;
        const auto f = p.get_future();
        std::thread producer([&] {
            data = 1;
            p.set_value();
        });
        wait_somehow(f, i % 5);
        EXPECT_EQ(data, 1);
        producer.join();
    }
}

}  // namespace
