// SPDX-License-Identifier: BSL-1.0
// A spawn() that throws: what it has named is as it was before it.
#include <quern/dependences/reduction.hpp>
#include <quern/dependences/renamed.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/task/promise.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <functional>
#include <new>
#include <stdexcept>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern::renamed;

class domain_undone : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(domain_undone);

/// A function that cannot be copied into the task.
struct uncopyable_body {
    uncopyable_body() = default;
    uncopyable_body(const uncopyable_body&) { throw std::runtime_error("copy"); }
    int operator()() const { return 0; }
};

/// Keeps the current version in use while `spawn_wrongly` is called, which throws. Then the object
/// must have the value that it had, 42, and be named again.
template <class Error, class Spawn>
void keeps_value(Spawn spawn_wrongly) {
    std::vector<int> buffer(4, 1);
    domain work;
    std::vector<int> seen;
    quern::promise<void> opened;
    quern::shared_future<void> gate = opened.get_future().share();
    renamed r(buffer);
    work.spawn(out(r), [](auto all) { std::fill(all.begin(), all.end(), 42); });
    work.spawn(in(r), [gate](auto) { gate.wait(); });
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW(spawn_wrongly(work, r), Error);
    }
    EXPECT_NO_THROW(work.spawn(in(r), [&seen](auto all) { seen.assign(all.begin(), all.end()); }));
    EXPECT_THROW(spawn_wrongly(work, r), Error);
    EXPECT_NO_THROW(work.spawn(inout(r), [](auto all) { ++all[0]; }));
    EXPECT_THROW(spawn_wrongly(work, r), Error);
    opened.set_value();
    work.taskwait();
    EXPECT_EQ(seen, std::vector<int>(4, 42));
    EXPECT_EQ(buffer, (std::vector<int>{43, 42, 42, 42}));
    EXPECT_EQ(r.value(), buffer);
}

// Holds: domain: A spawn() that throws leaves renamed objects as they were.
TEST_P(domain_undone, a_function_that_cannot_be_copied_changes_no_renamed_object) {
    inside([] {
        const uncopyable_body body;
        using error = std::runtime_error;
        keeps_value<error>([&](domain& work, auto& r) { work.spawn(out(r), body); });
        keeps_value<error>([&](domain& work, auto& r) { work.spawn(inout(r), body); });
        keeps_value<error>([&](domain& work, auto& r) { work.spawn(in(r), body); });
        keeps_value<error>([&](domain& work, auto& r) { (void)work.async(out(r), body); });
        keeps_value<error>(
            [&](domain& work, auto& r) { work.spawn({.deferred = false}, out(r), body); });
    });
}

// Holds: domain: A spawn() that throws leaves renamed objects...
TEST_P(domain_undone, a_refused_task_changes_no_renamed_object) {
    inside([] {
        keeps_value<std::invalid_argument>(
            [](domain& work, auto& r) { work.spawn(out(r), in(r), [] {}); });
        keeps_value<std::invalid_argument>(
            [](domain& work, auto& r) { work.spawn(out(r), out(r), [] {}); });
        std::vector<int> second(4);
        renamed other(second);
        domain elsewhere;
        elsewhere.spawn(in(other), [](auto) {});
        keeps_value<std::logic_error>(
            [&other](domain& work, auto& r) { work.spawn(out(r), inout(other), [] {}); });
        elsewhere.taskwait();
    });
}

// Holds: domain: A spawn() that throws leaves renamed objects...
TEST_P(domain_undone, a_task_that_ends_a_reduction_changes_no_renamed_object) {
    inside([] {
        const uncopyable_body body;
        int sum = 0;
        const auto add = [&sum](domain& work) {
            work.spawn(quern::reduction(sum, std::plus<>()), [](int& part) { ++part; });
        };
        keeps_value<std::runtime_error>([&](domain& work, auto& r) {
            add(work);
            work.spawn(quern::reduction(sum, std::multiplies<>()), out(r), body);
        });
        keeps_value<std::runtime_error>([&](domain& work, auto& r) {
            add(work);
            work.spawn(out(r), quern::reduction(sum, std::multiplies<>()), body);
        });
        keeps_value<std::invalid_argument>([&](domain& work, auto& r) {
            add(work);
            work.spawn(out(r), quern::reduction(sum, std::multiplies<>()), in(r), [] {});
        });
        EXPECT_EQ(sum, 15);
    });
}

// Holds: domain: A reduction whose task was not spawned adds nothing.
TEST_P(domain_undone, a_reduction_without_its_task_adds_nothing) {
    inside([] {
        domain work;
        const uncopyable_body body;
        int sum = 0;
        for (int i = 0; i < 4; ++i) {
            EXPECT_THROW(work.spawn(quern::reduction(sum, std::plus<>()), body),
                         std::runtime_error);
            work.spawn(quern::reduction(sum, std::plus<>()), [](int& part) { ++part; });
        }
        EXPECT_THROW(work.spawn(quern::reduction(sum, std::plus<>()), body), std::runtime_error);
        work.taskwait();
        EXPECT_EQ(sum, 4);
    });
}

}  // namespace
