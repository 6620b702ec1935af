// SPDX-License-Identifier: BSL-1.0
// Jobs that hang, each by one mistake, and jobs that do not; check.py starts them on four ranks and
// reads what `quern run` says. Usage: <program> <case> [--quern:...]
// Each rank of a job that hangs prints a line before it makes the call from which it does not
// return. Some calls are made in tasks, and some by main beside a runtime.
#include <quern/mpi/environment.hpp>
#include <quern/quern.hpp>

#include <mpi.h>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

int g_rank = 0;
int g_size = 1;

void say_ready() {
    const std::string line = "\nrank " + std::to_string(g_rank) + " is ready\n";
    std::fputs(line.c_str(), stdout);
    std::fflush(stdout);
}

void burn(std::chrono::milliseconds time) {
    const auto end = clock_type::now() + time;
    while (clock_type::now() < end) {
    }
}

int g_data = 0;

void send(int to, int tag, MPI_Comm comm = MPI_COMM_WORLD) {
    MPI_Send(&g_data, 1, MPI_INT, to, tag, comm);
}

void receive(int from, int tag, MPI_Comm comm = MPI_COMM_WORLD) {
    int data = 0;
    MPI_Recv(&data, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
}

template <class F>
void in_task(const char* name, F f) {
    quern::async({.name = name}, f).get();
}

MPI_Comm named_duplicate(const char* name) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_set_name(made, name);
    return made;
}

// Jobs that hang.

void wrong_tag() {
    in_task("exchange", [] {
        if (g_rank == 0) {
            send(1, 7);
        }
        say_ready();
        if (g_rank == 1) {
            receive(0, 8);
        }
    });
    MPI_Barrier(MPI_COMM_WORLD);
}

void cycle() {
    in_task("neighbour", [] {
        say_ready();
        receive((g_rank + 1) % g_size, 3);
        send((g_rank + g_size - 1) % g_size, 3);
    });
}

