// SPDX-License-Identifier: BSL-1.0
// [futures.promise]: one case per sentence.
#include <quern/task/promise.hpp>

#include "conformance/expect_error.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using quern::future;
using quern::promise;

// Holds: promise: It can be moved, without exceptions, and not copied.
TEST(promise, can_be_moved_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<promise<int>>);
    EXPECT_FALSE(std::is_copy_assignable_v<promise<int>>);
    EXPECT_TRUE(std::is_nothrow_move_constructible_v<promise<int>>);
    EXPECT_TRUE(std::is_nothrow_move_assignable_v<promise<int>>);
}

// Holds: promise: The constructor makes a state.
// Holds: promise: get_future() gives the future of the state, before or after the result.
TEST(promise, constructs_a_shared_state) {
    promise<int> p;
    EXPECT_TRUE(p.get_future().valid());
}

// Holds: promise: Move construction takes the state over and leaves none.
// Holds: promise: Every function of a promise without state throws std::future_error(no_state).
TEST(promise, move_constructor_transfers_the_state_and_leaves_none) {
    promise<int> p;
    future<int> f = p.get_future();
    promise<int> q(std::move(p));
    q.set_value(1);
    EXPECT_EQ(f.get(), 1);
    QUERN_EXPECT_FUTURE_ERROR(p.get_future(), no_state);
    QUERN_EXPECT_FUTURE_ERROR(p.set_value(1), no_state);
}

// Holds: promise: Move assignment abandons the old state, and takes the other's over.
TEST(promise, move_assignment_abandons_the_old_state) {
    promise<int> p, q;
    future<int> old = p.get_future();
    future<int> kept = q.get_future();
    p = std::move(q);
    QUERN_EXPECT_FUTURE_ERROR(old.get(), broken_promise);
    p.set_value(2);
    EXPECT_EQ(kept.get(), 2);
    QUERN_EXPECT_FUTURE_ERROR(q.set_value(3), no_state);
}

// Holds: promise: Move assignment to itself changes nothing.
TEST(promise, move_assignment_to_itself_is_harmless) {
    promise<int> p;
    future<int> f = p.get_future();
    promise<int>& same = p;
    p = std::move(same);
    p.set_value(1);
    EXPECT_EQ(f.get(), 1);
}

// Holds: promise: The destructor abandons a state without result: its future is ready with
//     std::future_error(broken_promise).
TEST(promise, destructor_abandons_the_state) {
    future<int> f;
    {
        promise<int> p;
        f = p.get_future();
    }
    EXPECT_TRUE(f.is_ready());
    QUERN_EXPECT_FUTURE_ERROR(f.get(), broken_promise);
}

// Holds: promise: The destructor leaves a result alone.
TEST(promise, destructor_leaves_a_result_alone) {
    future<std::string> f;
    {
        promise<std::string> p;
        f = p.get_future();
        p.set_value("kept");
    }
    EXPECT_EQ(f.get(), "kept");
}

// Holds: promise: swap() exchanges the states.
TEST(promise, swap_exchanges_the_states) {
    promise<int> p, q;
    future<int> fp = p.get_future();
    future<int> fq = q.get_future();
    p.swap(q);
    p.set_value(1);
    q.set_value(2);
    EXPECT_EQ(fp.get(), 2);
    EXPECT_EQ(fq.get(), 1);
}

// Holds: promise: get_future() a second time throws std::future_error(future_already_retrieved),
//     also after a move.
TEST(promise, get_future_may_be_called_once) {
    promise<int> p;
    const future<int> f = p.get_future();
    QUERN_EXPECT_FUTURE_ERROR(p.get_future(), future_already_retrieved);
    promise<int> q(std::move(p));
    QUERN_EXPECT_FUTURE_ERROR(q.get_future(), future_already_retrieved);
}

// Holds: promise: get_future() gives the future...
TEST(promise, get_future_may_be_called_after_the_result_was_set) {
    promise<int> p;
    p.set_value(4);
    EXPECT_EQ(p.get_future().get(), 4);
}

// Holds: promise: set_value() stores a copy, or moves.
TEST(promise, set_value_stores_by_copy_or_move) {
    promise<std::string> p;
    const std::string text = "text";
    p.set_value(text);
    EXPECT_EQ(p.get_future().get(), "text");
    promise<std::unique_ptr<int>> q;
    q.set_value(std::make_unique<int>(5));
    EXPECT_EQ(*q.get_future().get(), 5);
}

