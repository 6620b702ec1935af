// SPDX-License-Identifier: BSL-1.0
// Regions and tuned numbers: trials around parts of a program, modes, losses, exceptions, history.
#include <quern/adaptation/decisions.hpp>
#include <quern/adaptation/region.hpp>
#include <quern/adaptation/tuned.hpp>
#include <quern/algorithms/parallel_for.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>
#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace quern::adaptation;  // NOLINT(google-build-using-namespace): the subject
using quern_test::spin_for;

/// A setting for the runtimes of a test, and its default again afterwards.
class with_setting {
public:
    with_setting(std::string name, const std::string& value, std::string fallback)
        : m_name(std::move(name)), m_fallback(std::move(fallback)) {
        quern::set_setting(m_name, value);
    }
    ~with_setting() { quern::set_setting(m_name, m_fallback); }
    with_setting(const with_setting&) = delete;
    with_setting& operator=(const with_setting&) = delete;

private:
    std::string m_name;
    std::string m_fallback;
};

region_options by(strategy how) {
    region_options options{.how = how};
    options.most_lost = 0;  // other programs on the machine must not change what is tested
    return options;
}

/// Enters until the search is over. Per unit of work the best point takes a millionth of the time,
/// so no disturbance by other programs makes another one look better.
int enter_until_converged(region& where, double best) {
    int entries = 0;
    while (!where.converged() && entries < 1000) {
        region::entry now = where.enter();
        now.work(now.where()["x"] == best ? 1e6 : 1);
        spin_for(std::chrono::microseconds(100));
        ++entries;
    }
    return entries;
}

std::string path_of(const char* name) {
    return testing::TempDir() + name + std::to_string(::getpid());
}

