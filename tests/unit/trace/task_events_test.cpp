// SPDX-License-Identifier: BSL-1.0
// Events by kind of task: of a fake kernel, with refusals, multiplexing and failing reads, and
// those that this computer's kernel counts without the hardware.
#include "record/task_events.hpp"

#include "unit/scheduler/on_runtime.hpp"

#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>
#include <quern/trace/profile.hpp>
#include <quern/trace/recorder.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

using quern::topology::event_kernel;
using quern::topology::event_kind;
using quern::trace::recording;
using quern::trace::site;
using quern::trace::detail::event_meter;
using quern::trace::detail::wanted_events;

/// Each reading advances all events by their steps. Descriptors are fake.
class stepping_kernel final : public event_kernel {
public:
    int open(const event_kind& event, pid_t thread, int leader) override {
        const std::scoped_lock lock(m_mutex);
        if (errors.contains(event.name)) {
            return -errors[event.name];
        }
        EXPECT_EQ(thread, 0);
        const int descriptor = m_next++;
        m_groups[leader >= 0 ? leader : descriptor].events.push_back(event.name);
        ++open_ones;
        return descriptor;
    }
    int open_leader(const event_kind& event, pid_t thread) override {
        return open(event, thread, -1);
    }
    int read(int, count&) override { return ENOSYS; }
    int read_group(int leader, group_count& into) override {
        const std::scoped_lock lock(m_mutex);
        group& read = m_groups.at(leader);
        ++read.readings;
        ++readings;
        into.enabled = read.readings * 1'000;
        into.counted = read.readings * counted;
        for (std::size_t i = 0; i < read.events.size(); ++i) {
            into.values[i] = read.readings * steps[read.events[i]];
        }
        return read.readings > readable ? EIO : 0;
    }
    void close(int) noexcept override {
        const std::scoped_lock lock(m_mutex);
        --open_ones;
    }

    std::map<std::string, int> errors;  ///< of opening
    std::map<std::string, std::uint64_t> steps;
    std::uint64_t counted = 1'000;  ///< of 1000
    std::uint64_t readable = ~0ULL;
    std::atomic<int> open_ones{0};
    std::atomic<int> readings{0};

private:
    struct group {
        std::vector<std::string> events;
        std::uint64_t readings = 0;
    };
    std::mutex m_mutex;
    int m_next = 100;
    std::map<int, group> m_groups;
};

/// Counts what the program says. The same for all threads.
class told_kernel final : public event_kernel {
public:
    int open(const event_kind&, pid_t, int) override { return 7; }
    int open_leader(const event_kind&, pid_t) override { return 6; }
    int read(int, count&) override { return ENOSYS; }
    int read_group(int, group_count& into) override {
        into = {told, told, {told, 2 * told}};
        return 0;
    }
    void close(int) noexcept override {}

    std::atomic<std::uint64_t> told{0};
};

std::shared_ptr<const wanted_events> wanted(std::string_view list,
                                            std::shared_ptr<event_kernel> kernel) {
    return std::make_shared<const wanted_events>(
        wanted_events{*quern::topology::find_events(list), std::move(kernel)});
}

TEST(event_names, are_those_of_the_counters_and_numbers_of_the_processor) {
    const auto found = quern::topology::find_events("instructions, cache-misses,r1A2");
    ASSERT_TRUE(found) << found.reason();
    ASSERT_EQ(found->size(), 3U);
    EXPECT_EQ((*found)[2].config, 0x1a2U);
    EXPECT_EQ((*found)[2].type, 4U);  // PERF_TYPE_RAW
    EXPECT_TRUE(quern::topology::find_events("")->empty());
}

TEST(event_names, that_are_wrong_are_refused_with_the_reason) {
    const auto refused = [](std::string_view list) {
        const auto found = quern::topology::find_events(list);
        return found ? std::string("accepted") : found.reason();
    };
    EXPECT_NE(refused("cache-mises").find("did you mean 'cache-misses'?"), std::string::npos);
    EXPECT_NE(refused("cycles,,cycles").find("no event is called \"\""), std::string::npos);
    EXPECT_NE(refused("cycles,cycles").find("named twice"), std::string::npos);
    EXPECT_NE(refused("r").find("accepted: cycles"), std::string::npos);
    EXPECT_NE(refused("r12345678901234567").find("accepted: cycles"), std::string::npos);
    EXPECT_NE(refused("r1,r2,r3,r4,r5,r6,r7,r8,r9").find("9 events; accepted: at most 8"),
              std::string::npos);
}