// Holds: promise: set_value() of a reference stores the reference.
TEST(promise, set_value_of_a_reference_refers) {
    promise<int&> p;
    int place = 1;
    p.set_value(place);
    EXPECT_EQ(&p.get_future().get(), &place);
}

// Holds: promise: set_value() of void takes nothing and makes the state ready.
TEST(promise, set_value_of_void_takes_nothing) {
    promise<void> p;
    auto f = p.get_future();
    EXPECT_FALSE(f.is_ready());
    p.set_value();
    EXPECT_TRUE(f.is_ready());
    f.get();
}

// Holds: promise: A second set_value() or set_exception() throws
//     std::future_error(promise_already_satisfied) and changes nothing.
TEST(promise, may_be_satisfied_once) {
    promise<int> p;
    p.set_value(1);
    QUERN_EXPECT_FUTURE_ERROR(p.set_value(2), promise_already_satisfied);
    QUERN_EXPECT_FUTURE_ERROR(p.set_exception(std::make_exception_ptr(1)),
                              promise_already_satisfied);
    EXPECT_EQ(p.get_future().get(), 1);
    promise<void> q;
    q.set_exception(std::make_exception_ptr(1));
    QUERN_EXPECT_FUTURE_ERROR(q.set_value(), promise_already_satisfied);
    QUERN_EXPECT_FUTURE_ERROR(q.set_exception(std::make_exception_ptr(2)),
                              promise_already_satisfied);
    EXPECT_THROW(q.get_future().get(), int);
}

// Holds: promise: set_exception() makes the state ready with the exception.
TEST(promise, set_exception_is_thrown_by_get) {
    promise<int> p;
    p.set_exception(std::make_exception_ptr(std::runtime_error("set")));
    future<int> f = p.get_future();
    EXPECT_TRUE(f.is_ready());
    EXPECT_THROW(f.get(), std::runtime_error);
}

struct copy_throws {
    copy_throws() = default;
    copy_throws(const copy_throws&) { throw std::logic_error("copy"); }
    copy_throws(copy_throws&&) noexcept = default;
};

// Holds: promise: set_value() throws what the copy or move throws; the promise can still be kept
//     then.
TEST(promise, set_value_throws_what_the_copy_throws_and_stays_unsatisfied) {
    promise<copy_throws> p;
    const copy_throws value;
    EXPECT_THROW(p.set_value(value), std::logic_error);
    future<copy_throws> f = p.get_future();
    EXPECT_FALSE(f.is_ready());
    p.set_value(copy_throws());
    EXPECT_TRUE(f.is_ready());
    (void)f.get();
}

/// Several threads that begin at the same time.
template <class F>
void all_at_once(int threads, F f) {
    std::atomic<int> missing{threads};
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
        all.emplace_back([&, i] {
            missing.fetch_sub(1);
            while (missing.load() != 0) {
                std::this_thread::yield();
            }
            f(i);
        });
    }
    for (std::thread& each : all) {
        each.join();
    }
}

template <class F>
bool is_refused(F&& f) {
    return quern_test::future_error_of(f) == std::future_errc::promise_already_satisfied;
}

// Holds: promise: Of several threads that set a result at once one does; the others get
//     promise_already_satisfied.
TEST(promise, may_be_satisfied_by_one_of_several_threads) {
    for (int round = 0; round < 500; ++round) {
        promise<std::string> p;
        auto f = p.get_future();
        std::atomic<int> refused{0};
        all_at_once(3, [&](int i) {
            refused += is_refused([&] {
                if (i == 2) {
                    p.set_exception(std::make_exception_ptr(2));
                } else {
                    p.set_value(std::string(100, static_cast<char>('a' + i)));
                }
            });
        });
        EXPECT_EQ(refused.load(), 2);
        ASSERT_TRUE(f.is_ready());
        try {
            const std::string text = f.get();
            EXPECT_TRUE(text == std::string(100, 'a') || text == std::string(100, 'b'));
        } catch (int thrown) {
            EXPECT_EQ(thrown, 2);
        }
    }
}

