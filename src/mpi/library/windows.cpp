// SPDX-License-Identifier: BSL-1.0
// A count of windows.
#include "library/windows.hpp"

#include <mpi.h>
#include <atomic>

namespace quern::mpi::detail {

namespace {

constinit std::atomic<int> g_windows{0};

}  // namespace

int window_made(int code) noexcept {
    if (code == MPI_SUCCESS) {
        g_windows.fetch_add(1, std::memory_order_relaxed);
    }
    return code;
}

int window_freed(int code) noexcept {
    if (code == MPI_SUCCESS) {
        g_windows.fetch_sub(1, std::memory_order_relaxed);
    }
    return code;
}

bool has_windows() noexcept { return g_windows.load(std::memory_order_relaxed) > 0; }

}  // namespace quern::mpi::detail
