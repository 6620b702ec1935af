// SPDX-License-Identifier: BSL-1.0
// Explicit tasks, beside a serial computation.
#include "check.h"

#include <omp.h>

#include <atomic>
#include <memory>
#include <vector>

namespace {

long fib(int n) {
    if (n < 2) {
        return n;
    }
    long a = 0;
    long b = 0;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

long fib_cut(int n) {
    if (n < 2) {
        return n;
    }
    long a = 0;
    long b = 0;
#pragma omp task shared(a) if (n > 10) final(n < 6) mergeable
    a = fib_cut(n - 1);
#pragma omp task shared(b) untied if (n > 10) final(n < 6)
    b = fib_cut(n - 2);
#pragma omp taskwait
    return a + b;
}

int queens(int n, int row, std::vector<int> columns) {
    if (row == n) {
        return 1;
    }
    std::vector<int> found(static_cast<std::size_t>(n), 0);
    for (int c = 0; c < n; ++c) {
        bool ok = true;
        for (int r = 0; r < row; ++r) {
            const int other = columns[static_cast<std::size_t>(r)];
            ok = ok && other != c && other - c != row - r && c - other != row - r;
        }
        if (ok) {
#pragma omp task shared(found) firstprivate(columns, c)
            {
                columns.push_back(c);
                found[static_cast<std::size_t>(c)] = queens(n, row + 1, columns);
            }
        }
    }
#pragma omp taskwait
    int sum = 0;
    for (const int each : found) {
        sum += each;
    }
    return sum;
}

void trees() {
    long a = 0;
    long b = 0;
    int q = 0;
#pragma omp parallel
    {
#pragma omp single
        {
            a = fib(18);
            b = fib_cut(18);
            q = queens(7, 0, {});
        }
    }
    CHECK(a == 2584 && b == 2584 && q == 40);
    CHECK(fib(10) == 55);  // outside of any region
}

// Descendants for which only the barrier waits.
void descend(int depth, std::atomic<int>& count) {
    ++count;
    for (int i = 0; depth > 0 && i < 3; ++i) {
#pragma omp task shared(count) firstprivate(depth)
        descend(depth - 1, count);
    }
}

void barriers_drain() {
    std::atomic<int> count{0};
    int after_barrier = 0;
    int threads = 0;
#pragma omp parallel shared(count)
    {
#pragma omp task shared(count)
        descend(5, count);
#pragma omp barrier
#pragma omp single
        {
            after_barrier = count;
            threads = omp_get_num_threads();
        }
#pragma omp task shared(count)
        descend(4, count);
    }
    CHECK(after_barrier == 364 * threads);
    CHECK(count == (364 + 121) * threads);
}

void groups() {
    std::atomic<int> count{0};
    int seen = 0;
#pragma omp parallel shared(count)
#pragma omp single
    {
#pragma omp taskgroup
        {
#pragma omp task shared(count)
            descend(4, count);
#pragma omp taskgroup
            {
#pragma omp task shared(count)
                ++count;
            }
        }
        seen = count;
    }
    CHECK(seen == 122);
}

void task_loops() {
    std::vector<int> mark(1000, 0);
    const int first = 2;
    const int step = 3;
    int sum = 0;
#pragma omp parallel shared(mark)
#pragma omp single
    {
#pragma omp taskloop grainsize(7)
        for (int i = 0; i < 1000; ++i) {
            mark[static_cast<std::size_t>(i)]++;
        }
#pragma omp taskloop num_tasks(5)
        for (int i = 999; i >= 0; --i) {
            mark[static_cast<std::size_t>(i)]++;
        }
#pragma omp taskloop
        for (unsigned long long i = first; i < 1000; i += step) {
            mark[i] += 10;
        }
#pragma omp taskloop nogroup grainsize(100)
        for (int i = 0; i < 1000; ++i) {
#pragma omp atomic
            sum += i;
        }
    }
    bool ok = true;
    for (int i = 0; i < 1000; ++i) {
        const int wanted = 2 + (i >= first && (i - first) % step == 0 ? 10 : 0);
        ok = ok && mark[static_cast<std::size_t>(i)] == wanted;
    }
    CHECK(ok);
    CHECK(sum == 499500);
}

void dependences() {
    constexpr int k_side = 24;
    std::vector<long> grid((k_side + 1) * (k_side + 1), 0);
    long* const at = grid.data();
    const auto place = [](int i, int j) { return i * (k_side + 1) + j; };
    for (int i = 0; i <= k_side; ++i) {
        at[place(i, 0)] = at[place(0, i)] = 1;
    }
    int order = 0;
    bool in_order = true;
    std::atomic<int> readers{0};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 1; i <= k_side; ++i) {
            for (int j = 1; j <= k_side; ++j) {
                const int here = place(i, j);
                const int up = place(i - 1, j);
                const int left = place(i, j - 1);
#pragma omp task depend(in : at[up], at[left]) depend(out : at[here]) firstprivate(here, up, left)
                at[here] = (at[up] + at[left]) % 1000003;
            }
        }
        for (int i = 0; i < 100; ++i) {
#pragma omp task depend(inout : order) shared(order, in_order) firstprivate(i)
            {
                in_order = in_order && order == i;
                order = i + 1;
            }
        }
        for (int round = 0; round < 5; ++round) {
#pragma omp task depend(out : readers) shared(readers, in_order)
            in_order = in_order && readers.exchange(0) % 8 == 0;
            for (int i = 0; i < 8; ++i) {
#pragma omp task depend(in : readers) shared(readers)
                ++readers;
            }
        }
        int waited = 0;
#pragma omp task depend(out : waited) shared(waited)
        waited = 1;
#pragma omp taskwait depend(in : waited)
        in_order = in_order && waited == 1;
#pragma omp task depend(inout : waited) shared(waited)
        waited = 2;
#pragma omp task depend(inout : waited) shared(waited, in_order) if (0)
        in_order = in_order && waited == 2;
#pragma omp taskwait
    }
    std::vector<long> serial(grid.size(), 0);
    for (int i = 0; i <= k_side; ++i) {
        serial[static_cast<std::size_t>(place(i, 0))] = 1;
        serial[static_cast<std::size_t>(place(0, i))] = 1;
    }
    for (int i = 1; i <= k_side; ++i) {
        for (int j = 1; j <= k_side; ++j) {
            serial[static_cast<std::size_t>(place(i, j))] =
                (serial[static_cast<std::size_t>(place(i - 1, j))] +
                 serial[static_cast<std::size_t>(place(i, j - 1))]) %
                1000003;
        }
    }
    CHECK(grid == serial);
    CHECK(in_order && order == 100 && readers == 8);
}