TEST(event_meter_test, gives_what_is_between_two_readings_without_its_own_part) {
    const auto kernel = std::make_shared<told_kernel>();
    event_meter meter(wanted("cycles,instructions", kernel));
    kernel->told = 100;
    meter.begin(false);
    kernel->told = 130;
    const auto* const first = meter.end();
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->values[0], 30U);
    EXPECT_EQ(first->values[1], 60U);
    kernel->told = 140;
    meter.begin(true);  // the counts since the last reading belong to the next piece
    kernel->told = 150;
    EXPECT_EQ(meter.end()->values[0], 20U);
    EXPECT_EQ(meter.end(), nullptr) << "it has not begun";
    const auto steps = std::make_shared<stepping_kernel>();
    steps->steps["cycles"] = 50;  // each reading
    event_meter busy(wanted("cycles", steps));
    busy.begin(false);
    EXPECT_EQ(busy.end()->values[0], 0U);
}

TEST(event_meter_test, counts_what_can_be_counted_and_says_why_the_rest_cannot) {
    const auto kernel = std::make_shared<stepping_kernel>();
    kernel->errors = {{"instructions", ENOENT}, {"cycles", EACCES}, {"branches", EINVAL}};
    {
        event_meter meter(wanted("instructions,page-faults,branches,cycles,r1", kernel));
        EXPECT_EQ(meter.fault(0), "") << "nobody has tried";
        meter.begin(false);
        EXPECT_EQ(kernel->open_ones, 2);
        EXPECT_NE(meter.fault(0).find("no such event; perf_event_open: ENOENT"), std::string::npos);
        EXPECT_EQ(meter.fault(1), "");
        EXPECT_NE(meter.fault(2).find("together with page-faults: ask for fewer events"),
                  std::string::npos)
            << meter.fault(2);
        EXPECT_NE(meter.fault(3).find("EACCES"), std::string::npos);
        EXPECT_NE(meter.fault(3).find("perf_event_paranoid"), std::string::npos) << meter.fault(3);
        EXPECT_EQ(meter.fault(4), "");
    }
    EXPECT_EQ(kernel->open_ones, 0);
}

TEST(event_meter_test, whose_reading_fails_gives_up) {
    const auto kernel = std::make_shared<stepping_kernel>();
    kernel->readable = 20;
    event_meter meter(wanted("cycles", kernel));
    for (int i = 0; i < 5; ++i) {
        meter.begin(false);
        meter.end();
    }
    EXPECT_EQ(kernel->readings, 21);
    EXPECT_EQ(kernel->open_ones, 0);
    EXPECT_NE(meter.fault(0).find("reading the events: EIO"), std::string::npos) << meter.fault(0);
}

class task_events_test : public quern_test::on_runtime {
protected:
    /// Records the effect of the body in a task.
    template <class Body>
    recording record(std::string_view events, Body body, std::uint32_t sample = 1) {
        quern::trace::recorder recorder(
            rt,
            {.events_per_worker = 0, .sample = sample, .events = events, .event_kernel = kernel});
        quern::async({.name = "all", .pool = &rt.default_pool().get()}, body).get();
        rt.default_pool().get().wait_until_quiet();
        return recorder.stop();
    }
    static const site& of(const recording& run, std::string_view name) {
        const auto at = std::find_if(run.sites.begin(), run.sites.end(),
                                     [name](const site& each) { return each.name == name; });
        EXPECT_NE(at, run.sites.end()) << name;
        return *at;
    }
    static std::string profile_of(const recording& run) {
        std::ostringstream to;
        write_profile(run, to);
        return to.str();
    }

    std::shared_ptr<event_kernel> kernel;  ///< null: this computer's
};

