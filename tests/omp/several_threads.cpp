// SPDX-License-Identifier: BSL-1.0
// Several threads of the program have a team each, at the same time, and end.
#include "check.h"

#include <omp.h>

#include <atomic>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

long sum_to(int n) {
    long sum = 0;
#pragma omp parallel for schedule(dynamic, 5) reduction(+ : sum)
    for (int i = 0; i < n; ++i) {
        sum += i;
    }
    return sum;
}

// The child has none of its parent's threads, and makes its own.
void fork_after_regions() {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(sum_to(1000) == 499500 ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace

int main(int argc, char** argv) {
    if (begin(argc, argv)) {
        return 2;
    }
    std::atomic<int> bad{0};
    for (int round = 0; round < 3; ++round) {
        std::vector<std::thread> callers;
        for (int t = 0; t < 3; ++t) {
            callers.emplace_back([&bad] {
                for (int i = 0; i < 30; ++i) {
                    bad += sum_to(100 + i) != (100L + i) * (99 + i) / 2;
                }
            });
        }
        for (std::thread& each : callers) {
            each.join();
        }
    }
    CHECK(bad == 0);
    CHECK(sum_to(1000) == 499500);
    fork_after_regions();
    for (int size : {1, 3, 2, 5, 2}) {
        int members = 0;
#pragma omp parallel num_threads(size) reduction(+ : members)
        members += 1;
        CHECK(members == size);
    }
    return end();
}
