// SPDX-License-Identifier: BSL-1.0
// What a task owns (its function, arguments, input) is destroyed before its result is known, for
// every way to make a task: else get() returns while a lock, a file or a reference that the task
// was given is still held.
#include <quern/task/async.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/task_local.hpp>
#include <quern/task/thread.hpp>
#include <quern/task/when_each.hpp>

#include "unit/scheduler/on_runtime.hpp"
#include "unit/task/probe.hpp"

#include <atomic>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>

namespace {

using quern::async;
using quern_test::expect_destroyed_before_result;
using quern_test::probe;

class end_of_task : public quern_test::on_lone_runtime {};
QUERN_ON_STEALING_POLICIES(end_of_task);

/// Makes the cases in a task, whose get() may run them in its place, and on a thread outside.
template <class F>
void everywhere(quern::runtime& rt, F cases) {
    async(rt, cases).get();
    cases();
}

// Holds: async: Function and arguments are destroyed before the result is known.
TEST_P(end_of_task, of_async) {
    const auto where = rt.default_pool();
    everywhere(rt, [where] {
        expect_destroyed_before_result(
            "void", [where](probe p) { return async(where, [p = std::move(p)] { p.wait(); }); });
        expect_destroyed_before_result("value", [where](probe p) {
            return async(where, [p = std::move(p)] {
                p.wait();
                return 1;
            });
        });
        expect_destroyed_before_result("exception", [where](probe p) {
            return async(where, [p = std::move(p)] {
                p.wait();
                throw std::runtime_error("task");
            });
        });
        expect_destroyed_before_result("argument", [where](probe p) {
            return async(
                where, [](const probe& kept) { kept.wait(); }, std::move(p));
        });
        expect_destroyed_before_result("token", [where](probe p) {
            const std::stop_source source;
            return async({.pool = &where.get(), .stop = source.get_token()},
                         [p = std::move(p)] { p.wait(); });
        });
        expect_destroyed_before_result("fork", [where](probe p) {
            return async({.how = quern::launch::fork, .pool = &where.get()},
                         [p = std::move(p)] { p.wait(); });
        });
        expect_destroyed_before_result("deferred", [where](probe p) {
            return async({.how = quern::launch::deferred, .pool = &where.get()},
                         [p = std::move(p)] { p.wait(); });
        });
    });
}

// Holds: future: then(): function and input are destroyed before the result is known.
// Holds: dataflow: Function and arguments are destroyed before the result is known.
TEST_P(end_of_task, of_what_waits_for_an_input) {
    const quern::task_attributes how{.pool = &rt.default_pool().get()};
    everywhere(rt, [how] {
        expect_destroyed_before_result("then", [how](probe p) {
            return async(how, [] { return 1; }).then(how, [p = std::move(p)](auto) { p.wait(); });
        });
        expect_destroyed_before_result("value of the input", [how](probe p) {
            return async(how, [p = std::move(p)]() mutable { return std::move(p); })
                .then(how, [](auto ready) { ready.get().wait(); });
        });
        expect_destroyed_before_result("dataflow", [how](probe p) {
            return quern::dataflow(
                how, [p = std::move(p)](auto) { p.wait(); }, async(how, [] {}));
        });
        expect_destroyed_before_result("argument of dataflow", [how](probe p) {
            return quern::dataflow(
                how, [](const probe& kept, auto) { kept.wait(); }, std::move(p), async(how, [] {}));
        });
    });
}

// Holds: when_each: The function is destroyed before the end is known.
TEST_P(end_of_task, of_when_each) {
    const auto where = rt.default_pool();
    everywhere(rt, [where] {
        expect_destroyed_before_result("when_each", [where](probe p) {
            return quern::when_each([p = std::move(p)](auto) { p.wait(); }, async(where, [] {}));
        });
        expect_destroyed_before_result("when_each, exception", [where](probe p) {
            auto throws = [p = std::move(p)](auto) {
                p.wait();
                throw std::runtime_error("each");
            };
            return quern::when_each(std::move(throws), async(where, [] {}), async(where, [] {}));
        });
    });
}

quern::task<int> keeps(probe p) {
    p.wait();
    co_return 1;
}

quern::task<int> throws(probe p) {
    p.wait();
    throw std::runtime_error("coroutine");
    co_return 1;
}

// Holds: start: The coroutine's frame, with its parameters, is destroyed before the result is
//     known.
TEST_P(end_of_task, of_a_coroutine) {
    const auto where = rt.default_pool();
    everywhere(rt, [where] {
        expect_destroyed_before_result(
            "coroutine", [where](probe p) { return quern::start(where, keeps(std::move(p))); });
        expect_destroyed_before_result(
            "exception", [where](probe p) { return quern::start(where, throws(std::move(p))); });
    });
}

const quern::task_local<std::optional<probe>> k_local;

quern::task<int> keeps_as_local(probe p) {
    p.wait();
    k_local->emplace(std::move(p));
    co_return 1;
}

// Holds: task_local: The value is destroyed...
TEST_P(end_of_task, of_its_local_variables) {
    const quern::task_attributes how{.pool = &rt.default_pool().get()};
    const auto where = rt.default_pool();
    everywhere(rt, [how, where] {
        expect_destroyed_before_result("async", [how](probe p) {
            return async(how, [p = std::move(p)]() mutable {
                p.wait();
                k_local->emplace(std::move(p));
            });
        });
        expect_destroyed_before_result("then", [how](probe p) {
            return async(how, [] {}).then(how, [p = std::move(p)](auto) mutable {
                p.wait();
                k_local->emplace(std::move(p));
            });
        });
        expect_destroyed_before_result("when_each", [how](probe p) {
            return quern::when_each(
                [p = std::move(p)](auto) mutable {
                    p.wait();
                    k_local->emplace(std::move(p));
                },
                async(how, [] {}));
        });
        expect_destroyed_before_result("coroutine", [where](probe p) {
            return quern::start(where, keeps_as_local(std::move(p)));
        });
    });
}

struct counted {
    static inline std::atomic<int> alive{0};
    counted() noexcept { ++alive; }
    counted(const counted&) noexcept { ++alive; }
    counted& operator=(const counted&) = default;
    ~counted() { --alive; }
};

// Holds: task_group: Closures are destroyed...
TEST_P(end_of_task, of_a_group_and_of_a_thread) {
    for (int round = 0; round < quern_test::scaled(500, 50); ++round) {
        quern::task_group group(rt.default_pool());
        for (int i = 0; i < 4; ++i) {
            group.run([kept = counted()] { static_cast<void>(kept); });
        }
        group.wait();
        ASSERT_EQ(counted::alive, 0);
        quern::thread one({.pool = &rt.default_pool().get()}, [kept = counted()] {});
        one.join();
        ASSERT_EQ(counted::alive, 0);
    }
}

}  // namespace