void missing_call() {
    in_task("sum", [] {
        say_ready();
        if (g_rank == 3) {
            receive(0, 5);
        }
        int sum = 0;
        MPI_Allreduce(&g_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (g_rank == 0) {
            send(3, 5);
        }
    });
}

void different_order() {
    quern::async([] {}).get();
    say_ready();
    int sum = 0;
    if (g_rank < 2) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(&g_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else {
        MPI_Allreduce(&g_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

void different_roots() {
    in_task("collect", [] {
        int all[4];
        say_ready();
        MPI_Gather(&g_rank, 1, MPI_INT, all, 1, MPI_INT, g_rank == 3 ? 1 : 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    });
}

void wrong_communicator() {
    const MPI_Comm halo = named_duplicate("halo");
    in_task("edge", [halo] {
        if (g_rank == 0) {
            send(1, 7, halo);
        }
        say_ready();
        if (g_rank == 1) {
            int data = 0;
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    });
    MPI_Barrier(MPI_COMM_WORLD);
}

/// On a copy, made without waiting, of a part of MPI_COMM_WORLD.
void missing_in_half() {
    quern::async([] {}).get();
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, g_rank / 2, 0, &half);
    MPI_Comm_idup(half, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&half);
    MPI_Comm_set_name(copy, g_rank < 2 ? "lower half" : "upper half");
    MPI_Barrier(copy);
    say_ready();
    if (g_rank == 3) {
        in_task("late", [copy] { receive(0, 5, copy); });
    }
    MPI_Barrier(copy);
    if (g_rank == 2) {
        send(1, 5, copy);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void wrong_source() {
    in_task("edge", [] {
        if (g_rank == 0) {
            send(1, 7);
        }
        say_ready();
        if (g_rank == 1) {
            receive(2, 7);
        }
    });
    MPI_Barrier(MPI_COMM_WORLD);
}

void finalised() {
    quern::async([] {}).get();
    say_ready();
    if (g_rank == 0) {
        in_task("last word", [] { receive(3, 9); });
    } else if (g_rank != 3) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/// mpi-mechanism=thread: each rank spawns its receive before the send on which the other depends.
/// More of both wait for the thread, and a task of the workers for their end.
void thread_order() {
    quern::set_setting("mpi-mechanism", "thread");
    const quern::runtime here(quern::runtime_options::with_workers(1));
    quern::set_setting("mpi-mechanism", "library");
    const int other = g_rank ^ 1;
    quern::async(here, [other] {
        quern::domain work;
        int got[3] = {};
        for (int tag = 0; tag < 3; ++tag) {
            work.spawn({.name = "edge", .communication = true}, quern::out(got[tag]),
                       [=](int&) { receive(other, tag); });
            work.spawn({.communication = true}, [=] { send(other, tag); });
        }
        say_ready();
        work.taskwait();
    }).get();
}

// Jobs that do not.

/// Rank 0 computes for 3 s, in a task or outside. The others wait for it, in tasks and outside.
void wait_long(bool is_asleep) {
    if (g_rank == 0) {
        in_task("computes", [is_asleep] {
            is_asleep ? std::this_thread::sleep_for(3s) : burn(3000ms);
            for (int to = 1; to < g_size; ++to) {
                send(to, 1);
            }
        });
    } else {
        in_task("waits", [] { receive(0, 1); });
    }
    if (g_rank == 1) {
        std::this_thread::sleep_for(1500ms);  // no task and no thread of Quern
    }
    MPI_Barrier(MPI_COMM_WORLD);
    in_task("timer", [] {
        if (g_rank == 2) {
            quern::this_task::sleep_for(1500ms);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    });
}

/// Messages that take long, and collective calls in several tasks.
void pass_much() {
    constexpr std::size_t k_count = std::size_t{4} << 20U;
    std::vector<char> out(k_count, static_cast<char>(g_rank));
    std::vector<char> in(k_count);
    const int count = static_cast<int>(k_count);
    const int next = (g_rank + 1) % g_size;
    const int previous = (g_rank + g_size - 1) % g_size;
    for (int round = 0; round < 3; ++round) {
        in_task("large", [&] {
            MPI_Request requests[2];
            MPI_Irecv(in.data(), count, MPI_CHAR, previous, 2, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(out.data(), count, MPI_CHAR, next, 2, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            MPI_Sendrecv(out.data(), count, MPI_CHAR, next, 4, in.data(), count, MPI_CHAR, previous,
                         4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Bcast(in.data(), count, MPI_CHAR, round % g_size, MPI_COMM_WORLD);
        });
    }
}

/// Messages that a library sends without waiting for their receivers: the senders go to sleep, and
/// the last one to finalise MPI, while they are on their way. For slow networks.
void pass_at_once() {
    std::vector<char> data(60'000);
    const int count = static_cast<int>(data.size());
    for (int from = g_size - 1; from >= 0; --from) {
        in_task("at once", [&] {
            if (g_rank == from) {
                MPI_Send(data.data(), count, MPI_CHAR, (from + 1) % g_size, 6, MPI_COMM_WORLD);
            } else if (g_rank == (from + 1) % g_size) {
                MPI_Recv(data.data(), count, MPI_CHAR, from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        });
    }
}

/// Many small messages and communicators, and runtimes that come and go.
void pass_many() {
    for (int round = 0; round < 5; ++round) {
        const quern::runtime here;
        const MPI_Comm other = named_duplicate("round");
        quern::async(here, [&] {
            quern::task_group all;
            for (int tag = 0; tag < 100; ++tag) {
                all.run([tag, other] {
                    if (g_rank % 2 == 0) {
                        send(g_rank + 1, tag, other);
                        receive(g_rank + 1, tag, other);
                    } else {
                        receive(g_rank - 1, tag, other);
                        send(g_rank - 1, tag, other);
                    }
                });
            }
            all.wait();
            int sum = 0;
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Iallreduce(&g_rank, &sum, 1, MPI_INT, MPI_SUM, other, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }).get();
        MPI_Comm free = other;
        MPI_Comm_free(&free);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

const std::map<std::string, std::function<void()>> k_cases{
    {"wrong-tag", wrong_tag},
    {"cycle", cycle},
    {"missing-call", missing_call},
    {"different-order", different_order},
    {"different-roots", different_roots},
    {"wrong-communicator", wrong_communicator},
    {"missing-in-half", missing_in_half},
    {"wrong-source", wrong_source},
    {"finalised", finalised},
    {"thread-order", thread_order},
    {"healthy-computes", [] { wait_long(false); }},
    {"healthy-sleeps", [] { wait_long(true); }},
    {"healthy-much", pass_much},
    {"healthy-many", pass_many},
    {"healthy-at-once", pass_at_once},
};

}  // namespace

int main(int argc, char** argv) {
    if (!quern::take_command_line(argc, argv)) {
        return 0;
    }
    const auto chosen = k_cases.find(argc > 1 ? argv[1] : "");
    if (chosen == k_cases.end()) {
        std::fputs("no such case\n", stderr);
        return 2;
    }
    const quern::mpi::environment world(argc, argv);
    g_rank = world.rank();
    g_size = world.size();
    chosen->second();
    return 0;
}
