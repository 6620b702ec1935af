// SPDX-License-Identifier: BSL-1.0
// Reads /proc/self/task.
#include "diagnosis/waits/threads_seen.hpp"

#include <quern/base/detail/call_frames.hpp>

#include <dirent.h>
#include <sys/syscall.h>
#include <ctime>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>

namespace quern::detail {

namespace {

struct call_text {
    long number;
    const char* text;
};

constexpr call_text k_calls[] = {
    {SYS_futex, "waits for a lock, a condition variable or another thread (futex)"},
    {SYS_clock_nanosleep, "sleeps for a time (clock_nanosleep)"},
    {SYS_nanosleep, "sleeps for a time (nanosleep)"},
    {SYS_read, "reads (read)"},
    {SYS_readv, "reads (readv)"},
    {SYS_pread64, "reads (pread)"},
    {SYS_write, "writes (write)"},
    {SYS_writev, "writes (writev)"},
    {SYS_fsync, "waits for a disk (fsync)"},
    {SYS_recvfrom, "waits for a socket (recv)"},
    {SYS_recvmsg, "waits for a socket (recvmsg)"},
    {SYS_sendto, "waits for a socket (send)"},
    {SYS_accept, "waits for a client (accept)"},
    {SYS_accept4, "waits for a client (accept4)"},
    {SYS_connect, "waits for a server (connect)"},
    {SYS_ppoll, "waits for files or sockets (ppoll)"},
    {SYS_pselect6, "waits for files or sockets (pselect)"},
    {SYS_epoll_pwait, "waits for files or sockets (epoll)"},
#if defined(SYS_poll)
    {SYS_poll, "waits for files or sockets (poll)"},
    {SYS_select, "waits for files or sockets (select)"},
    {SYS_epoll_wait, "waits for files or sockets (epoll)"},
    {SYS_pause, "waits for a signal (pause)"},
#endif
    {SYS_rt_sigtimedwait, "waits for a signal (sigwait)"},
    {SYS_rt_sigsuspend, "waits for a signal (sigsuspend)"},
    {SYS_wait4, "waits for a process (wait4)"},
    {SYS_waitid, "waits for a process (waitid)"},
    {SYS_io_getevents, "waits for input or output (io_getevents)"},
};

std::string first_line_of(pid_t id, const char* file) {
    std::ifstream in("/proc/self/task/" + std::to_string(id) + "/" + file);
    std::string line;
    std::getline(in, line);
    return line;
}

std::string text_of_state(char state) {
    switch (state) {
        case 'R':
            return "runs, or waits for a processor";
        case 'S':
            return "sleeps in the kernel";
        case 'D':
            return "waits in the kernel, for a disk or the like";
        case 'T':
        case 't':
            return "is stopped";
        default:
            return "does what the system does not tell";
    }
}

/// The line is "number, six arguments, stack pointer, program counter", or "running".
void read_call(const std::string& line, seen_thread& into) {
    constexpr int k_arguments = 6;
    std::istringstream words(line);
    long number = -1;
    if (!(words >> number)) {
        return;
    }
    const auto* const known = std::find_if(std::begin(k_calls), std::end(k_calls),
                                           [&](const auto& each) { return each.number == number; });
    into.doing = known != std::end(k_calls)
                     ? known->text
                     : into.doing + ", in system call " + std::to_string(number);
    std::uintptr_t stack = 0;
    frame_registers at;
    std::string skipped;
    for (int i = 0; i < k_arguments; ++i) {
        words >> skipped;
    }
    if (words >> std::hex >> stack >> at.pc) {
        constexpr std::size_t k_most_calls = 32;
        std::array<const void*, k_most_calls> calls{};
        at.set(frame_registers::k_stack, stack);
        const std::size_t found = walk_calls(at, calls);
        into.calls.assign(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(found));
    }
}

}  // namespace

seen_thread look_at_thread(pid_t id) {
    seen_thread seen;
    const std::string line = first_line_of(id, "stat");  // "12 (name) S 1 …", any name
    const std::size_t open = line.find('(');
    const std::size_t close = line.rfind(") ");
    char state = '?';
    if (open != std::string::npos && close != std::string::npos && close + 2 < line.size()) {
        seen.name = line.substr(open + 1, close - open - 1);
        state = line[close + 2];
    }
    seen.sleeps = state == 'S' || state == 'D';
    seen.doing = text_of_state(state);
    if (seen.sleeps) {
        read_call(first_line_of(id, "syscall"), seen);
    }
    return seen;
}

/// The thread's clock id contains the thread id (clock_getcpuclockid(3) of threads).
std::uint64_t cpu_ns_of(pid_t id) noexcept {
    constexpr unsigned k_scheduled_time_of_thread = 6;
    constexpr std::uint64_t k_ns = 1'000'000'000;
    const auto clock =
        static_cast<clockid_t>(~static_cast<unsigned>(id) << 3U | k_scheduled_time_of_thread);
    timespec ran{};
    return ::clock_gettime(clock, &ran) == 0 ? static_cast<std::uint64_t>(ran.tv_sec) * k_ns +
                                                   static_cast<std::uint64_t>(ran.tv_nsec)
                                             : 0;
}

std::vector<pid_t> threads_of_process() {
    std::vector<pid_t> all;
    const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), ::closedir);
    if (tasks != nullptr) {
        while (const dirent* entry = ::readdir(tasks.get())) {  // its own stream: thread safe
            if (entry->d_name[0] != '.') {
                all.push_back(static_cast<pid_t>(std::atol(entry->d_name)));
            }
        }
    }
    return all;
}

}  // namespace quern::detail
