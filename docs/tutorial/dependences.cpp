// SPDX-License-Identifier: BSL-1.0
// Step 9 of the tutorial: sweeps over the blocks of an array, ordered by the data they use.
#include <quern/quern.hpp>

#include <cstdio>
#include <span>
#include <vector>

constexpr std::size_t k_block = 1000;
constexpr std::size_t k_blocks = 8;

// Each element becomes the mean of itself and its left neighbour; the first of a block needs the
// last of the block before it.
void smooth(double left, std::span<double> block) {
    for (double& x : block) {
        left = x = (left + x) / 2;
    }
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        using quern::in, quern::inout;
        std::vector<double> x(k_block * k_blocks, 1.0);
        quern::domain work;
        for (int sweep = 0; sweep < 20; ++sweep) {
            for (std::size_t b = 0; b < k_blocks; ++b) {
                double* const first = x.data() + b * k_block;
                const auto own = inout(first, k_block);
                if (b == 0) {
                    work.spawn(own, [](auto block) { smooth(0, block); });
                } else {
                    work.spawn(in(first[-1]), own,
                               [](double left, auto block) { smooth(left, block); });
                }
            }
        }
        work.taskwait();
        std::printf("%.4f %.4f %.4f\n", x[0], x[10], x[20]);
    });
}