void count_leaves(int depth, long& sum) {
    if (depth == 0) {
        sum += 1;
        return;
    }
    for (int i = 0; i < 2; ++i) {
#pragma omp task in_reduction(+ : sum) firstprivate(depth)
        count_leaves(depth - 1, sum);
    }
#pragma omp taskwait
}

void reductions() {
    long sum = 5;
    double product = 1;
    long of_loop = 0;
#pragma omp parallel shared(sum, product, of_loop)
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(* : product)
        {
            for (int i = 0; i < 50; ++i) {
#pragma omp task in_reduction(+ : sum) in_reduction(* : product) firstprivate(i)
                {
                    sum += i;
                    product *= i % 10 == 0 ? 2 : 1;
                }
            }
        }
#pragma omp taskgroup task_reduction(+ : sum)
        {
#pragma omp task in_reduction(+ : sum)
            count_leaves(6, sum);
        }
#pragma omp taskloop reduction(+ : of_loop) grainsize(9)
        for (int i = 0; i < 500; ++i) {
            of_loop += i;
        }
    }
    CHECK(sum == 5 + 1225 + 64 && product == 32);
    CHECK(of_loop == 124750);
}

// A tied task comes back to its thread under its number, and what it has set is still set.
void tied_tasks_stay() {
    std::atomic<int> bad{0};
#pragma omp parallel shared(bad)
#pragma omp single
    for (int i = 0; i < 200; ++i) {
#pragma omp task shared(bad)
        {
            const int before = omp_get_thread_num();
#pragma omp task
            fib(8);
#pragma omp taskwait
            bad += omp_get_thread_num() != before;
        }
    }
    CHECK(bad == 0);
}

