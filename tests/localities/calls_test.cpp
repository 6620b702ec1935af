// SPDX-License-Identifier: BSL-1.0
// What can be called at a locality, from where, and what the caller gets.
#include "on_job.hpp"

#include <quern/task/dataflow.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/unwrapping.hpp>
#include <quern/task/when.hpp>

#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::all;
using quern::localities::count;
using quern::localities::here;
using quern::localities::post_to;
using quern::localities::run_at;

class localities_calls : public on_job {};

int add(int a, int b) { return a + b; }

// Holds: session: here() is the number of the calling process's locality, its rank; count() is how
// many localities the job has, and all() the range of their numbers.
TEST_P(localities_calls, localities_have_the_numbers_of_the_ranks) {
    EXPECT_EQ(here(), this_world().rank);
    EXPECT_EQ(count(), this_world().size);
    int expected = 0;
    for (const int each : all()) {
        EXPECT_EQ(each, expected++);
        EXPECT_EQ(run_at(each, &here).get(), each);
    }
    EXPECT_EQ(expected, count());
}

// Holds: run_at: f(args...) is called at the locality that is named, a function or a lambda without
// captures, and the future gets its result.
TEST_P(localities_calls, a_function_and_a_lambda_are_called_where_the_caller_says) {
    for (const int each : all()) {
        EXPECT_EQ(run_at(each, &add, 40, 2).get(), 42);
        EXPECT_EQ(run_at(each, add, 1, 2).get(), 3);
        EXPECT_EQ(run_at(
                      each, [](int by) { return here() * by; }, 10)
                      .get(),
                  each * 10);
        const auto twice = [](double value) { return 2 * value; };
        EXPECT_EQ(run_at(each, twice, 0.25).get(), 0.5);
    }
}

std::atomic<int> g_noted{0};
void note(int value) { g_noted = value; }

// Holds: run_at: A function without a result has run when the future is ready.
TEST_P(localities_calls, the_future_of_a_call_without_result_is_ready_after_it) {
    auto done = run_at(next_locality(), &note, here() + 5);
    static_assert(std::is_same_v<decltype(done), quern::future<void>>);
    done.get();
    EXPECT_EQ(run_at(next_locality(), [] { return g_noted.load(); }).get(), here() + 5);
}

struct boxed {
    int number = 0;
    std::unique_ptr<std::string> text;
};

// Holds: run_at: Arguments and results may be types that can only be moved.
TEST_P(localities_calls, arguments_and_results_may_be_move_only) {
    const auto increment = [](std::unique_ptr<int> value) {
        return std::make_unique<int>(*value + 1);
    };
    EXPECT_EQ(*run_at(next_locality(), increment, std::make_unique<int>(41)).get(), 42);
    const auto open = [](boxed what) {
        *what.text += "!";
        what.number *= 2;
        return what;
    };
    const boxed answer =
        run_at(next_locality(), open, boxed{21, std::make_unique<std::string>("hello")}).get();
    EXPECT_EQ(answer.number, 42);
    EXPECT_EQ(*answer.text, "hello!");
}

std::size_t length_of(const std::string& text) { return text.size(); }
std::string grown(std::string&& text) { return std::move(text) + "."; }

// Holds: run_at: A parameter may be a T, a const T& or a T&&.
TEST_P(localities_calls, parameters_may_be_references_that_take_a_value) {
    const std::string kept = "abc";
    EXPECT_EQ(run_at(next_locality(), &length_of, kept).get(), 3U);
    EXPECT_EQ(run_at(next_locality(), &grown, kept).get(), "abc.");
    EXPECT_EQ(kept, "abc");
    EXPECT_EQ(run_at(next_locality(), &grown, std::string("d")).get(), "d.");
}

std::string& name_at_home() {
    static std::string name = "locality " + std::to_string(here());
    return name;
}

// Holds: run_at: A result that is a reference arrives as a copy of what it refers to.
TEST_P(localities_calls, a_result_by_reference_is_a_copy) {
    for (const int each : all()) {
        auto answer = run_at(each, &name_at_home);
        static_assert(std::is_same_v<decltype(answer), quern::future<std::string>>);
        std::string name = answer.get();
        EXPECT_EQ(name, "locality " + std::to_string(each));
        name += " is changed";
        EXPECT_EQ(run_at(each, &name_at_home).get(), "locality " + std::to_string(each));
    }
}

std::atomic<int> g_copies{0};

class counts_copies {
public:
    counts_copies() = default;
    explicit counts_copies(int value) : m_value(value) {}
    counts_copies(const counts_copies& other) : m_value(other.m_value) { ++g_copies; }
    counts_copies(counts_copies&& other) noexcept = default;
    counts_copies& operator=(const counts_copies& other) {
        m_value = other.m_value;
        ++g_copies;
        return *this;
    }
    counts_copies& operator=(counts_copies&& other) noexcept = default;
    ~counts_copies() = default;