std::string contents(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

long lines_of(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

class region_test : public testing::TestWithParam<unsigned> {
protected:
    quern::runtime rt{quern::runtime_options::with_workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(on, region_test, testing::Values(1U, 2U, 8U));

// Holds: region: Each entry is a trial until the search is over, then the best point.
TEST_P(region_test, enters_trials_and_then_the_best) {
    region where("where", space({integer("x", 0, 7)}), by(strategy::exhaustive));
    EXPECT_EQ(enter_until_converged(where, 5), 8);
    EXPECT_EQ(where.trials(), 8U);
    EXPECT_EQ(where.best()["x"], 5);
    EXPECT_EQ(where.enter().where(), where.best());
    EXPECT_EQ(where.why(), "every point has been tried");
}

// Holds: region: entries work from a plain thread and from a task.
TEST_P(region_test, may_be_entered_in_a_task) {
    region where("where", space({integer("x", 0, 3)}), by(strategy::exhaustive));
    quern::async(rt, [&] { enter_until_converged(where, 3); }).get();
    EXPECT_TRUE(where.converged());
}

// Holds: region: The cost is per unit of work.
TEST_P(region_test, divides_the_time_by_the_work) {
    region where("where", space({choice("how", {"little", "much"})}), by(strategy::exhaustive));
    while (!where.converged()) {
        region::entry now = where.enter();
        const bool much = now.where().word("how") == "much";
        spin_for(std::chrono::microseconds(much ? 4000 : 1000));
        now.work(much ? 1000 : 1);  // much takes longer and is cheaper
    }
    EXPECT_EQ(where.best().word("how"), "much");
}

// Holds: region: Work that is no number above 0 is refused.
TEST_P(region_test, refuses_work_that_is_none) {
    region where("solve", space({integer("x", 0, 3)}));
    region::entry now = where.enter();
    try {
        now.work(0);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(),
                     "quern: region 'solve': 0 units of work; accepted: finite numbers above 0");
    }
    EXPECT_THROW(now.work(std::nan("")), std::invalid_argument);
    now.discard();
    EXPECT_THROW(region("", space({integer("x", 0, 3)})), std::invalid_argument);
}

// Holds: region: An entry that an exception leaves, or that is discarded, is no trial.
TEST_P(region_test, leaves_out_entries_that_fail) {
    region where("where", space({integer("x", 0, 3)}), by(strategy::exhaustive));
    double first = -1;
    try {
        region::entry now = where.enter();
        first = now.where()["x"];
        throw std::runtime_error("in the region");
    } catch (const std::runtime_error&) {
    }
    {
        region::entry again = where.enter();
        EXPECT_EQ(again.where()["x"], first);
        again.discard();
    }
    EXPECT_EQ(where.trials(), 0U);
    EXPECT_EQ(enter_until_converged(where, 0), 4);
}

// Holds: region: With adapt=off every entry gets the start and nothing is measured.
TEST_P(region_test, does_nothing_when_off) {
    const with_setting off("adapt", "off", "on");
    const quern::runtime latest(quern::runtime_options::with_workers(1));
    const auto logged = all_totals().decisions;
    region where("where", space({integer("x", 0, 9).starting_at(4)}), by(strategy::exhaustive));
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(where.enter().where()["x"], 4);
    }
    EXPECT_EQ(where.trials(), 0U);
    EXPECT_EQ(all_totals().decisions, logged);
}

// Holds: region: With dry-run every entry gets the start, and what would be tried is logged once.
TEST_P(region_test, changes_nothing_in_a_dry_run) {
    const with_setting dry("adapt", "dry-run", "on");
    const quern::runtime latest(quern::runtime_options::with_workers(1));
    const std::string name = "dry" + std::to_string(GetParam());
    region where(name, space({integer("x", 0, 9).starting_at(4)}), by(strategy::hill_climbing));
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(where.enter().where()["x"], 4);
    }
    EXPECT_EQ(where.trials(), 1U);  // the start
    const std::vector<decision> all = decisions();
    EXPECT_FALSE(all.back().applied);
    EXPECT_EQ(all.back().subject, name);
    EXPECT_EQ(all.back().before, 4);
    EXPECT_NE(all.back().after, 4);
    EXPECT_EQ(std::count_if(all.begin(), all.end(),
                            [&](const decision& each) { return each.subject == name; }),
              1);
}

// Holds: region: Each new value is a decision, the last one with the observed effect.
TEST_P(region_test, logs_its_decisions) {
    const std::string name = "logged" + std::to_string(GetParam());
    quern::async(rt, [] {}).get();  // a worker whose thread has not begun has no times
    region where(name, space({integer("x", 0, 3)}), by(strategy::exhaustive));
    enter_until_converged(where, 2);
    std::vector<decision> all = decisions();
    std::erase_if(all, [&](const decision& each) { return each.subject != name; });
    ASSERT_GE(all.size(), 4U);
    EXPECT_EQ(all.front().policy, "exhaustive");
    EXPECT_EQ(all.front().after, 0);
    EXPECT_EQ(all.back().after, where.best()["x"]);
    EXPECT_EQ(all.back().why, "every point has been tried");
    ASSERT_TRUE(all.back().observed);
    EXPECT_LE(*all.back().observed, 1);
    EXPECT_NE(all.back().inputs.find(" in tasks, "), std::string::npos) << all.back().inputs;
}

// Holds: region: Its decisions say which are trials, and have the numbers of its parameters; those
//     about choices have words alone.
TEST_P(region_test, names_the_numbers_of_its_decisions) {
    const std::string name = "numbered" + std::to_string(GetParam());
    region where(name, space({integer("x", 0, 2), choice("order", {"rows", "columns"})}),
                 by(strategy::exhaustive));
    enter_until_converged(where, 2);
    std::vector<decision> all = decisions();
    std::erase_if(all, [&](const decision& each) { return each.subject != name; });
    ASSERT_GE(all.size(), 2U);
    EXPECT_TRUE(all.front().is_trial);
    EXPECT_FALSE(all.back().is_trial);
    EXPECT_EQ(all.back().after_text, where.best().text());
    ASSERT_EQ(all.back().numbers.size(), 1U);
    EXPECT_EQ(all.back().numbers.front().name, "x");
    EXPECT_EQ(all.back().numbers.front().after, where.best()["x"]);
}

// Holds: region: A trial whose workers lost time is repeated, a few times at most.
TEST_P(region_test, repeats_disturbed_trials_a_few_times) {
    region_options options = by(strategy::exhaustive);
    options.most_lost = 1e-12;  // every trial seems disturbed, unless the kernel counts nothing
    region where("where", space({integer("x", 0, 2)}), options);
    int entries = 0;
    for (; !where.converged() && entries < 100; ++entries) {
        const region::entry now = where.enter();
        quern::parallel_for(0, 64, quern::grain::fixed(1),
                            [](int) { spin_for(std::chrono::microseconds(100)); });
    }
    EXPECT_LE(where.repeated(), 4U);
    EXPECT_EQ(entries, 3 + static_cast<int>(where.repeated()));
}

// Holds: tuned: A grain of a loop is found within 8 trials, whatever the start.
TEST_P(region_test, tuned_finds_a_grain) {
    static constexpr long k_elements = quern_test::scaled(200'000L, 20'000L);
    for (const long start : {1L, k_elements}) {
        quern::tuned<long> grain("loop.grain", {1, k_elements}, start);
        std::size_t entries = 0;
        for (; !grain.converged() && entries < 30; ++entries) {
            auto now = grain.enter();
            const long size = now.value();
            EXPECT_GE(size, 1);
            EXPECT_LE(size, k_elements);
            quern::async(rt, [&] {
                quern::task_group group;
                for (long first = 0; first < k_elements; first += size) {
                    group.run([first, size] {
                        volatile double sum = 0;
                        for (long i = first; i < std::min(first + size, k_elements); ++i) {
                            sum = sum + static_cast<double>(i);
                        }
                    });
                }
                group.wait();
            }).get();
        }
        EXPECT_TRUE(grain.converged());
        EXPECT_LE(grain.trials(), 8U);
    }
}

// Holds: tuned: A search ends also if no task runs in its entries, or none long enough to be timed.
TEST_P(region_test, tuned_ends_without_tasks) {
    quern::tuned<long> grain("nothing.grain", {1, 1'000'000});
    for (int entries = 0; !grain.converged() && entries < 100; ++entries) {
        static_cast<void>(grain.enter());
    }
    EXPECT_TRUE(grain.converged());
    EXPECT_LE(grain.trials(), 8U);
}

// Holds: tuned: ranges that are empty or begin below 1, and a start outside, are refused.
TEST(tuned_test, refuses_bad_ranges) {
    const auto error_of = [](auto&& f) {
        try {
            f();
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    EXPECT_EQ(error_of([] {
                  quern::tuned<int>("grain", {100, 10});
              }),
              "quern: parameter 'grain': the range from 100 to 10 is empty; accepted: a least "
              "value that is not above the most, as from 10 to 100");
    EXPECT_EQ(error_of([] {
                  quern::tuned<int>("grain", {0, 10});
              }),
              "quern: parameter 'grain': cannot be divided by ratio; accepted: numbers above 0");
    EXPECT_EQ(error_of([] {
                  quern::tuned<int>("grain", {1, 10}, 11);
              }),
              "quern: parameter 'grain': start at 11; accepted: a whole number from 1 to 10; the "
              "nearest is 10");
    EXPECT_NE(error_of([] { quern::tuned<int>("", {1, 10}); }), "no error");
}

// Holds: history: With the setting tune-history a second run begins where the first one ended, and
//     one trial confirms it.
TEST(tuning_history_test, is_used_by_the_next_region) {
    const std::string path = path_of("history_");
    ::unlink(path.c_str());
    const with_setting file("tune-history", path, "");
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    const auto search = [] {
        region_options options = by(strategy::exhaustive);
        options.search.drift = 1e5;  // the machine may be slower now
        region where("solve", space({integer("x", 0, 7)}), options);
        const int entries = enter_until_converged(where, 5);
        return std::pair(entries, where.best()["x"]);
    };
    const auto first = search();
    EXPECT_EQ(first.first, 8);
    const std::string text = contents(path);
    EXPECT_TRUE(text.starts_with("quern tuning history 1\nsolve\tx<2^3\t")) << text;
    EXPECT_EQ(lines_of(text), 2) << text;
    const auto second = search();
    EXPECT_EQ(second.first, 1);
    EXPECT_EQ(second.second, first.second);
    EXPECT_EQ(contents(path), text);
    region another("another", space({integer("x", 0, 7)}), by(strategy::exhaustive));
    EXPECT_EQ(enter_until_converged(another, 5), 8);  // a key of its own
    ::unlink(path.c_str());
}

/// What a region says and does with this file.
std::string said_with(const std::string& path, int& entries) {
    const with_setting file("tune-history", path, "");
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    testing::internal::CaptureStderr();
    region where("solve", space({integer("x", 0, 3)}), by(strategy::exhaustive));
    entries = enter_until_converged(where, 1);
    return testing::internal::GetCapturedStderr();
}

// Holds: history: A file that is damaged, foreign, newer or cannot be written is said and ignored,
//     and nothing in it is lost.
TEST(tuning_history_test, survives_bad_files) {
    const std::string path = path_of("bad_history_");
    int entries = 0;
    const auto with = [&](const std::string& text) {
        std::ofstream(path) << text;
        const std::string said = said_with(path, entries);
        EXPECT_EQ(entries, 4) << text;
        EXPECT_TRUE(contents(path).starts_with(text)) << text;
        return said;
    };
    EXPECT_EQ(with("quern tuning history 1\nsolve\tx<2^2\tcut o"),
              "quern: tune-history '" + path + "': line 2 is damaged and ignored\n");
    EXPECT_EQ(lines_of(contents(path)), 3);  // and a result
    const std::string newer = "quern tuning history 2\nsomething else\n";
    EXPECT_EQ(with(newer), "quern: tune-history '" + path +
                               "': is of version 2; this library knows version 1; it is neither "
                               "read nor written\n");
    EXPECT_EQ(contents(path), newer);
    const std::string foreign = "[package]\nname = 1\n";
    EXPECT_EQ(with(foreign), "quern: tune-history '" + path +
                                 "': is no tuning history: it begins with '[package]'; it is "
                                 "neither read nor written\n");
    EXPECT_EQ(contents(path), foreign);
    ::unlink(path.c_str());
    EXPECT_EQ(said_with("/there/is/no/such/folder/history", entries),
              "quern: tune-history '/there/is/no/such/folder/history': what was found is not "
              "kept: No such file or directory\n");
    EXPECT_EQ(entries, 4);
}

// Holds: history: Several processes may write at the same time.
TEST(tuning_history_test, is_written_by_several_processes) {
    const std::string path = path_of("shared_history_");
    ::unlink(path.c_str());
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            quern::set_setting("tune-history", path);
            {
                const quern::runtime rt(quern::runtime_options::with_workers(1));
                for (int k = 0; k < 10; ++k) {
                    region where("r" + std::to_string(i) + "." + std::to_string(k),
                                 space({integer("x", 0, 1)}), by(strategy::exhaustive));
                    while (!where.converged()) {
                        static_cast<void>(where.enter());
                    }
                }
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    const std::string text = contents(path);
    EXPECT_EQ(lines_of(text), 41) << text;
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 10; ++k) {
            EXPECT_NE(text.find("\nr" + std::to_string(i) + "." + std::to_string(k) + "\t"),
                      std::string::npos);
        }
    }
    ::unlink(path.c_str());
}

}  // namespace
