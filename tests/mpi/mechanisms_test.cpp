// SPDX-License-Identifier: BSL-1.0
// The mechanisms by which tasks wait for messages, the artificial order, and the modes of waiting.
#include "world.hpp"

#include <quern/counters/counter.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/mpi/requests.hpp>
#include <quern/mpi/restart.hpp>
#include <quern/mpi/waiting_mode.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/settings/settings.hpp>
#include <quern/task/async.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using quern_test::own_comm;
using quern_test::this_world;

int partner() { return 1 - this_world().rank; }

/// Since the process began.
std::uint64_t count_of(const quern::runtime& rt, const char* name) {
    quern::counters::counter_set set(rt, quern::counters::baseline::start);
    set.add(name);
    return static_cast<std::uint64_t>(set.evaluate().values.front().value);
}

class mpi_mechanisms : public testing::TestWithParam<unsigned> {
protected:
    quern::runtime& with(const char* mechanism, const char* serialise = "auto") {
        quern::set_setting("mpi-mechanism", mechanism);
        quern::set_setting("mpi-serialise", serialise);
        rt.emplace(quern::runtime_options::with_workers(GetParam()));
        return *rt;
    }
    void TearDown() override {
        rt.reset();
        quern::set_setting("mpi-mechanism", "library");
        quern::set_setting("mpi-serialise", "auto");
    }

    own_comm comm;
    std::optional<quern::runtime> rt;
};

INSTANTIATE_TEST_SUITE_P(on, mpi_mechanisms, testing::Values(1U, 2U));

/// A chain of tasks that pass a number to and fro.
int passed(quern::runtime& rt, MPI_Comm comm, int rounds) {
    return quern::async(rt,
                        [comm, rounds] {
                            quern::domain work;
                            int value = 0;
                            for (int i = 0; i < rounds; ++i) {
                                const bool sends = i % 2 == this_world().rank;
                                work.spawn(
                                    {.name = "pass", .communication = true}, quern::inout(value),
                                    [=, request = MPI_REQUEST_NULL](int& v) mutable {
                                        if (sends) {
                                            ++v;
                                            MPI_Send(&v, 1, MPI_INT, partner(), i, comm);
                                            return;
                                        }
                                        if (request == MPI_REQUEST_NULL) {
                                            MPI_Irecv(&v, 1, MPI_INT, partner(), i, comm, &request);
                                        }
                                        quern::mpi::wait_or_restart(request);
                                    });
                            }
                            work.taskwait();
                            return value;
                        })
        .get();
}

TEST_P(mpi_mechanisms, each_passes_messages) {
    for (const char* mechanism : {"library", "thread", "restart"}) {
        EXPECT_EQ(passed(with(mechanism), comm, 200), 200) << mechanism;
        rt.reset();
    }
}

TEST_P(mpi_mechanisms, messages_come_if_workers_never_look_without_pause) {
    quern::set_setting("mpi-poll-us", "0");
    EXPECT_EQ(passed(with("library"), comm, 100), 100);
    quern::set_setting("mpi-poll-us", "1000");
}

TEST_P(mpi_mechanisms, a_thread_waits_while_all_workers_compute) {
    quern::runtime& all = with("thread");
    const std::uint64_t suspended = count_of(*rt, "/mpi/count/suspended");
    int got = 0;
    std::atomic<bool> has_come{false};
    quern::domain work(all.default_pool());
    for (unsigned i = 0; i < GetParam(); ++i) {
        work.spawn([&] {  // it asks nothing of MPI
            while (!has_come) {
                std::this_thread::yield();
            }
        });
    }
    work.spawn({.communication = true}, quern::out(got), [&](int& to) {
        MPI_Recv(&to, 1, MPI_INT, partner(), 1, comm, MPI_STATUS_IGNORE);
        has_come = true;
    });
    std::this_thread::sleep_for(20ms);  // longer than the thread looks without pause
    const int sent = 5 + this_world().rank;
    MPI_Send(&sent, 1, MPI_INT, partner(), 1, comm);
    work.taskwait();
    EXPECT_EQ(got, 5 + partner());
    EXPECT_EQ(count_of(*rt, "/mpi/count/suspended"), suspended);
}

