// SPDX-License-Identifier: BSL-1.0
// The program of docs/dependences.md; tests/docs compares the two, and what it prints.
#include <quern/quern.hpp>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        using quern::in, quern::inout, quern::out;
        std::vector<double> a(1000, 1.0), b(1000);
        double sum_a = 0, sum_b = 0;
        quern::domain work;
        work.spawn(in(a), out(b), [](auto from, auto to) {
            for (std::size_t i = 0; i < from.size(); ++i)
                to[i] = 2 * from[i];
        });
        // Both read what is there now, at the same time.
        work.spawn(in(a), out(sum_a), [](auto from, double& s) {
            for (double x : from)
                s += x;
        });
        work.spawn(in(b), out(sum_b), [](auto from, double& s) {
            for (double x : from)
                s += x;
        });
        // After the readers of these ten elements.
        work.spawn(inout(a.data(), 10), [](auto part) { part[0] = 0; });
        work.taskwait();
        std::printf("%g %g %g\n", sum_a, sum_b, a[0]);
    });
}
