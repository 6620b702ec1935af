// SPDX-License-Identifier: BSL-1.0
// Step 3 of the tutorial: any number of tasks that are waited for together.
#include <quern/quern.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>

// A tree that is not known before it is walked: the node n has n children, 0 to n-1.
void walk(quern::task_group& all, int n, std::atomic<long>& nodes) {
    ++nodes;
    for (int child = 0; child < n; ++child) {
        all.run([&all, child, &nodes] { walk(all, child, nodes); });
    }
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        // Tasks of a group may add tasks to it.
        std::atomic<long> nodes = 0;
        quern::task_group all;
        walk(all, 16, nodes);
        all.wait();
        std::printf("nodes of the tree: %ld\n", nodes.load());

        // A bounded group keeps a loop of any length in constant memory.
        std::atomic<long> sum = 0;
        quern::task_group few(quern::bounded(64));
        for (long i = 1; i <= 100'000; ++i) {
            few.run([i, &sum] { sum += i; });
        }
        few.wait();
        std::printf("1 + ... + 100000 = %ld\n", sum.load());

        // The first exception is thrown by wait(). Tasks that have not begun are dropped.
        quern::task_group failing;
        failing.run([] { throw std::runtime_error("disk full"); });
        try {
            failing.wait();
        } catch (const std::runtime_error& error) {
            std::printf("error: %s\n", error.what());
        }
    });
}