/// Of a task that waits on the thread: what it waits for, though no poller knows it.
TEST_P(mpi_mechanisms, reports_say_what_the_thread_waits_for) {
    if (GetParam() != 1) {
        GTEST_SKIP() << "a state of a process is reported once";
    }
    quern::set_setting("hang-report", "1");
    quern::runtime& all = with("thread");
    quern::set_setting("hang-report", "certain");
    int got = 0;
    quern::domain work(all.default_pool());
    testing::internal::CaptureStderr();
    work.spawn({.name = "left edge", .communication = true}, quern::out(got), [this](int& to) {
        MPI_Recv(&to, 1, MPI_INT, partner(), 9, comm, MPI_STATUS_IGNORE);
    });
    work.spawn({.name = "sweep"}, quern::in(got), [](const int&) {});
    std::this_thread::sleep_for(100ms);
    const std::string now = quern::task_report();
    std::this_thread::sleep_for(2500ms);  // a hang, as far as this rank can see
    const int sent = 1;
    MPI_Send(&sent, 1, MPI_INT, partner(), 9, comm);
    work.taskwait();
    const std::string hang = testing::internal::GetCapturedStderr();
    for (const std::string& text : {now, hang}) {
        for (const char* part :
             {"'left edge'", "MPI_Recv from rank", "tag 9", "task 'sweep' waits"}) {
            EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
        }
    }
    EXPECT_NE(hang.find("nothing has run for 1 s"), std::string::npos) << hang;
}

/// The first of two such tasks waits for a message that comes late. The second shares no data with
/// it.
TEST_P(mpi_mechanisms, the_order_is_that_of_creation) {
    for (const char* serialise : {"on", "off"}) {
        quern::runtime& all = with("library", serialise);
        std::vector<int> order;
        int slow = 0;
        quern::domain work(all.default_pool());
        work.spawn({.communication = true}, quern::out(slow), [&](int& to) {
            MPI_Recv(&to, 1, MPI_INT, partner(), 2, comm, MPI_STATUS_IGNORE);
            order.push_back(1);
        });
        std::atomic<bool> has_run{false};
        work.spawn({.communication = true}, [&] {
            if (slow == 0) {
                order.push_back(2);
            }
            has_run = true;
        });
        if (std::string(serialise) == "off") {
            while (!has_run) {
                std::this_thread::yield();
            }
        }
        MPI_Barrier(comm);  // on both ranks
        const int sent = 1;
        MPI_Send(&sent, 1, MPI_INT, partner(), 2, comm);
        work.taskwait();
        const std::vector<int> expected =
            std::string(serialise) == "on" ? std::vector{1} : std::vector{2, 1};
        EXPECT_EQ(order, expected) << serialise;
        rt.reset();
    }
}

TEST_P(mpi_mechanisms, a_restarted_task_loses_nothing) {
    quern::runtime& all = with("restart");
    const std::uint64_t before = count_of(*rt, "/mpi/count/restarts");
    std::array<int, 2> got{};
    std::array<MPI_Status, 2> statuses{};
    std::atomic<int> attempts{0};
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    quern::domain work(all.default_pool());
    work.spawn({.communication = true}, quern::out(got), [&] {
        if (++attempts == 1) {
            for (int i = 0; i < 2; ++i) {
                MPI_Irecv(&got[static_cast<std::size_t>(i)], 1, MPI_INT, partner(), 10 + i, comm,
                          &requests[static_cast<std::size_t>(i)]);
            }
        }
        quern::mpi::wait_or_restart(requests, statuses);
    });
    while (attempts < 2) {  // it restarts until the messages come
        std::this_thread::yield();
    }
    MPI_Barrier(comm);
    int sent = 7;
    MPI_Send(&sent, 1, MPI_INT, partner(), 11, comm);
    std::this_thread::sleep_for(5ms);
    sent = 8;
    MPI_Send(&sent, 1, MPI_INT, partner(), 10, comm);
    work.taskwait();
    EXPECT_EQ(got, (std::array{8, 7}));
    EXPECT_EQ(statuses[1].MPI_TAG, 11);
    EXPECT_GT(attempts, 1);
    EXPECT_EQ(count_of(*rt, "/mpi/count/restarts"),
              before + static_cast<std::uint64_t>(attempts.load()) - 1);
}