TEST_P(task_events_test, are_scaled_when_they_were_counted_in_turns) {
    const auto steps = std::make_shared<stepping_kernel>();
    steps->counted = 250;
    steps->steps = {{"instructions", 0}};
    kernel = steps;
    const recording run = record("page-faults", [] {});
    ASSERT_EQ(run.events.size(), 1U);
    EXPECT_EQ(run.events[0].why, "");
    EXPECT_DOUBLE_EQ(run.events[0].counted, 0.25);
    EXPECT_NE(profile_of(run).find("page-faults: counted 25 % of the time and scaled"),
              std::string::npos)
        << profile_of(run);
    quern::trace::detail::event_sums sums{.enabled = 4'000, .counted = 1'000, .values = {10, 20}};
    EXPECT_DOUBLE_EQ(sums.scaled(1), 80.0);
    sums.counted = 4'000;
    EXPECT_DOUBLE_EQ(sums.scaled(1), 20.0);
}

TEST_P(task_events_test, that_are_refused_are_unavailable_and_the_run_goes_on) {
    const auto steps = std::make_shared<stepping_kernel>();
    steps->errors = {{"instructions", ENOENT}};
    kernel = steps;
    const recording run = record("instructions,page-faults", [] {});
    EXPECT_EQ(of(run, "all").tasks, 1U);
    EXPECT_NE(run.events[0].why.find("no such event"), std::string::npos);
    EXPECT_EQ(run.events[1].why, "");
    EXPECT_NE(profile_of(run).find("instructions: unavailable (this machine"), std::string::npos);
    EXPECT_EQ(steps->open_ones, 0) << "the recording has ended";
}

TEST_P(task_events_test, that_are_never_counted_are_unavailable) {
    const auto steps = std::make_shared<stepping_kernel>();
    steps->counted = 0;
    kernel = steps;
    const recording run = record("cycles", [] {});
    EXPECT_NE(run.events[0].why.find("never counted so far"), std::string::npos);
    EXPECT_TRUE(of(run, "all").events.empty());
}

TEST_P(task_events_test, that_cannot_be_asked_for_are_errors) {
    EXPECT_THROW(record("cyclez", [] {}), std::invalid_argument);
}

TEST_P(task_events_test, are_not_read_when_nobody_asks) {
    const recording run = record("", [] {});
    EXPECT_TRUE(run.events.empty());
    EXPECT_TRUE(of(run, "all").events.empty());
    EXPECT_EQ(profile_of(run).find("events by kind"), std::string::npos);
}

TEST_P(task_events_test, of_an_inlined_task_are_not_those_of_the_one_around_it) {
    if (workers() != 1) {
        GTEST_SKIP() << "somebody else may run it";
    }
    const auto told = std::make_shared<told_kernel>();
    kernel = told;
    const recording run = record("page-faults", [told] {
        told->told += 5;
        quern::async({.name = "inner"}, [told] { told->told += 100; }).get();
        told->told += 7;
    });
    EXPECT_DOUBLE_EQ(of(run, "all").events.at(0), 12.0);
    EXPECT_DOUBLE_EQ(of(run, "inner").events.at(0), 100.0);
}

TEST_P(task_events_test, are_kept_with_each_piece) {
    const auto told = std::make_shared<told_kernel>();
    kernel = told;
    quern::trace::recorder recorder(rt, {.events = "page-faults,cycles", .event_kernel = kernel});
    quern::async({.name = "all", .pool = &rt.default_pool().get()}, [told] {
        told->told += 9;
    }).get();
    rt.default_pool().get().wait_until_quiet();
    const recording run = recorder.stop();
    std::uint64_t found = 0;
    for (const quern::trace::lane& lane : run.lanes) {
        ASSERT_EQ(lane.events.size(), 2 * lane.slices.size());
        for (std::size_t i = 0; i < lane.slices.size(); ++i) {
            found += run.sites[lane.slices[i].site].name == "all" ? lane.events[2 * i + 1] : 0;
        }
    }
    EXPECT_EQ(found, 18U);
}

