// SPDX-License-Identifier: BSL-1.0
// Shared by these tests. The test program itself never has a thread of Quern: each case runs in a
// child of it (in_child.hpp), which forks once more where fork() is tested.
#pragma once

#include "unit/scheduler/in_child.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <exception>

namespace quern_test {

/// A process that hangs is ended by SIGALRM after this time, and its status is then wrong.
inline constexpr unsigned k_patience = 60;  // seconds

/// Waits for a child: its exit status, or 128 and the number of the signal that ended it.
inline int wait_for_child(pid_t child) {
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) {
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Forks; the child ends with the result of f(), through `leave`; 99 is for an exception.
template <class F>
int fork_and_wait(F&& f, void (*leave)(int) = ::_exit) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(k_patience);
        int status = 99;
        try {
            status = f();
        } catch (const std::exception& error) {
            std::puts(error.what());
        }
        std::fflush(nullptr);
        leave(status);
    }
    return wait_for_child(child);
}

/// in_child() for a main without arguments.
template <class Main>
ended alone(Main&& main) {
    return in_child({}, [&](int&, char**) {
        ::alarm(k_patience);
        return main();
    });
}

}  // namespace quern_test