    int value() const { return m_value; }
    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_value);
    }

private:
    int m_value = 0;
};

// Holds: run_at: Each argument is copied or moved once from the caller, and copied nowhere else.
TEST_P(localities_calls, arguments_and_results_are_not_copied_further) {
    for (const int each : all()) {
        const counts_copies kept(7);
        const int before = g_copies;  // functions that others call here copy nothing
        EXPECT_EQ(run_at(
                      each, [](counts_copies taken) { return taken.value(); }, kept)
                      .get(),
                  7);
        EXPECT_EQ(g_copies - before, 1) << "at " << each;
        const auto pass_on = [](counts_copies&& taken) { return std::move(taken); };
        EXPECT_EQ(run_at(each, pass_on, counts_copies(8)).get().value(), 8);
        EXPECT_EQ(g_copies - before, 1) << "at " << each;
    }
}

// Holds: run_at: The caller may change its arguments as soon as run_at() has returned.
TEST_P(localities_calls, a_later_change_of_an_argument_does_not_travel) {
    for (const std::size_t size : {std::size_t{3}, std::size_t{100'000}}) {
        std::vector<int> values(size, 1);
        auto sum = run_at(
            next_locality(),
            [](const std::vector<int>& of) { return std::accumulate(of.begin(), of.end(), 0); },
            values);
        values.assign(size, 2);
        EXPECT_EQ(sum.get(), static_cast<int>(size));
    }
}

// Holds: run_at: The future has then(), and goes into when_all and dataflow, as that of async().
TEST_P(localities_calls, futures_of_calls_are_combined_as_others) {
    auto after = run_at(next_locality(), &add, 1, 2).then([](quern::future<int> sum) {
        return 10 * sum.get();
    });
    EXPECT_EQ(after.get(), 30);

    std::vector<quern::future<int>> calls;
    for (int i = 0; i < 20; ++i) {
        calls.push_back(run_at(i % count(), &add, i, i));
    }
    std::vector<quern::future<int>> results = quern::when_all(std::move(calls)).get();
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(results[static_cast<std::size_t>(i)].get(), 2 * i);
    }

    auto both =
        quern::dataflow(quern::unwrapping([](int a, int b) { return a * b; }),
                        run_at(next_locality(), &add, 1, 2), quern::async([] { return 5; }));
    EXPECT_EQ(both.get(), 15);
}

// Holds: run_at: Any task or thread may call it.
TEST_P(localities_calls, threads_and_tasks_may_call) {
    int from_thread = 0;
    std::thread caller([&] { from_thread = run_at(next_locality(), &add, 1, 2).get(); });
    caller.join();
    EXPECT_EQ(from_thread, 3);
    EXPECT_EQ(quern::async([] { return run_at(next_locality(), &add, 3, 4).get(); }).get(), 7);
}

// Holds: run_at: Any task or thread...
TEST_P(localities_calls, many_tasks_call_all_localities_at_once) {
    constexpr int k_tasks = 64;
    constexpr int k_calls = scaled(50, 10);
    std::atomic<int> wrong{0};
    quern::task_group callers;
    for (int task = 0; task < k_tasks; ++task) {
        callers.run([task, &wrong] {
            for (int i = 0; i < k_calls; ++i) {
                for (const int each : all()) {
                    const auto number = [](int a, int b) { return 1000 * here() + a + b; };
                    wrong += run_at(each, number, task, i).get() != 1000 * each + task + i;
                }
            }
        });
    }
    callers.wait();
    EXPECT_EQ(wrong, 0);
}

// Holds: run_at: It throws std::out_of_range for a number that is no locality.
// Holds: post_to: It throws std::out_of_range for a number that is no locality.
TEST_P(localities_calls, numbers_that_are_no_localities_are_refused) {
    for (const int wrong : {-1, count(), 1'000'000'000}) {
        EXPECT_THROW(run_at(wrong, &add, 1, 2), std::out_of_range) << wrong;
        EXPECT_THROW(post_to(wrong, &note, 1), std::out_of_range) << wrong;
    }
    try {
        static_cast<void>(run_at(4711, &add, 1, 2));
        ADD_FAILURE() << "no exception";
    } catch (const std::out_of_range& error) {
        EXPECT_NE(std::string(error.what()).find("4711"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("0 to " + std::to_string(count() - 1)),
                  std::string::npos)
            << error.what();
    }
}

QUERN_ON_1_2_WORKERS(localities_calls);

}  // namespace