TEST_P(mpi_mechanisms, other_tasks_run_between_restarts) {
    quern::runtime& all = with("restart");
    int got = 0;
    int ran = 0;
    quern::domain work(all.default_pool());
    work.spawn(quern::out(got), [this, request = MPI_REQUEST_NULL](int& to) mutable {
        if (request == MPI_REQUEST_NULL) {
            MPI_Irecv(&to, 1, MPI_INT, partner(), 3, comm, &request);
        }
        quern::mpi::wait_or_restart(request);
    });
    for (int i = 0; i < 100; ++i) {
        work.spawn(quern::inout(ran), [](int& r) { ++r; });
    }
    work.spawn(quern::in(ran),
               [this](const int& r) { MPI_Send(&r, 1, MPI_INT, partner(), 3, comm); });
    work.taskwait();
    EXPECT_EQ(got, 100);
}

std::string why_refused(quern::runtime& rt) {
    return quern::async(rt,
                        []() -> std::string {
                            MPI_Request none = MPI_REQUEST_NULL;
                            try {
                                quern::mpi::wait_or_restart(none);
                            } catch (const std::logic_error& e) {
                                return e.what();
                            }
                            return "";
                        })
        .get();
}

TEST_P(mpi_mechanisms, a_restart_is_refused_where_nothing_can_restart) {
    EXPECT_EQ(why_refused(with("restart")),
              "quern: mpi::wait_or_restart with mpi-mechanism=restart: it was called outside of a "
              "task of a quern::domain; accepted: in a task of a quern::domain, before it does "
              "what cannot be done again");
    rt.reset();
    EXPECT_EQ(why_refused(with("library")), "");
    std::array<MPI_Status, 2> two;
    MPI_Request none = MPI_REQUEST_NULL;
    EXPECT_THROW(quern::mpi::wait_or_restart(std::span(&none, 1), two), std::invalid_argument);
}

