// SPDX-License-Identifier: BSL-1.0
// Measurements for each worker's thread: the kernel's schedule of it, in synthetic files, on this
// computer, and in the child of a fork.
#include "system_readings.hpp"

#include "unit/scheduler/on_runtime.hpp"

#include <quern/counters/system_threads.hpp>

#include <sys/wait.h>

#include <cerrno>

namespace {

using quern_test::expect_none;
using quern_test::expect_value;
using quern_test::place;
using quern_test::source_state;
using quern_test::sources;

class schedule_test : public quern_test::on_lone_runtime {
protected:
    place of_pool() { return {rt.default_pool(), {}}; }
    place of_worker(unsigned rank) { return {rt.default_pool(), rank}; }

    /// Waits until the thread has a number.
    static pid_t thread_of(const quern::runtime& which, unsigned rank) {
        const auto& one = which.default_pool().get().at(rank);
        EXPECT_TRUE(quern_test::eventually([&] { return one.thread_id() != 0; }));
        return one.thread_id();
    }
    void show(const quern::runtime& which, unsigned rank, const std::string& text) {
        tree.file("/proc/self/task/" + std::to_string(thread_of(which, rank)) + "/schedstat", text);
    }

    fake::tree tree;
};

TEST_P(schedule_test, the_sum_over_workers_is_the_pools) {
    for (unsigned rank = 0; rank < workers(); ++rank) {
        show(rt, rank, std::to_string(100 + rank) + " " + std::to_string(rank) + " 7\n");
    }
    const sources all(tree.root());
    double sum = 0;
    for (unsigned rank = 0; rank < workers(); ++rank) {
        expect_value(all.read("/os/schedule/run-time", of_worker(rank)), 100 + rank);
        expect_value(all.read("/os/schedule/wait-time", of_worker(rank)), rank);
        sum += 100 + rank;
    }
    expect_value(all.read("/os/schedule/run-time", of_pool()), sum);
    expect_value(all.read("/os/schedule/run-time"), sum);
    expect_value(all.read("/os/schedule/slices"), 7.0 * workers());
}

TEST_P(schedule_test, a_worker_that_cannot_be_read_spoils_the_sum_and_no_other_worker) {
    for (unsigned rank = 0; rank + 1 < workers(); ++rank) {
        show(rt, rank, "100 5 7\n");
    }
    const sources all(tree.root());
    expect_none(all.read("/os/schedule/run-time", of_pool()), source_state::absent, "ENOENT");
    if (workers() > 1) {
        expect_value(all.read("/os/schedule/run-time", of_worker(0)), 100);
    }
    show(rt, workers() - 1, "100");
    expect_none(all.read("/os/schedule/slices", of_pool()), source_state::absent,
                "schedstat: malformed: expected 2 numbers");
}

TEST_P(schedule_test, the_process_keeps_what_threads_that_ended_had) {
    const sources all(tree.root());
    for (unsigned rank = 0; rank < workers(); ++rank) {
        show(rt, rank, "100 0 0\n");
    }
    {
        const quern::runtime other(quern::runtime_options::with_workers(1));
        show(other, 0, "5000 0 0\n");
        expect_value(all.read("/os/schedule/run-time"), 5000 + 100.0 * workers());
        expect_value(all.read("/os/schedule/run-time", of_pool()), 100.0 * workers());
    }
    std::filesystem::remove_all(tree.path("/proc/self/task"));
    for (unsigned rank = 0; rank < workers(); ++rank) {
        show(rt, rank, "200 0 0\n");
    }
    expect_value(all.read("/os/schedule/run-time"), 5000 + 200.0 * workers());
}

TEST_P(schedule_test, a_runtime_is_not_the_process) {
    const sources all(tree.root());
    for (unsigned rank = 0; rank < workers(); ++rank) {
        show(rt, rank, "100 0 0\n");
    }
    const quern::runtime other(quern::runtime_options::with_workers(1));
    show(other, 0, "5000 0 0\n");
    place where;
    where.whole = &rt;
    expect_value(all.read("/os/schedule/run-time", where), 100.0 * workers());
    where.whole = &other;
    expect_value(all.read("/os/schedule/run-time", where), 5000);
    expect_value(all.read("/os/schedule/run-time"), 5000 + 100.0 * workers());
}

TEST_P(schedule_test, places_that_are_read_together_agree) {
    const sources all;
    inside([] { quern_test::spin_for(std::chrono::milliseconds(2)); });
    std::vector<place> places{of_pool()};
    for (unsigned rank = 0; rank < workers(); ++rank) {
        places.push_back(of_worker(rank));
    }
    const auto readings = all.of("/os/schedule/run-time").read_all(places);
    double sum = 0;
    for (unsigned rank = 0; rank < workers(); ++rank) {
        sum += readings[rank + 1][0].above;
    }
    EXPECT_DOUBLE_EQ(readings[0][0].above, sum);
}

TEST_P(schedule_test, of_this_computer_grows_while_tasks_run) {
    const sources all;
    const auto before = all.read("/os/schedule/run-time", of_pool());
    inside([] { quern_test::spin_for(std::chrono::milliseconds(5)); });
    const auto after = all.read("/os/schedule/run-time", of_pool());
    if (after.state != source_state::ok) {
        GTEST_SKIP() << after.why;
    }
    EXPECT_GT(after.above, before.above);
    EXPECT_GE(all.read("/os/schedule/run-time").above, after.above);
}

TEST_P(schedule_test, a_worker_without_a_pool_is_a_question) {
    place where;
    where.worker = 0;
    expect_none(sources().read("/os/schedule/run-time", where), source_state::absent,
                "of which pool");
}

TEST_P(schedule_test, the_child_of_a_fork_begins_anew) {
    if (quern::detail::k_asan) {
        GTEST_SKIP() << "the sanitizer's allocator may be locked by another thread at a fork";
    }
    const sources all;
    const place pool = of_pool();
    all.read("/os/schedule/run-time");
    const pid_t child = ::fork();
    if (child == 0) {
        const auto whole = all.read("/os/schedule/run-time");
        const auto parents = all.read("/os/schedule/run-time", pool);
        const bool fine = whole.state == source_state::ok && whole.above == 0 &&
                          parents.state == source_state::absent && !parents.why.empty();
        ::_exit(fine ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

QUERN_ON_1_2_8_WORKERS(schedule_test);

}  // namespace
