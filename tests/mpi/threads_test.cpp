// SPDX-License-Identifier: BSL-1.0
// A program that has asked for MPI_THREAD_MULTIPLE and been given it: a function without a
// non-blocking twin that waits for the other rank keeps no message of its own rank back, in tasks,
// in main and in other threads. Each function is called beside a message that its peer needs first.
// If one keeps it back the test hangs, and the alarm of main.cpp ends it.
#include "blocking_table.hpp"
#include "world.hpp"

#include <quern/task/async.hpp>
#include <quern/task/this_task.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using quern_test::blocking_entry;
using quern_test::blocking_frame;
using quern_test::own_comm;
using quern_test::this_world;

int partner() { return 1 - this_world().rank; }

/// The same on both ranks.
std::string shared_path() {
    int process = ::getpid();
    MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return testing::TempDir() + "quern_threads_" + std::to_string(process);
}

enum class place { task, main, thread };

/// Without a fast network Open MPI 4.1 has only windows that it allocates itself at this level.
bool has_windows_of_program(MPI_Comm comm) {
    int memory = 0;
    MPI_Win window = MPI_WIN_NULL;
    if (PMPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, comm, &window) != MPI_SUCCESS) {
        return false;
    }
    PMPI_Win_free(&window);
    return true;
}

/// The early rank makes the call, and a task of it sends the message after which the late one
/// calls. The pause makes it likely that the call has begun; if it has not, the test proves
/// nothing.
void call_beside_message(quern::runtime& rt, const blocking_entry& entry, blocking_frame& f,
                         int early, place where, MPI_Comm messages) {
    if (f.rank != early) {
        int token = 0;
        MPI_Recv(&token, 1, MPI_INT, partner(), 8, messages, MPI_STATUS_IGNORE);
        entry.call(f);
        return;
    }
    auto sends = quern::async(rt, [messages] {
        quern::this_task::sleep_for(2ms);
        const int token = 1;
        MPI_Send(&token, 1, MPI_INT, partner(), 8, messages);
    });
    if (where == place::task) {
        quern::async(rt, [&] { entry.call(f); }).get();
    } else if (where == place::main) {
        entry.call(f);
    } else {
        std::thread([&] { entry.call(f); }).join();
    }
    sends.get();
}

class mpi_threads : public testing::TestWithParam<unsigned> {
protected:
    void SetUp() override {
        int level = MPI_THREAD_SINGLE;
        MPI_Query_thread(&level);
        ASSERT_EQ(level, MPI_THREAD_MULTIPLE);
        f.rank = this_world().rank;
        f.comm = comm;
        m_path = shared_path();
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }

    /// Another file each time: Open MPI 4.1 may not open one again that it has just closed.
    void name_file() { f.path = m_path + "." + std::to_string(m_files++); }
    void remove_file() {
        MPI_Barrier(messages);
        ::unlink(f.path.c_str());
    }

    own_comm comm;
    own_comm messages;
    blocking_frame f;

private:
    std::string m_path{};
    int m_files = 0;
};

INSTANTIATE_TEST_SUITE_P(on, mpi_threads, testing::Values(1U, 2U));

TEST_P(mpi_threads, a_function_without_a_twin_keeps_no_message_back) {
    quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
    // Another number of workers matters to tasks alone.
    const std::vector<place> places = GetParam() == 1
                                          ? std::vector{place::task, place::main, place::thread}
                                          : std::vector{place::task};
    const bool has_all_windows = has_windows_of_program(comm);
    int early = 0;
    for (const blocking_entry& entry : quern_test::blocking_table()) {
        if (!has_all_windows && entry.name.starts_with("Win_create")) {
            continue;
        }
        for (const place where : places) {
            SCOPED_TRACE("MPI_" + std::string(entry.name) + ", place " +
                         std::to_string(static_cast<int>(where)));
            name_file();
            if (entry.before != nullptr) {
                entry.before(f);
            }
            call_beside_message(rt, entry, f, early, where, messages);
            EXPECT_EQ(f.code, MPI_SUCCESS);
            if (entry.after != nullptr) {
                entry.after(f);
            }
            remove_file();
            early = 1 - early;
        }
    }
}

/// Each task has a communicator of its own, and the ranks start them in opposite orders.
TEST_P(mpi_threads, tasks_split_their_communicators_in_any_order) {
    constexpr int k_tasks = 6;
    quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
    std::vector<MPI_Comm> all(k_tasks);
    for (MPI_Comm& each : all) {
        MPI_Comm_dup(comm, &each);
    }
    std::vector<quern::future<int>> wrong;
    for (int i = 0; i < k_tasks; ++i) {
        const MPI_Comm from = all[static_cast<std::size_t>(f.rank == 0 ? i : k_tasks - 1 - i)];
        wrong.push_back(quern::async(rt, [from, this] {
            int found = 0;
            for (int round = 0; round < 2; ++round) {
                MPI_Comm part = MPI_COMM_NULL;
                MPI_Comm_split(from, 0, f.rank, &part);
                int one = 1;
                int sum = 0;
                MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part);
                found += sum != 2 ? 1 : 0;
                MPI_Comm_free(&part);
            }
            return found;
        }));
    }
    for (auto& each : wrong) {
        EXPECT_EQ(each.get(), 0);
    }
    for (MPI_Comm& each : all) {
        MPI_Comm_free(&each);
    }
}

int g_copied = 0;

/// A function that a call beside the entrance calls may pass messages, and waits for them.
int copy_attribute(MPI_Comm, int, void*, void*, void*, int* is_copied) {
    int sent = 5;
    int got = 0;
    MPI_Sendrecv(&sent, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    g_copied += got == 5 ? 1 : 0;
    *is_copied = 0;
    return MPI_SUCCESS;
}

TEST_P(mpi_threads, a_callback_of_such_a_function_calls_mpi) {
    quern::runtime rt(quern::runtime_options::with_workers(GetParam()));
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
    MPI_Comm_set_attr(comm, key, nullptr);
    g_copied = 0;
    MPI_Comm made = MPI_COMM_NULL;
    quern::async(rt, [&] { MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made); }).get();
    MPI_Comm_free(&made);
    MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made);
    MPI_Comm_free(&made);
    EXPECT_EQ(g_copied, 2);
    MPI_Comm_free_keyval(&key);
}

TEST(mpi_threads_covered, every_function_without_a_twin) {
    std::ifstream source(QUERN_TEST_MPI_GENERATED QUERN_TEST_MPI_LIBRARY
                         "/calls_" QUERN_TEST_MPI_LIBRARY ".cpp");
    ASSERT_TRUE(source.is_open());
    std::set<std::string_view> known(quern_test::blocking_left_out().begin(),
                                     quern_test::blocking_left_out().end());
    for (const blocking_entry& each : quern_test::blocking_table()) {
        known.insert(each.name);
    }
    const std::regex begin(R"(^int MPI_(\w+)\()");
    std::string name;
    int found = 0;
    for (std::string line; std::getline(source, line);) {
        std::smatch match;
        if (std::regex_search(line, match, begin)) {
            name = match[1];
            name = name.ends_with("_c") ? name.substr(0, name.size() - 2) : name;
        }
        if (line.find("run_blocking(") != std::string::npos) {
            EXPECT_TRUE(known.contains(name)) << "MPI_" << name << " has no entry";
            ++found;
        }
    }
    EXPECT_GE(found, 60);
}

}  // namespace
