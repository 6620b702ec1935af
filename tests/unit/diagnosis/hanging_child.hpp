// SPDX-License-Identifier: BSL-1.0
// A process that may never end: it runs a function on its main thread, and the test reads its
// stderr. It is killed when the object is destroyed. Requires: the calling test has no other
// threads, because this forks.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace quern_test {

class hanging_child {
public:
    /// `report` is the value of QUERN_HANG_REPORT.
    template <class F>
    explicit hanging_child(F&& f, const char* report = "certain") {
        int ends[2];
        if (::pipe(ends) != 0) {
            std::abort();
        }
        std::fflush(nullptr);
        // A thread sanitizer makes a thread of its own with the first of ours. A child forked
        // before that makes two, and the second would look like a thread that may act.
        static const bool has_made_a_thread = (std::thread([] {}).join(), true);
        (void)has_made_a_thread;
        m_child = ::fork();
        if (m_child == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // the child must not outlive a stopped test
            ::dup2(ends[1], STDERR_FILENO);
            ::close(ends[0]);
            ::setenv("QUERN_HANG_REPORT", report, 1);
            ::setenv("QUERN_THREADS", "2", 1);
            f();
            std::fflush(nullptr);
            std::_Exit(0);
        }
        ::close(ends[1]);
        m_from_child = ends[0];
    }
    hanging_child(const hanging_child&) = delete;
    hanging_child& operator=(const hanging_child&) = delete;
    ~hanging_child() {
        ::kill(m_child, SIGKILL);
        ::waitpid(m_child, nullptr, 0);
        ::close(m_from_child);
    }

    /// Its stderr until that contains `last`, the child ends, or the limit has passed.
    std::string says(const std::string& last,
                     std::chrono::milliseconds limit = std::chrono::seconds(20)) {
        const auto start = std::chrono::steady_clock::now();
        std::string text;
        while (text.find(last) == std::string::npos) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
                start + limit - std::chrono::steady_clock::now());
            pollfd ready{m_from_child, POLLIN, 0};
            char piece[4096];
            if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
                break;
            }
            const ssize_t n = ::read(m_from_child, piece, sizeof piece);
            if (n <= 0) {
                break;
            }
            text.append(piece, static_cast<std::size_t>(n));
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::printf("listened for %.2f s\n%s\n", took.count(), text.c_str());
        return text;
    }

private:
    pid_t m_child = -1;
    int m_from_child = -1;
};

}  // namespace quern_test
