// SPDX-License-Identifier: BSL-1.0
// A program of MPI and OpenMP whose tasks make blocking calls. It knows nothing of Quern. The first
// argument is the case, the second how much of it. With the OpenMP library of the compiler most
// cases wait for ever on one thread. What the cases hold: test_hybrid.py.
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int g_rank = 0;
int g_ranks = 1;
int g_own = 0;
#pragma omp threadprivate(g_own)

[[noreturn]] void fail(const char* what, long found, long expected) {
    std::fprintf(stderr, "rank %d: %s: %ld instead of %ld\n", g_rank, what, found, expected);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}
void expect(const char* what, long found, long expected) {
    if (found != expected) {
        fail(what, found, expected);
    }
}

int next_rank() { return (g_rank + 1) % g_ranks; }
int previous_rank() { return (g_rank + g_ranks - 1) % g_ranks; }

int receive(int from, int tag) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return got;
}
void send(int what, int to, int tag) { MPI_Ssend(&what, 1, MPI_INT, to, tag, MPI_COMM_WORLD); }

// One task receives, and the next one sends what it waits for.
void run_pair(int) {
    int got = -1;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(got)
        got = receive(next_rank(), 5);
#pragma omp task
        send(g_rank, previous_rank(), 5);
    }
    expect("a message", got, next_rank());
}

// All receive before the first one sends.
void run_order(int count) {
    std::vector<int> got(count, -1);
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < count; ++i) {
#pragma omp task shared(got) firstprivate(i)
            got[i] = receive(previous_rank(), i);
        }
        for (int i = count - 1; i >= 0; --i) {
#pragma omp task firstprivate(i)
            send(i, next_rank(), i);
        }
    }
    for (int i = 0; i < count; ++i) {
        expect("a message", got[i], i);
    }
}

// The parent of a task that receives sends what it waits for, after a taskwait for another one.
void run_nested(int) {
    int got = -1;
    int sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp task shared(got, sum)
    {
        int inner = 0;
#pragma omp taskgroup
        {
#pragma omp task shared(inner)
            inner = receive(g_rank, 1);
#pragma omp task
            send(4, g_rank, 1);
        }
#pragma omp task shared(got)
        {
#pragma omp task shared(got)
            got = receive(g_rank, 2);
        }
#pragma omp taskwait
        sum = inner;
        send(3, g_rank, 2);
    }
    expect("the message of a grandchild", got, 3);
    expect("the message within a taskgroup", sum, 4);
}

// The region itself calls while tasks wait, and run.
void run_region(int) {
    int got[2] = {-1, -1};
#pragma omp parallel
#pragma omp master
    {
#pragma omp task shared(got)
        got[0] = receive(g_rank, 1);
#pragma omp task
        {
            send(8, g_rank, 2);
            send(9, g_rank, 1);
        }
        got[1] = receive(g_rank, 2);
    }
    expect("the message of a task", got[0], 9);
    expect("the message of the region", got[1], 8);
}

// What belongs to a task, or to its thread, is the same after the call.
void check_own(int i, int thread) {
    errno = 1000 + i;
    int caught = -1;
    try {
        throw std::runtime_error(std::to_string(i));
    } catch (const std::exception&) {
        expect("a message", receive(g_rank, i), i);
        expect("errno", errno, 1000 + i);
        try {
            throw;
        } catch (const std::exception& again) {
            caught = std::atoi(again.what());
        }
    }
    expect("the exception", caught, i);
    expect("the thread", omp_get_thread_num(), thread);
    expect("threadprivate", g_own, thread);
}
void run_state(int count) {
#pragma omp parallel
    {
        g_own = omp_get_thread_num();
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i)
            check_own(i, omp_get_thread_num());
#pragma omp task firstprivate(i, count)
            send(count - 1 - i, g_rank, count - 1 - i);
        }
    }
}

// A task that holds a lock keeps its thread: another task of that thread would wait for it. The
// other rank makes the other one of the two calls meanwhile.
void run_locks(int count) {
    int inside = 0;
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 2 * count; ++i) {
        if ((i + g_rank) % 2 == 0) {
#pragma omp task shared(inside) firstprivate(i)
#pragma omp critical
            {
                ++inside;
                send(i, next_rank(), i);
                expect("tasks in a critical region", inside, 1);
                --inside;
            }
        } else {
#pragma omp task shared(lock) firstprivate(i)
            {
                omp_set_nest_lock(&lock);
                expect("depth of a lock", omp_test_nest_lock(&lock), 2);
                expect("a message", receive(previous_rank(), i), i);
                omp_unset_nest_lock(&lock);
                omp_unset_nest_lock(&lock);
            }
        }
        if (i % 2 == 1) {
#pragma omp taskwait
        }
    }
    omp_destroy_nest_lock(&lock);
}

long bytes_of_process() {
    long pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld", &pages) != 1) {
            pages = 0;
        }
        std::fclose(file);
    }
    return pages * ::sysconf(_SC_PAGESIZE);
}

// Calls that wait, a hundred at a time. The stacks are used again.
void run_many(int count) {
    constexpr int k_at_once = 100;
    long sum = 0;
    long before = 0;
    long after = 0;
#pragma omp parallel
#pragma omp single
    for (int done = 0; done < count; done += k_at_once) {
        for (int i = 0; i < k_at_once; ++i) {
#pragma omp task shared(sum) firstprivate(i)
            {
                const int got = receive(g_rank, i);
#pragma omp atomic
                sum += got;
            }
        }
        for (int i = 0; i < k_at_once; ++i) {
#pragma omp task firstprivate(i)
            send(i, g_rank, i);
        }
#pragma omp taskwait
        if (done == count / 10 / k_at_once * k_at_once) {
            before = bytes_of_process();
        }
        after = bytes_of_process();
    }
    expect("the sum of all messages", sum, static_cast<long>(count) * (k_at_once - 1) / 2);
    // How many calls wait at once differs from time to time; a stack takes some 10 MiB of it.
    // Stacks that are lost in each turn would need a hundred times as much.
    constexpr long k_most = 3L * k_at_once * (11L << 20);
    expect("growth of the address space", after - before > k_most ? after - before : 0, 0);
}

