// SPDX-License-Identifier: BSL-1.0
// [futures.shared.future]: one case per sentence.
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>

#include "conformance/expect_error.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using quern::future;
using quern::make_ready_future;
using quern::promise;
using quern::shared_future;

// Holds: shared_future: It can be copied, moved without exceptions, and made of a future.
TEST(shared_future, can_be_copied_moved_and_made_of_a_future) {
    EXPECT_TRUE(std::is_copy_constructible_v<shared_future<int>>);
    EXPECT_TRUE(std::is_copy_assignable_v<shared_future<int>>);
    EXPECT_TRUE(std::is_nothrow_move_constructible_v<shared_future<int>>);
    EXPECT_TRUE(std::is_nothrow_move_assignable_v<shared_future<int>>);
    EXPECT_TRUE((std::is_convertible_v<future<int>, shared_future<int>>));
    future<int> f = make_ready_future(1);
    const shared_future<int> g(std::move(f));
    EXPECT_FALSE(f.valid());
    EXPECT_EQ(g.get(), 1);
}

static_assert(std::is_same_v<decltype(std::declval<shared_future<int>>().get()), const int&>);
static_assert(std::is_same_v<decltype(std::declval<shared_future<int&>>().get()), int&>);
static_assert(std::is_same_v<decltype(std::declval<shared_future<void>>().get()), void>);

// Holds: shared_future: By default it refers to no state; get() and wait() throw
//     std::future_error(no_state) then. **Differs**: undefined there.
TEST(shared_future, by_default_refers_to_no_state) {
    const shared_future<int> f;
    EXPECT_FALSE(f.valid());
    QUERN_EXPECT_FUTURE_ERROR(f.get(), no_state);
    QUERN_EXPECT_FUTURE_ERROR(f.wait(), no_state);
}

// Holds: shared_future: A copy refers to the same state.
// Holds: shared_future: get() gives a reference...
TEST(shared_future, copies_refer_to_the_same_state) {
    const shared_future<std::string> f = make_ready_future(std::string("one"));
    const shared_future<std::string> g(f);  // NOLINT(performance-unnecessary-copy-initialization)
    EXPECT_TRUE(f.valid());
    EXPECT_EQ(&f.get(), &g.get());
}

// Holds: shared_future: A move leaves the other one without state.
TEST(shared_future, move_leaves_no_state) {
    shared_future<int> f = make_ready_future(1);
    shared_future<int> g(std::move(f));
    EXPECT_FALSE(f.valid());
    EXPECT_EQ(g.get(), 1);
    f = std::move(g);
    EXPECT_FALSE(g.valid());
    EXPECT_EQ(f.get(), 1);
}

// Holds: shared_future: Made of a future without state it has none.
TEST(shared_future, of_a_future_without_state_has_none) {
    future<int> none;
    EXPECT_FALSE(shared_future<int>(std::move(none)).valid());
}

// Holds: shared_future: The state lives as long as the last copy.
TEST(shared_future, releases_the_state_with_the_last_copy) {
    auto witness = std::make_shared<int>(0);
    {
        shared_future<std::shared_ptr<int>> f = make_ready_future(witness);
        shared_future<std::shared_ptr<int>> g = f;
        f = {};
        EXPECT_EQ(witness.use_count(), 2);
    }
    EXPECT_EQ(witness.use_count(), 1);
}

// Holds: shared_future: get() may be called any number of times and leaves the future valid.
TEST(shared_future, get_may_be_called_many_times) {
    const shared_future<int> f = make_ready_future(1);
    EXPECT_EQ(f.get(), 1);
    EXPECT_EQ(f.get(), 1);
    EXPECT_TRUE(f.valid());
}

// Holds: shared_future: get() throws the stored exception, every time.
TEST(shared_future, get_throws_the_stored_exception_every_time) {
    const shared_future<int> f =
        quern::make_exceptional_future<int>(std::make_exception_ptr(std::logic_error("x")));
    EXPECT_THROW(f.get(), std::logic_error);
    EXPECT_THROW(f.get(), std::logic_error);
}

// Holds: shared_future: get() gives a reference to const; of a reference that reference; of void
//     nothing.
TEST(shared_future, of_a_reference_or_of_void) {
    promise<int&> p;
    int place = 0;
    p.set_value(place);
    const shared_future<int&> f = p.get_future();
    EXPECT_EQ(&f.get(), &place);
    EXPECT_EQ(&f.get(), &place);
    const shared_future<void> g = make_ready_future();
    g.get();
    g.get();
}

// Holds: shared_future: Any number of threads may wait, each by a copy of its own.
TEST(shared_future, may_be_waited_for_by_many_threads) {
    promise<int> p;
    const shared_future<int> f = p.get_future();
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([f] {
            f.wait();
            EXPECT_EQ(f.get(), 9);
        });
    }
    p.set_value(9);
    for (std::thread& t : threads) {
        t.join();
    }
}

TEST(shared_future, is_satisfied_by_a_task) {
    const shared_future<int> f = quern::async([] { return 3; });
    EXPECT_EQ(f.get(), 3);
}

// Holds: shared_future: A copy assigned refers to the same state and has released its own.
TEST(shared_future, copy_assignment_releases_and_shares) {
    auto witness = std::make_shared<int>(0);
    shared_future<std::shared_ptr<int>> f = make_ready_future(witness);
    const shared_future<std::shared_ptr<int>> other = make_ready_future(std::make_shared<int>(1));
    f = other;
    EXPECT_EQ(witness.use_count(), 1);
    EXPECT_TRUE(other.valid());
    EXPECT_EQ(&f.get(), &other.get());
}

// Holds: shared_future: What the producer did happens before the return of each get() and wait().
TEST(shared_future, synchronizes_with_every_reader) {
    for (int i = 0; i < 50; ++i) {
        int data = 0;  // plain: ordered only by the future
        promise<void> p;
        const shared_future<void> f = p.get_future();
        std::vector<std::thread> readers;
        for (int r = 0; r < 4; ++r) {
            readers.emplace_back([f, r, &data] {
                if (r % 2 == 0) {
                    f.get();
                } else {
                    f.wait();
                }
                EXPECT_EQ(data, 1);
            });
        }
        data = 1;
        p.set_value();
        for (std::thread& r : readers) {
            r.join();
        }
    }
}

}  // namespace