TEST_P(task_events_test, of_a_sample_stand_for_those_that_are_passed_over) {
    constexpr int k_tasks = 20'000;
    const auto told = std::make_shared<told_kernel>();
    kernel = told;
    const recording run = record(
        "page-faults",
        [told] {
            quern::task_group group;
            for (int i = 0; i < k_tasks; ++i) {
                group.run({.name = "small", .stack = quern::stack_class::medium},
                          [told] { told->told += 1; });
            }
            group.wait();
        },
        16);
    if (workers() == 1) {  // otherwise those of other workers would count
        EXPECT_NEAR(of(run, "small").events.at(0), k_tasks, 0.2 * k_tasks);
    }
}

QUERN_ON_1_2_8_WORKERS(task_events_test);

/// Touches fresh pages.
void touch(int pages) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t length = static_cast<std::size_t>(pages) * page;
    void* const at =
        ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    ::madvise(at, length, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < length; i += page) {
        static_cast<volatile char*>(at)[i] = 1;
    }
    ::munmap(at, length);
}

class live_task_events_test : public task_events_test {
protected:
    /// Skips the test if the kernel refuses.
    static bool is_counted(const recording& run) {
        return std::all_of(run.events.begin(), run.events.end(),
                           [](const auto& each) { return each.why.empty(); });
    }
    /// That many, or a few more; a sanitizer touches several of its own for each.
    static void expect_pages(double found, int pages) {
        EXPECT_GE(found, pages);
        EXPECT_LE(found, pages * quern_test::scaled(1, 16) + k_others);
    }
    static constexpr int k_pages = 300;
    static constexpr double k_others =
        quern_test::scaled(60.0, 600.0);  ///< the tasks' own stacks, the allocator's
};

TEST_P(live_task_events_test, page_faults_are_those_of_the_task_that_touches_pages) {
    const recording run = record("page-faults", [] {
        quern::task_group group;
        group.run({.name = "touches"}, [] { touch(k_pages); });
        group.run({.name = "does not"}, [] {});
        group.wait();
    });
    if (!is_counted(run)) {
        GTEST_SKIP() << run.events[0].why;
    }
    expect_pages(of(run, "touches").events.at(0), k_pages);
    EXPECT_LE(of(run, "does not").events.at(0), k_others);
}

TEST_P(live_task_events_test, page_faults_of_a_task_that_goes_on_elsewhere_are_its_own) {
    const bool can_move = workers() > 1;
    const recording run = record("page-faults", [can_move] {
        quern::task_group group;
        group.run({.name = "touches"}, [can_move] {
            for (int turn = 0; turn < 4; ++turn) {
                touch(k_pages);
                if (can_move) {
                    EXPECT_TRUE(quern_test::move_to_another_worker());
                } else {
                    quern::this_task::sleep_for(std::chrono::milliseconds(1));
                }
            }
        });
        for (int i = 0; i < 8; ++i) {
            group.run({.name = "does not"}, [] { quern_test::let_others_run(); });
        }
        group.wait();
    });
    if (!is_counted(run)) {
        GTEST_SKIP() << run.events[0].why;
    }
    EXPECT_GE(of(run, "touches").phases, 5U);
    expect_pages(of(run, "touches").events.at(0), 4 * k_pages);
    EXPECT_LE(of(run, "does not").events.at(0), 8 * k_others);
}

TEST_P(live_task_events_test, the_clock_of_a_task_runs_while_it_computes) {
    const recording run = record("task-clock,context-switches,cpu-migrations", [] {
        quern::async({.name = "computes"}, [] {
            quern_test::spin_for(std::chrono::milliseconds(10));
        }).get();
        quern::async({.name = "waits"}, [] {
            quern::this_task::sleep_for(std::chrono::milliseconds(10));
        }).get();
    });
    if (!is_counted(run)) {
        GTEST_SKIP() << run.events[0].why << run.events[1].why;
    }
    const double clock_ns = of(run, "computes").events.at(0);
    EXPECT_GT(clock_ns, 0.0);
    EXPECT_LE(clock_ns, of(run, "computes").total_ns * 1.1 + 1e5);
    EXPECT_LT(of(run, "waits").events.at(0), 10e6) << "it has waited all the time";
}

QUERN_ON_1_2_8_WORKERS(live_task_events_test);

}  // namespace