// -- heat ----------------------------------------------------------------------------------------

constexpr int k_width = 64;
constexpr int k_rows = 8;  // of a block
constexpr int k_blocks = 4;
constexpr int k_height = k_rows * k_blocks;  // of a rank

using row = std::vector<double>;

double first_value(int y, int x) { return y == 0 ? 100.0 : (x * 7 + y * 3) % 11; }

void update(const std::vector<row>& from, std::vector<row>& to, int first, int last) {
    for (int y = first; y < last; ++y) {
        for (int x = 1; x + 1 < k_width; ++x) {
            to[y][x] = 0.25 * (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]);
        }
    }
}

// The rows of all ranks, with one of fixed values before and behind.
std::vector<row> initial(int first, int rows) {
    std::vector<row> made(rows + 2, row(k_width));
    for (int y = 0; y < rows + 2; ++y) {
        for (int x = 0; x < k_width; ++x) {
            made[y][x] = first_value(first + y, x);
        }
    }
    return made;
}

double sum_of(const std::vector<row>& all, int first, int last) {
    double sum = 0;
    for (int y = first; y < last; ++y) {
        for (const double each : all[y]) {
            sum += each * (y + 1);
        }
    }
    return sum;
}

// One step: halo rows by blocking calls in tasks, blocks by tasks that depend on them.
// Marks: one for each block, and for the halo rows at both ends.
// Each step has tags of its own: calls of different steps wait at the same time.
void make_step(int step, std::vector<row>& old, std::vector<row>& now, const char* of_old,
               const char* of_now) {
    const int down = 2 * step;
    const int up = down + 1;
    if (g_rank > 0) {
#pragma omp task shared(old) depend(out : of_old[0])
        MPI_Recv(old[0].data(), k_width, MPI_DOUBLE, g_rank - 1, down, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
#pragma omp task shared(old) depend(in : of_old[1])
        MPI_Ssend(old[1].data(), k_width, MPI_DOUBLE, g_rank - 1, up, MPI_COMM_WORLD);
    }
    if (g_rank + 1 < g_ranks) {
#pragma omp task shared(old) depend(out : of_old[k_blocks + 1])
        MPI_Recv(old[k_height + 1].data(), k_width, MPI_DOUBLE, g_rank + 1, up, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
#pragma omp task shared(old) depend(in : of_old[k_blocks])
        MPI_Ssend(old[k_height].data(), k_width, MPI_DOUBLE, g_rank + 1, down, MPI_COMM_WORLD);
    }
    for (int b = 1; b <= k_blocks; ++b) {
#pragma omp task shared(old, now) firstprivate(b)                \
    depend(in                                                    \
           : of_old[b - 1], of_old[b], of_old[b + 1]) depend(out \
                                                             : of_now[b])
        update(old, now, (b - 1) * k_rows + 1, b * k_rows + 1);
    }
}

void run_heat(int steps) {
    std::vector<row> one = initial(g_rank * k_height, k_height);
    std::vector<row> other = one;
    std::vector<char> marks(2 * (k_blocks + 2));
#pragma omp parallel
#pragma omp single
    for (int s = 0; s < steps; s += 2) {
        // The marks of the rows that one step writes are those that the next one reads.
        make_step(s, one, other, marks.data(), marks.data() + k_blocks + 2);
        make_step(s + 1, other, one, marks.data() + k_blocks + 2, marks.data());
    }
    std::vector<row> all = initial(0, k_height * g_ranks);
    std::vector<row> next = all;
    for (int s = 0; s < steps; ++s) {
        update(all, next, 1, k_height * g_ranks + 1);
        std::swap(all, next);
    }
    for (int y = 1; y <= k_height; ++y) {
        if (one[y] != all[g_rank * k_height + y]) {
            fail("a row that differs from the serial answer", y, 0);
        }
    }
    std::printf("rank %d: heat %.6f\n", g_rank, sum_of(one, 1, k_height + 1));
}

// A recursion through taskwait; what lies at its bottom waits for a call.
int descend(int depth) {
    if (depth == 0) {
        return receive(g_rank, 3);
    }
    int below = 0;
#pragma omp task shared(below) firstprivate(depth)
    below = descend(depth - 1);
#pragma omp taskwait
    return below + 1;
}
void run_deep(int depth) {
    int found = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(found) firstprivate(depth)
        found = descend(depth);
#pragma omp task
        send(7, g_rank, 3);
    }
    expect("the depth and the message", found, depth + 7);
}

// Rank 0 receives what nothing sends.
void run_hang(int) {
#pragma omp parallel
#pragma omp single
#pragma omp task
    receive(g_rank, 77);
}

struct test_case {
    const char* name;
    void (*run)(int);
};
constexpr test_case k_cases[] = {
    {"pair", run_pair},   {"order", run_order}, {"nested", run_nested}, {"region", run_region},
    {"state", run_state}, {"locks", run_locks}, {"many", run_many},     {"heat", run_heat},
    {"deep", run_deep},   {"hang", run_hang}};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &g_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &g_ranks);
    for (const test_case& each : k_cases) {
        if (argc > 1 && std::strcmp(each.name, argv[1]) == 0) {
            each.run(argc > 2 ? std::atoi(argv[2]) : 1);
        }
    }
    MPI_Finalize();
    return 0;
}
