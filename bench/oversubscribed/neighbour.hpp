// SPDX-License-Identifier: BSL-1.0
// A process that keeps one CPU busy, as an unrelated program would. It must not outlive its parent,
// nor run while the parent is stopped: so it lives for one repetition.
#pragma once

#include <cerrno>
#include <csignal>
#include <system_error>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench::oversubscribed {

/// Busy on the last CPU that the caller may use, from the constructor's end on.
class busy_neighbour {
public:
    busy_neighbour() {
        int ready[2];
        const pid_t self = getpid();
        if (pipe(ready) != 0 || (m_pid = fork()) < 0) {
            throw std::system_error(errno, std::generic_category(), "no busy neighbour");
        }
        if (m_pid == 0) {
            stay_busy(self, ready[1]);
        }
        close(ready[1]);
        char byte = 0;
        const bool runs = read(ready[0], &byte, 1) == 1;
        close(ready[0]);
        if (!runs) {
            end();
            throw std::system_error(EAGAIN, std::generic_category(), "no busy neighbour");
        }
    }
    busy_neighbour(const busy_neighbour&) = delete;
    busy_neighbour& operator=(const busy_neighbour&) = delete;
    ~busy_neighbour() { end(); }

private:
    /// The child of a process with threads: only system calls.
    [[noreturn]] static void stay_busy(pid_t parent, int ready) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent || !keep_last_cpu() || write(ready, "r", 1) != 1) {
            _exit(1);  // the parent ended before the request to end with it
        }
        for (;;) {
            asm volatile("");  // a loop without effects may be removed
        }
    }

    static bool keep_last_cpu() {
        cpu_set_t all;
        if (sched_getaffinity(0, sizeof all, &all) != 0) {
            return false;
        }
        int last = CPU_SETSIZE - 1;
        while (!CPU_ISSET(last, &all)) {
            --last;
        }
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(last, &one);
        return sched_setaffinity(0, sizeof one, &one) == 0;
    }

    void end() const {
        kill(m_pid, SIGKILL);
        waitpid(m_pid, nullptr, 0);
    }

    pid_t m_pid = -1;
};

}  // namespace bench::oversubscribed