TEST_P(mpi_mechanisms, wrong_words_are_refused_with_the_nearest) {
    const auto message_of = [](const char* name, const char* value) -> std::string {
        try {
            quern::set_setting(name, value);
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_EQ(message_of("mpi-mechanism", "libary"),
              "quern: mpi-mechanism is 'libary' (program); accepted: library, thread, restart; did "
              "you mean 'library'?");
    EXPECT_NE(message_of("mpi-serialise", "yes").find("accepted: on, off, auto"),
              std::string::npos);
    EXPECT_NE(message_of("mpi-threads", "multipel").find("did you mean 'multiple'?"),
              std::string::npos);
    EXPECT_NE(message_of("mpi-poll-us", "1s").find("accepted: a whole number from 0 to 1000000"),
              std::string::npos);
    EXPECT_NE(message_of("mpi-mechanisms", "thread").find("did you mean 'mpi-mechanism'?"),
              std::string::npos);
}

// -- modes of waiting --------------------------------------------------------------------------

/// Suspensions while one task exchanges messages with the other rank in that mode.
std::uint64_t suspensions(quern::runtime& rt, MPI_Comm comm, quern::mpi::waiting how) {
    const std::uint64_t before = count_of(rt, "/mpi/count/suspended");
    quern::async(rt, [=] {
        const quern::mpi::waiting_mode here(how);
        for (int i = 0; i < 50; ++i) {
            int sent = i;
            int got = -1;
            MPI_Sendrecv(&sent, 1, MPI_INT, partner(), 4, &got, 1, MPI_INT, partner(), 4, comm,
                         MPI_STATUS_IGNORE);
            EXPECT_EQ(got, i);
            if (this_world().rank == 0) {
                MPI_Send(&sent, 1, MPI_INT, 1, 5, comm);
            } else {
                MPI_Recv(&got, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE);
            }
        }
    }).get();
    return count_of(rt, "/mpi/count/suspended") - before;
}

TEST_P(mpi_mechanisms, a_polling_task_is_never_suspended) {
    quern::runtime& all = with("library");
    EXPECT_EQ(suspensions(all, comm, quern::mpi::waiting::polling), 0U);
    MPI_Barrier(comm);
}

TEST_P(mpi_mechanisms, a_blocking_task_is_suspended_by_each_message) {
    quern::runtime& all = with("library");
    EXPECT_GE(suspensions(all, comm, quern::mpi::waiting::blocking), 1U);
    // Nothing to wait for, but it is not asked.
    const std::uint64_t before = count_of(*rt, "/mpi/count/suspended");
    quern::async(all, [this] {
        const quern::mpi::waiting_mode here(quern::mpi::waiting::blocking);
        int sent = 1;
        for (int i = 0; i < 20; ++i) {
            MPI_Send(&sent, 1, MPI_INT, this_world().rank, 6, comm);
        }
        int got = 0;
        MPI_Status status;
        status.MPI_SOURCE = -1;
        MPI_Recv(nullptr, 0, MPI_INT, MPI_PROC_NULL, 6, comm, &status);  // as in any mode
        EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
        for (int i = 0; i < 20; ++i) {
            MPI_Recv(&got, 1, MPI_INT, this_world().rank, 6, comm, MPI_STATUS_IGNORE);
        }
    }).get();
    EXPECT_GE(count_of(*rt, "/mpi/count/suspended"), before + 20);
}

TEST_P(mpi_mechanisms, scopes_of_waiting_nest_and_belong_to_their_task) {
    quern::runtime& all = with("library");
    const std::uint64_t before = count_of(*rt, "/mpi/count/suspended");
    quern::async(all, [&all, this] {
        const quern::mpi::waiting_mode here(quern::mpi::waiting::blocking);
        {
            const quern::mpi::waiting_mode inner(quern::mpi::waiting::polling);
            EXPECT_EQ(suspensions(all, comm, quern::mpi::waiting::polling), 0U);  // another task
        }
        int one = 1;
        MPI_Send(&one, 1, MPI_INT, this_world().rank, 7, comm);
        MPI_Recv(&one, 1, MPI_INT, this_world().rank, 7, comm, MPI_STATUS_IGNORE);
    }).get();
    EXPECT_GE(count_of(*rt, "/mpi/count/suspended"), before + 1);
    for (const auto how : {quern::mpi::waiting::polling, quern::mpi::waiting::blocking}) {
        const quern::mpi::waiting_mode outside(how);  // of this thread, which is no task
        MPI_Barrier(comm);
    }
}

// -- calls without a twin, under MPI_THREAD_MULTIPLE ---------------------------------------------

/// Under MPI_THREAD_SERIALIZED rank 0 would keep the messages back for which rank 1 waits.
TEST_P(mpi_mechanisms, with_threads_multiple_a_call_without_a_twin_keeps_no_message_back) {
    if (quern::current_settings().at("mpi-threads").text != "multiple") {
        GTEST_SKIP() << "mpi-threads is serialized";
    }
    quern::runtime& all = with("library");
    MPI_Comm half = MPI_COMM_NULL;
    const auto split = [&] { MPI_Comm_split(comm, 0, 0, &half); };
    if (this_world().rank == 0) {
        auto splits = quern::async(all, split);
        auto sends = quern::async(all, [this] {
            int value = 1;
            std::this_thread::sleep_for(20ms);
            MPI_Send(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
        });
        sends.get();
        splits.get();
    } else {
        int value = 0;
        MPI_Recv(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        quern::async(all, split).get();
    }
    rt.reset();
    MPI_Comm_free(&half);
}

}  // namespace
