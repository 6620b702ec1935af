// SPDX-License-Identifier: BSL-1.0
// Cancellation of each construct. The program starts itself again with OMP_CANCELLATION=true.
#include "check.h"

#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace {

constexpr int k_count = 2000;

/// All members come to the end of a cancelled loop, and to the next loop, which is not cancelled.
template <class Loop>
void loops(Loop&& cancelled_loop) {
    std::atomic<int> found{0};
    std::atomic<int> after{0};
#pragma omp parallel
    {
        cancelled_loop(found);
        after.fetch_add(1);
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < k_count; ++i) {
            after.fetch_add(1);
        }
#pragma omp for
        for (int i = 0; i < k_count; ++i) {
#pragma omp cancellation point for
            after.fetch_add(1);
        }
    }
    CHECK(found >= 1);
    int members = 1;
#pragma omp parallel
#pragma omp single
    members = omp_get_num_threads();
    CHECK(after == members + 2 * k_count);
}

void all_loops() {
    loops([](std::atomic<int>& found) {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < k_count; ++i) {
#pragma omp cancellation point for
            if (i % 500 == 499) {
                found.fetch_add(1);
#pragma omp cancel for
            }
        }
    });
    loops([](std::atomic<int>& found) {
#pragma omp for schedule(static)
        for (int i = 0; i < k_count; ++i) {
            if (i % 500 == 0) {
                found.fetch_add(1);
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
    });
    loops([](std::atomic<int>& found) {
#pragma omp sections
        {
#pragma omp section
            {
                found.fetch_add(1);
#pragma omp cancel sections
                found.fetch_add(-1000);
            }
#pragma omp section
            {
#pragma omp cancellation point sections
            }
        }
    });
}

/// A condition that does not hold leaves the construct a cancellation point.
void conditions() {
    int passed = 0;
#pragma omp parallel num_threads(2) reduction(+ : passed)
    {
#pragma omp for
        for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (passed < 0)
            passed += 1;
        }
    }
    CHECK(passed == 100);
}

/// Members that wait at barriers, and those that look for it, leave a cancelled region.
void regions() {
    for (int round = 0; round < 50; ++round) {
        std::atomic<int> ends{0};
        std::atomic<bool> stays{false};
        int size = 0;
#pragma omp parallel
        {
            if (omp_get_thread_num() == 0) {
                size = omp_get_num_threads();
            }
            if (omp_get_thread_num() == omp_get_num_threads() - 1) {
                ends.fetch_add(1);
#pragma omp cancel parallel
                stays = true;
            } else if (omp_get_thread_num() % 2 == 0) {
                ends.fetch_add(1);
#pragma omp barrier
                stays = true;
            } else {
                ends.fetch_add(1);
                for (;;) {
#pragma omp cancellation point parallel
                }
            }
        }
        CHECK(!stays && ends == size);
        int sum = 0;
#pragma omp parallel reduction(+ : sum)
        {
#pragma omp barrier
            sum += 1;
#pragma omp barrier
        }
        CHECK(sum == size);
    }
}

/// Tasks of a cancelled region that have not begun do not run; the region ends.
void tasks_of_regions() {
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> began{0};
#pragma omp parallel
        {
            for (int i = 0; i < 50; ++i) {
#pragma omp task
                began.fetch_add(1);
            }
#pragma omp cancel parallel if (omp_get_thread_num() == 0)
        }
        CHECK(began <= 50 * omp_get_max_threads());
    }
}

void groups() {
    std::atomic<int> began{0};
    std::atomic<int> others{0};
    std::atomic<int> came_back{0};
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 20; ++i) {
#pragma omp task
            others.fetch_add(1);
        }
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp cancel taskgroup
                came_back.fetch_add(1);
            }
#pragma omp taskwait
            for (int i = 0; i < 100; ++i) {
#pragma omp task
                began.fetch_add(1);
            }
#pragma omp taskloop num_tasks(50) nogroup
            for (int i = 0; i < 100; ++i) {
                began.fetch_add(1);
            }
        }
#pragma omp taskgroup
        {
#pragma omp task
            {
#pragma omp cancellation point taskgroup
                others.fetch_add(1);
            }
        }
    }
    CHECK(began == 0 && came_back == 0 && others == 21);
}

/// The search of a tree ends early.
void search(int depth, const std::atomic<int>& wanted, std::atomic<int>& visited, int number) {
    visited.fetch_add(1);
    if (depth == 0) {
        return;
    }
    for (int i = 0; i < 2; ++i) {
#pragma omp task shared(wanted, visited)
        {
            if (2 * number + i == wanted) {
#pragma omp cancel taskgroup
            }
#pragma omp cancellation point taskgroup
            search(depth - 1, wanted, visited, 2 * number + i);
        }
    }
}

void trees() {
    std::atomic<int> wanted{5};
    std::atomic<int> visited{0};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    search(12, wanted, visited, 1);
    CHECK(visited >= 2 && visited < 1 << 13);
}

/// The tasks of its loop are not made, and the loop's reductions end even so.
void loops_in_cancelled_groups() {
    long sum = 7;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task
        {
#pragma omp cancel taskgroup
        }
#pragma omp taskwait
#pragma omp taskloop reduction(+ : sum)
        for (int i = 0; i < 10; ++i) {
            sum += i;
        }
    }
    CHECK(sum >= 7);
}

}  // namespace

int main(int argc, char** argv) {
    if (std::getenv("OMP_CANCELLATION") == nullptr) {
        ::setenv("OMP_CANCELLATION", "true", 1);
        ::execv("/proc/self/exe", argv);
        return 1;
    }
    if (begin(argc, argv) != 0) {
        return 1;
    }
    CHECK(omp_get_cancellation() == 1);
    all_loops();
    conditions();
    regions();
    tasks_of_regions();
    groups();
    trees();
    loops_in_cancelled_groups();
    return end();
}
