// SPDX-License-Identifier: BSL-1.0
// Small MPI programs in one, for two ranks; check.py starts them and reads what they print.
// Usage: <program> <case> [--quern:...]
#include "entrance.hpp"
#include "messages.hpp"

#include <quern/counters/counter.hpp>
#include <quern/counters/registry.hpp>
#include <quern/mpi/environment.hpp>
#include <quern/quern.hpp>

#include <mpi.h>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

int g_rank = 0;

void burn(std::chrono::milliseconds time) {
    const auto end = clock_type::now() + time;
    while (clock_type::now() < end) {
    }
}

/// Of the MPI counters since this was made.
class readings {
public:
    readings() { m_set.add("/mpi/*"); }
    void print(const char* part) {
        std::string line = "\nrank " + std::to_string(g_rank) + " " + part;
        for (const auto& each : m_set.evaluate().values) {
            const std::size_t name = each.name.find('}') + 1;
            line += " " + each.name.substr(name) + "=" +
                    (each.ok() ? std::to_string(static_cast<long long>(each.value)) : each.why);
        }
        // With its end in one piece: MPICH makes stdout unbuffered, and its starter puts what other
        // ranks say between two writes.
        line += "\n";
        std::fputs(line.c_str(), stdout);
        std::fflush(stdout);
    }

private:
    quern::counters::counter_set m_set;
};

