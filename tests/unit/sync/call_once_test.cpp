// SPDX-License-Identifier: BSL-1.0
// call_once: one call, seen by all, and repeated after an exception.
#include <quern/sync/call_once.hpp>

#include <quern/sync/event.hpp>

#include "crew.hpp"

#include <memory>
#include <stdexcept>
#include <system_error>
#include <type_traits>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;
using quern_test::let_others_run;

class call_once_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(call_once_test);

// Holds: call_once: f is called unless a call with this flag has already returned from its
//     function.
// Holds: call_once: Others that come meanwhile wait until that call has returned.
// Holds: call_once: What the function did happens before the return of every call_once with the
//     flag.
// Holds: call_once: The function may suspend.
TEST_P(call_once_test, calls_one_of_many_and_lets_the_others_wait_for_it) {
    const int rounds = k_sanitized ? 20 : 200;
    for (int round = 0; round < rounds; ++round) {
        quern::once_flag flag;
        int calls = 0;
        std::atomic<int> wrong{0};
        const auto come = [&] {
            quern::call_once(flag, [&] {
                if (quern::detail::current_context() != nullptr) {
                    let_others_run();  // it may suspend
                }
                ++calls;
            });
            wrong += calls == 1 ? 0 : 1;
        };
        for (int i = 0; i < 20; ++i) {
            all.task(come);
        }
        all.thread(come);
        come();
        all.finish();
        ASSERT_EQ(calls, 1);
        ASSERT_EQ(wrong.load(), 0);
    }
}

// Holds: call_once: When the function throws, its caller gets the exception, and another one calls
//     its own.
TEST_P(call_once_test, lets_the_next_one_try_after_an_exception) {
    constexpr int k_failures = 5;
    constexpr int k_tasks = 20;
    quern::once_flag flag;
    int tries = 0;
    std::atomic<int> thrown{0};
    for (int i = 0; i < k_tasks; ++i) {
        all.task([&] {
            try {
                quern::call_once(flag, [&] {
                    let_others_run();
                    if (++tries <= k_failures) {
                        throw std::runtime_error("not yet");
                    }
                });
            } catch (const std::runtime_error&) {
                ++thrown;
            }
        });
    }
    all.finish();
    EXPECT_EQ(tries, k_failures + 1);
    EXPECT_EQ(thrown.load(), k_failures);
}

// Holds: call_once: When the function throws, the one that has waited longest calls its own.
//     **Differs**: unspecified there.
TEST_P(call_once_test, lets_the_one_try_next_that_has_waited_longest) {
    constexpr int k_tasks = 10;
    quern::once_flag flag;
    quern::event go;
    std::vector<int> order;  // plain: one function at a time
    for (int i = 0; i < k_tasks; ++i) {
        all.task([&, i] {
            const auto fail = [&, i] {
                go.wait();
                order.push_back(i);
                throw std::runtime_error("not me");
            };
            EXPECT_THROW(quern::call_once(flag, fail), std::runtime_error);
        });
        all.settle();
    }
    go.set();
    all.finish();
    ASSERT_EQ(order.size(), std::size_t{k_tasks});
    for (int i = 0; i < k_tasks; ++i) {
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
}

// Holds: call_once: Arguments are forwarded, not copied; the result is dropped.
TEST_P(call_once_test, passes_arguments_as_they_are_and_ignores_the_result) {
    quern::once_flag flag;
    auto value = std::make_unique<int>(42);
    int seen = 0;
    const auto take = [](std::unique_ptr<int> from, int& to) { return to = *from; };
    quern::call_once(flag, take, std::move(value), seen);
    EXPECT_EQ(seen, 42);
    quern::call_once(flag, [] { FAIL() << "called a second time"; });
}

// Holds: call_once: When f comes to the same flag,
//     std::system_error(resource_deadlock_would_occur). **Differs**: a deadlock there.
TEST_P(call_once_test, throws_when_the_function_comes_back_to_its_own_flag) {
    quern::once_flag flag;
    all.task([&] {
        EXPECT_THROW(quern::call_once(flag, [&] { quern::call_once(flag, [] {}); }),
                     std::system_error);
        bool called = false;
        quern::call_once(flag, [&] { called = true; });
        EXPECT_TRUE(called);
    });
    all.finish();
}

constinit quern::once_flag k_static;

// Holds: call_once: A flag can be initialised statically, and neither copied nor moved.
TEST(call_once_test_of_types, a_flag_can_be_initialised_statically_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<quern::once_flag>);
    EXPECT_FALSE(std::is_move_constructible_v<quern::once_flag>);
    EXPECT_FALSE(std::is_copy_assignable_v<quern::once_flag>);
    bool called = false;
    quern::call_once(k_static, [&called] { called = true; });
    EXPECT_TRUE(called);
}

}  // namespace
