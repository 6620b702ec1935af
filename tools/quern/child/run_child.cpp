// SPDX-License-Identifier: BSL-1.0
// Waits in one poll for the program's output, its end, signals to this process and the limit. The
// program is reaped last, so that its id names it until then.
#include "child/run_child.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>

namespace quern::tool {

namespace {

using watch = std::chrono::steady_clock;

constexpr std::size_t k_kept_output = 1u << 20u;  // bytes
constexpr double k_grace_s = 1;                   // from SIGTERM to SIGKILL (guessed)

/// Reads what is there. Returns whether more may come.
bool read_some(int from, std::string& into) {
    std::array<char, 65536> part;
    while (true) {
        const ssize_t got = ::read(from, part.data(), part.size());
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return got < 0 && errno == EAGAIN;
        }
        into.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (into.size() > 2 * k_kept_output) {
            into.erase(0, into.size() - k_kept_output);
        }
    }
}

/// For poll(); -1: no limit. At most a minute, so that any limit fits.
int milliseconds_until(watch::time_point begin, double limit_s) {
    if (std::isinf(limit_s)) {
        return -1;
    }
    const double left = limit_s - std::chrono::duration<double>(watch::now() - begin).count();
    return static_cast<int>(std::ceil(std::clamp(left, 0.0, 60.0) * 1000));
}

/// Returns when the program has ended and can be reaped.
void wait_for(pid_t id, int output, double limit_s, interruption& interrupted, child_end& end) {
    const auto begin = watch::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(watch::now() - begin).count();
    };
    // <sys/pidfd.h> of glibc 2.36 cannot be used from C++.
    const descriptor process(
        require(static_cast<int>(::syscall(SYS_pidfd_open, id, 0)), "pidfd_open"));
    std::array<pollfd, 3> polled{
        {{process.number(), POLLIN, 0}, {output, POLLIN, 0}, {interrupted.arrivals(), POLLIN, 0}}};
    while (true) {
        const int ready = ::poll(polled.data(), polled.size(), milliseconds_until(begin, limit_s));
        if (ready < 0 && errno != EINTR) {
            require(ready, "poll");
        }
        if (ready > 0 && polled[0].revents != 0) {
            end.seconds = seconds();
            read_some(output, end.output);
            return;
        }
        if (ready > 0 && polled[1].revents != 0 && !read_some(output, end.output)) {
            polled[1].fd = -1;  // closed by the program
        }
        if (seconds() >= limit_s || (!end.is_stopped && interrupted.signal() != 0)) {
            ::kill(-id, end.is_stopped ? SIGKILL : SIGTERM);
            limit_s =
                end.is_stopped ? std::numeric_limits<double>::infinity() : seconds() + k_grace_s;
            end.is_stopped = true;
            polled[2].fd = -1;
        }
    }
}

}  // namespace

child_end run_child(const program_words& program, double limit_s, interruption& interrupted) {
    std::array<int, 2> ends{};
    require(::pipe2(ends.data(), O_CLOEXEC), "pipe2");
    const descriptor reading(ends[0]);
    descriptor writing(ends[1]);
    require(::fcntl(reading.number(), F_SETFL, O_NONBLOCK), "fcntl");
    child_end end;
    const started_child child = start_child({.words = program.command,
                                             .variables = program.variables,
                                             .has_input = false,
                                             .output = writing.number(),
                                             .has_own_group = true,
                                             .signal_at_our_end = SIGKILL,
                                             .signals = &interrupted.mask_before()});
    if (child.error != 0) {
        end.start_error = child.error;
        end.failure = fmt::format("cannot be started: {}", std::strerror(child.error));
        return end;
    }
    writing.close();
    wait_for(child.id, reading.number(), limit_s, interrupted, end);
    if (end.is_stopped) {
        // What the program started, too; the group has its id until it is reaped.
        ::kill(-child.id, SIGKILL);
    }
    const ended_child how = wait_for_child(child.id);
    end.processor_s = how.processor_s;
    end.failure = end.is_stopped ? "" : failure_of(how.status);
    end.output.erase(0, end.output.size() - std::min(end.output.size(), k_kept_output));
    return end;
}

}  // namespace quern::tool
