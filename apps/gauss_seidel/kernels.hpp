// SPDX-License-Identifier: BSL-1.0
// A Gauss-Seidel sweep over a block. Shared by the application and by bench/gauss_seidel. Compiled
// once, in kernels.cpp, so that all variants run the same instructions.
#pragma once

#include <cstddef>

namespace gauss_seidel {

/// Where the neighbours of a block are. `step`: from a number to the one a row below.
struct surroundings {
    const double* top;
    const double* bottom;
    const double* left;
    std::size_t left_step;
    const double* right;
    std::size_t right_step;
};

/// One sweep over a block of rows * columns points.
void sweep_block(double* block, std::size_t rows, std::size_t columns, const surroundings& around);

}  // namespace gauss_seidel
