// SPDX-License-Identifier: BSL-1.0
// The program of docs/dependences.md; tests/docs compares the two, and what it prints.
#include <quern/quern.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        std::vector<double> block(1000);
        std::vector<double> sums(4);
        quern::domain work;
        quern::renamed buffer(block);
        for (std::size_t step = 0; step < sums.size(); ++step) {
            work.spawn(quern::out(buffer), [step](auto to) {
                // While tasks still read earlier versions.
                std::fill(to.begin(), to.end(), 1.0 + static_cast<double>(step));
            });
            work.spawn(quern::in(buffer), quern::out(sums[step]), [](auto from, double& sum) {
                for (double x : from)
                    sum += x;
            });
        }
        work.taskwait();
        for (double sum : sums)
            std::printf("%g ", sum);
        std::printf("%g\n", block[0]);
    });
}
