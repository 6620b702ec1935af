// SPDX-License-Identifier: BSL-1.0
// The scopes waiting_mode of tasks and threads, and which one the caller is in.
#include <quern/mpi/waiting_mode.hpp>

#include "progress/waiting_here.hpp"

#include <quern/task/task_local.hpp>

#include <atomic>
#include <utility>

namespace quern::mpi {

namespace {

/// Tasks without a scope have no value.
task_local<waiting>& mode_of_task() {
    static task_local<waiting>& the_one = *new task_local<waiting>;  // as long as the process
    return the_one;
}

constinit std::atomic<int> g_scopes{0};

}  // namespace

waiting_mode::waiting_mode(waiting how) : m_before(std::exchange(*mode_of_task(), how)) {
    g_scopes.fetch_add(1, std::memory_order_relaxed);
}

waiting_mode::~waiting_mode() {
    g_scopes.fetch_sub(1, std::memory_order_relaxed);
    *mode_of_task() = m_before;  // it is there
}

namespace detail {

/// relaxed: a task sees the scopes that it has made itself.
waiting waiting_here() noexcept {
    if (g_scopes.load(std::memory_order_relaxed) == 0 || !mode_of_task().has_value()) {
        return waiting::adaptive;
    }
    return *mode_of_task();
}

}  // namespace detail

}  // namespace quern::mpi
