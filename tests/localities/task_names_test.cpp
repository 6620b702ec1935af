// SPDX-License-Identifier: BSL-1.0
// What profiles call the tasks of this layer.
#include "on_job.hpp"

#include <quern/localities/communicator.hpp>
#include <quern/localities/object.hpp>
#include <quern/trace/recorder.hpp>

#include <functional>
#include <set>
#include <string>

namespace {

using quern::localities::communicator;
using quern::localities::count;
using quern::localities::here;
using quern::localities::make_at;
using quern::localities::object;
using quern_test::next_locality;

struct named_counter {
    int value = 0;
    int add(int n) { return value += n; }
    int get() const { return value; }
    template <class Archive>
    void serialize(Archive& archive) {
        archive(value);
    }
};
int add_twice(named_counter& to, int n) { return to.add(2 * n); }

class task_names : public quern_test::on_job {
protected:
    /// The names of the tasks that ran here often while all localities ran f() many times.
    template <class F>
    std::set<std::string> names_of(F f) {
        constexpr int k_times = 50;
        const communicator all("names");
        quern::trace::recorder recorder(quern::runtime::default_instance());
        all.barrier().get();
        for (int i = 0; i < k_times; ++i) {
            f();
        }
        all.barrier().get();
        std::set<std::string> names;
        for (const auto& each : recorder.stop().sites) {
            if (each.tasks >= k_times / 2) {
                names.insert(each.name);
            }
        }
        return names;
    }
};
QUERN_ON_1_2_WORKERS(task_names);

bool has_part(const std::set<std::string>& names, const std::string& part) {
    for (const std::string& each : names) {
        if (each.find(part) != std::string::npos) {
            return true;
        }
    }
    return false;
}

std::string in_words(const std::set<std::string>& names) {
    std::string words;
    for (const std::string& each : names) {
        words += "'" + each + "' ";
    }
    return words;
}

/// What says nothing to a user: an address in the program, a template argument of this layer.
void expect_no_code(const std::set<std::string>& names) {
    EXPECT_FALSE(has_part(names, "+0x")) << in_words(names);
    EXPECT_FALSE(has_part(names, "quern::")) << in_words(names);
    EXPECT_FALSE(has_part(names, "const's lambda")) << in_words(names);
    EXPECT_FALSE(has_part(names, "parallel loop")) << in_words(names);
    for (const char* const type : {"char", "int", "double"}) {
        EXPECT_EQ(names.count(type), 0U) << in_words(names);
    }
}

// Holds: object: profiles name its calls by their functions, at whichever locality it is.
TEST_P(task_names, are_those_of_called_functions) {
    for (const int place : {here(), next_locality()}) {
        const object<named_counter> one = make_at<named_counter>(place);
        const std::set<std::string> names = names_of([&] {
            const int before = one.call(&named_counter::add, 1).get();
            one.post(&add_twice, 1);
            one.post(&named_counter::add, 1);
            EXPECT_EQ(one.call(&named_counter::get).get(), before + 3);
        });
        EXPECT_TRUE(has_part(names, "named_counter::add")) << in_words(names);
        EXPECT_TRUE(has_part(names, "named_counter::get")) << in_words(names);
        EXPECT_TRUE(has_part(names, "add_twice")) << in_words(names);
        expect_no_code(names);
    }
}

// Holds: communicator: profiles name the tasks of operations, and of their messages.
TEST_P(task_names, are_those_of_collective_operations) {
    const communicator all("operations");
    const std::set<std::string> names = names_of([&] {
        EXPECT_EQ(all.all_reduce(1, std::plus<>()).get(), count());
        all.gather(2.5).get();
    });
    EXPECT_EQ(names.count("all_reduce"), 1U) << in_words(names);
    EXPECT_EQ(names.count("gather"), 1U) << in_words(names);
    EXPECT_EQ(names.count("all_reduce: a message"), count() > 1 ? 1U : 0U) << in_words(names);
    expect_no_code(names);
}

// Holds: run_at: profiles name a call at the caller's own locality by the function that makes it.
TEST_P(task_names, are_those_of_callers_of_local_calls) {
    const std::set<std::string> names = names_of([] {
        for (int i = 0; i < 2; ++i) {
            EXPECT_EQ(quern::localities::run_at(
                          here(), [](int n) { return n; }, i)
                          .get(),
                      i);
        }
        quern::localities::run_at(
            here(), [](int n) { return n; }, 2)
            .wait();
    });
    EXPECT_TRUE(has_part(names, "TestBody")) << in_words(names);
    expect_no_code(names);
}

}  // namespace