/// Rank 0 sends three messages of 400 bytes, the first after 100 ms. Meanwhile rank 1, which
/// awaits them in a task, has other work, or none.
void pass_three(bool has_work) {
    std::vector<int> data(100, g_rank);
    if (g_rank == 0) {
        quern::async([&] {
            burn(100ms);
            for (int tag = 0; tag < 3; ++tag) {
                MPI_Send(data.data(), 100, MPI_INT, 1, tag, MPI_COMM_WORLD);
            }
        }).get();
        return;
    }
    auto receives = quern::async([&] {
        for (int tag = 0; tag < 3; ++tag) {
            MPI_Recv(data.data(), 100, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    });
    if (has_work) {
        quern::async([] {
            for (int i = 0; i < 40; ++i) {
                burn(2ms);
                quern::this_task::yield();
            }
        }).get();
    }
    receives.get();
}

void count() {
    readings all;
    MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
    pass_three(false);
    all.print("idle");
    MPI_Barrier(MPI_COMM_WORLD);
    readings busy;
    pass_three(true);
    busy.print("busy");
    // Each sends a message to the other and receives one, by calls that do not wait.
    readings posted;
    quern::async([] {
        double in = 0;
        double out = 1;
        MPI_Request requests[2];
        MPI_Irecv(&in, 1, MPI_DOUBLE, 1 - g_rank, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_DOUBLE, 1 - g_rank, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, 1 - g_rank, 6, &in, 1, MPI_DOUBLE, 1 - g_rank, 6,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int none = 0;
        MPI_Status status;
        MPI_Recv(&none, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
        if (status.MPI_SOURCE != MPI_PROC_NULL) {
            std::printf("a receive from MPI_PROC_NULL came from %d\n", status.MPI_SOURCE);
        }
    }).get();
    posted.print("posted");
    readings split;
    quern::async([] {
        MPI_Comm half = MPI_COMM_NULL;
        MPI_Comm_split(MPI_COMM_WORLD, g_rank, 0, &half);
        MPI_Comm_free(&half);
    }).get();
    split.print("split");
}

/// Three tasks of each rank wait for what never comes.
void hang() {
    MPI_Comm named = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "halo");
    auto one = quern::async([] {
        std::vector<double> data(100);
        MPI_Recv(data.data(), 100, MPI_DOUBLE, 1 - g_rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    auto two = quern::async([&] {
        int data = 0;
        MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, named, MPI_STATUS_IGNORE);
    });
    auto three = quern::async([&] {
        int data[2];
        MPI_Request requests[2];
        MPI_Irecv(&data[0], 1, MPI_INT, 1 - g_rank, 8, named, &requests[0]);
        MPI_Irecv(&data[1], 1, MPI_INT, 1 - g_rank, 9, named, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    });
    one.get();
    two.get();
    three.get();
}

/// The same as a report on demand, by rank 0.
void ask() {
    auto hangs = quern::async([] { hang(); });
    std::this_thread::sleep_for(g_rank == 0 ? 300ms : 60s);
    std::fputs(quern::task_report().c_str(), stderr);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/// Without calls that wait: the threads of the MPI library do not keep the certain report away.
void deadlock() {
    quern::mutex one;
    one.lock();
    quern::async([&one] { one.lock(); }).get();
}

/// The other rank never comes to the barrier.
void outside() {
    if (g_rank == 0) {
        quern::async([] {}).get();  // a runtime lives from now on
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        quern::async([] {
            int data = 0;
            MPI_Recv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }).get();
    }
}

void finalise_early() {
    quern::post([] {
        int data = 0;
        MPI_Recv(&data, 1, MPI_INT, 1 - g_rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    std::this_thread::sleep_for(200ms);
    MPI_Finalize();
}

void send_one() {
    quern::async([] {
        int data = 0;
        MPI_Send(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    }).get();
}

/// What tells nothing of an MPI that is not there yet, or no more.
void ask_around() {
    quern::async([] {
        int is_there = -1;
        int has_ended = -1;
        MPI_Initialized(&is_there);
        MPI_Finalized(&has_ended);
        std::printf("initialised %d, finalised %d\n", is_there, has_ended);
    }).get();
    std::fflush(stdout);
}

/// Requires: argv holds no options of Quern any more.
int run(int argc, char** argv) {
    const std::string which = argc > 1 ? argv[1] : "";
    if (which == "before") {
        ask_around();
        send_one();
        return 0;
    }
    if (which == "twice") {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
        try {
            const quern::mpi::environment again(argc, argv);
        } catch (const std::exception& error) {
            if (g_rank == 0) {  // the starter may mix what several ranks print
                std::puts(error.what());
            }
        }
        MPI_Finalize();
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
    if (which == "count") {
        count();
    } else if (which == "merge") {
        const quern::runtime rt;  // it ends, and its trace is written, before MPI does
        quern::async(rt, [] {}).get();
        pass_messages_of_all_kinds(g_rank);
    } else if (which == "operator-waits") {
        operator_waits_for_ever(g_rank);
    } else if (which == "operator-throws") {
        operator_throws();
    } else if (which == "too-much") {
        receive_too_much(g_rank, true);
    } else if (which == "too-much-later") {
        receive_too_much(g_rank, false);
    } else if (which == "too-much-in-own-runtime") {
        const quern::runtime rt;  // it still lives when MPI calls exit()
        quern::async(rt, [] { receive_too_much(g_rank, false); }).get();
    } else if (which == "long-call") {
        call_for_long(g_rank);
    } else if (which == "hang") {
        hang();
    } else if (which == "ask") {
        ask();
    } else if (which == "deadlock") {
        deadlock();
    } else if (which == "outside") {
        outside();
    } else if (which == "finalise") {
        finalise_early();
        return 0;
    } else if (which != "after") {
        std::fprintf(stderr, "no case is called '%s'\n", which.c_str());
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    if (which == "after") {
        ask_around();
        send_one();
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (!quern::take_command_line(argc, argv)) {
        return 0;
    }
    if (argc > 1 && std::strcmp(argv[1], "list") == 0) {
        const char* const kinds[] = {"sum", "level", "ratio"};
        for (const auto& each : quern::counters::all_counters()) {
            if (each.name.starts_with("/mpi/")) {
                std::printf("| `%s` | whole | %s | %s | %s |\n", each.name.c_str(),
                            kinds[static_cast<int>(each.kind)], each.unit.c_str(),
                            each.help.c_str());
            }
        }
        return 0;
    }
    return run(argc, argv);
}