// Holds: promise: get_future() by several threads at once gives the future to one of them.
TEST(promise, gives_its_future_to_one_of_several_threads) {
    for (int round = 0; round < 500; ++round) {
        promise<void> p;
        std::atomic<int> got{0};
        all_at_once(2, [&](int) {
            got += !quern_test::future_error_of([&] { (void)p.get_future(); }).has_value();
        });
        EXPECT_EQ(got.load(), 1);
    }
}

struct waits_in_its_copy {
    explicit waits_in_its_copy(std::atomic<int>& s) : step(s) {}
    waits_in_its_copy(const waits_in_its_copy& other) : step(other.step) {
        step.store(1);
        while (step.load() == 1) {
            std::this_thread::yield();
        }
        throw std::logic_error("copy");
    }
    waits_in_its_copy(waits_in_its_copy&& other) noexcept : step(other.step) {}
    std::atomic<int>& step;
};

// Holds: promise: A set_value() that comes while another one's copy is being made waits, and takes
//     its place if the copy throws.
TEST(promise, may_be_satisfied_by_one_that_came_while_another_ones_copy_failed) {
    std::atomic<int> step{0};
    promise<waits_in_its_copy> p;
    std::thread fails([&] {
        const waits_in_its_copy value(step);
        EXPECT_THROW(p.set_value(value), std::logic_error);
    });
    while (step.load() == 0) {
        std::this_thread::yield();
    }
    std::thread succeeds([&] { p.set_value(waits_in_its_copy(step)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    step.store(2);
    fails.join();
    succeeds.join();
    EXPECT_FALSE(p.get_future().has_exception());
}

// Holds: promise: Promise and future may be destroyed as soon as the result is there, while
//     set_value() has not returned.
TEST(promise, may_go_as_soon_as_its_future_is_ready) {
    for (int round = 0; round < 500; ++round) {
        auto p = std::make_unique<promise<int>>();
        auto f = p->get_future();
        std::thread producer([&p] { p->set_value(1); });
        while (!f.is_ready()) {
            std::this_thread::yield();
        }
        p.reset();
        EXPECT_EQ(f.get(), 1);
        producer.join();
    }
}

// Holds: promise: set_value() takes a list of initialisers in braces.
TEST(promise, set_value_takes_initialisers_in_braces) {
    promise<std::pair<int, std::string>> p;
    p.set_value({1, "text"});
    EXPECT_EQ(p.get_future().get().second, "text");
    promise<std::vector<int>> q;
    q.set_value({1, 2, 3});
    EXPECT_EQ(q.get_future().get().size(), 3U);
}

// Holds: promise: The result may be of a const type.
TEST(promise, of_a_const_type_delivers) {
    promise<const std::string> p;
    p.set_value("text");
    EXPECT_EQ(p.get_future().get(), "text");
}

// Holds: promise: swap() exchanges the...
TEST(promise, free_swap_exchanges_the_states) {
    promise<int> p;
    promise<int> q;
    auto of_p = p.get_future();
    swap(p, q);
    q.set_value(1);
    EXPECT_EQ(of_p.get(), 1);
}

// Holds: future: What the producer did before it delivered happens before the return of get().
// Holds: promise: What comes before set_value() or set_exception() happens before the return of
//     get().
TEST(promise, synchronizes_with_get) {
    for (int i = 0; i < 100; ++i) {
        int data = 0;  // plain: ordered only by the promise
        promise<void> p;
        auto f = p.get_future();
        std::thread producer([&] {
            data = 1;
            p.set_value();
        });
        f.get();
        EXPECT_EQ(data, 1);
        producer.join();
    }
}

// Holds: make_ready_future: make_ready_future(value) is ready with a copy of the value, or with the
//     value moved.
// Holds: make_ready_future: make_ready_future() is a ready future of void.
// Holds: make_ready_future: make_exceptional_future(error) is ready, and its get() throws the
//     error.
TEST(ready_futures, are_ready) {
    EXPECT_EQ(quern::make_ready_future(3).get(), 3);
    EXPECT_EQ(quern::make_ready_future(std::string("s")).get(), "s");
    quern::make_ready_future().get();
    auto failed = quern::make_exceptional_future<int>(std::make_exception_ptr(1));
    EXPECT_TRUE(failed.has_exception());
    EXPECT_THROW(failed.get(), int);
}

}  // namespace