// Tasks that hold a lock while they wait for their children: what a waiting thread runs meanwhile
// must not want the lock.
void locks_over_waits() {
    omp_lock_t lock;
    omp_init_lock(&lock);
    long plain = 0;
#pragma omp parallel shared(lock, plain)
#pragma omp single
    for (int i = 0; i < 100; ++i) {
#pragma omp task shared(lock, plain)
        {
            omp_set_lock(&lock);
            const long before = plain;
            for (int k = 0; k < 3; ++k) {
#pragma omp task
                fib(5);
            }
#pragma omp taskwait
            plain = before + 1;
            omp_unset_lock(&lock);
        }
    }
    CHECK(plain == 100);
    omp_destroy_lock(&lock);
}

struct counted {
    static std::atomic<int> alive;
    counted() { ++alive; }
    counted(const counted& other) : value(other.value) { ++alive; }
    ~counted() { --alive; }
    int value = 7;
};
std::atomic<int> counted::alive{0};

/// Each task of a loop has its own copies, also where another thread makes it, and may leave
/// children to the group. One is long, so others must be begun by other threads meanwhile or
/// afterwards.
void loop_tasks_with_copies(int count) {
    const counted copied;
    std::vector<int> hits(static_cast<std::size_t>(count), 0);
    int children = 0;
#pragma omp taskloop grainsize(1) firstprivate(copied) shared(hits, children)
    for (int i = 0; i < count; ++i) {
        hits[static_cast<std::size_t>(i)] += copied.value;
        if (i == count / 2) {
            fib(16);
        }
        if (i % 5 == 0) {
#pragma omp task shared(children)
#pragma omp atomic
            ++children;
        }
    }
    CHECK(hits == std::vector<int>(static_cast<std::size_t>(count), 7));
    CHECK(children == (count + 4) / 5);
}

void loops_of_tasks() {
    for (const int count : {1, 2, 3, 17, 1000}) {
#pragma omp parallel
#pragma omp single
        loop_tasks_with_copies(count);
    }
    // All members have loops at once, with loops in their tasks.
#pragma omp parallel
    {
        int sum = 0;
#pragma omp taskloop grainsize(1) shared(sum)
        for (int i = 0; i < 40; ++i) {
            loop_tasks_with_copies(i % 7 + 1);
#pragma omp atomic
            sum += i;
        }
        CHECK(sum == 780);
    }
    CHECK(counted::alive == 0);
}

void copies_are_made_and_destroyed() {
    std::atomic<int> sum{0};
    {
        counted one;
#pragma omp parallel shared(sum)
#pragma omp single
        for (int i = 0; i < 300; ++i) {
#pragma omp task firstprivate(one) shared(sum)
            sum += one.value;
        }
    }
    CHECK(sum == 2100 && counted::alive == 0);
}

void exceptions_stay_within_tasks() {
    std::atomic<int> caught{0};
#pragma omp parallel shared(caught)
    {
#pragma omp task shared(caught)
        try {
#pragma omp task
            fib(6);
#pragma omp taskwait
            throw 1;
        } catch (int) {
            ++caught;
        }
    }
    CHECK(caught == omp_get_max_threads());
}

// Regions within tasks.
void regions_in_tasks() {
    std::atomic<int> sum{0};
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) shared(sum)
#pragma omp single
    for (int i = 0; i < 4; ++i) {
#pragma omp task shared(sum)
        {
#pragma omp parallel num_threads(2) shared(sum)
            {
#pragma omp task shared(sum)
                sum += static_cast<int>(fib(5));
            }
        }
    }
    CHECK(sum == 40);
    omp_set_max_active_levels(1);
}

long deep(int n) {
    long below = 0;
    if (n > 0) {
#pragma omp task shared(below)
        below = deep(n - 1);
#pragma omp taskwait
    }
    return below + 1;
}

void deep_recursion() {
    long depth = 0;
#pragma omp parallel
#pragma omp single
    depth = deep(20000);
    CHECK(depth == 20001);
}

}  // namespace

int main(int argc, char** argv) {
    if (begin(argc, argv)) {
        return 2;
    }
    for (int round = 0; round < 3; ++round) {
        trees();
        barriers_drain();
        groups();
        task_loops();
        loops_of_tasks();
        dependences();
        reductions();
        tied_tasks_stay();
        locks_over_waits();
        copies_are_made_and_destroyed();
        exceptions_stay_within_tasks();
        regions_in_tasks();
    }
    deep_recursion();
    return end();
}
