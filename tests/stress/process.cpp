// SPDX-License-Identifier: BSL-1.0
// Reads /proc/self and the process's CPU clock.
#include "process.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace quern_test {

namespace {

struct memory_use {
    std::size_t total = 0;     ///< pages
    std::size_t resident = 0;  ///< pages
};

memory_use pages() {
    memory_use use;
    std::ifstream file("/proc/self/statm");
    file >> use.total >> use.resident;
    return use;
}

double seconds_of(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    constexpr double k_nano = 1e-9;
    return static_cast<double>(now.tv_sec) + k_nano * static_cast<double>(now.tv_nsec);
}

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

/// Whether the kernel has begun to remove it: join() returns a moment before its entry goes. The
/// flags of a thread are the seventh word behind its name, which may hold any character.
bool is_exiting(const std::filesystem::path& thread) {
    std::ifstream file(thread / "stat");
    std::string line;
    if (!std::getline(file, line)) {
        return true;  // gone
    }
    std::istringstream words(line.substr(line.rfind(')') + 1));
    std::string other;
    for (int i = 0; i < 6; ++i) {
        words >> other;
    }
    unsigned long flags = 0;
    words >> flags;
    constexpr unsigned long k_exiting = 4;  // PF_EXITING of the kernel
    return (flags & k_exiting) != 0;
}

}  // namespace

std::size_t resident_bytes() { return pages().resident * page_bytes(); }
std::size_t mapped_bytes() { return pages().total * page_bytes(); }

std::size_t thread_count() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::count_if(
        begin(tasks), end(tasks), [](const auto& each) { return !is_exiting(each.path()); }));
}

std::size_t thread_count_at_rest() {
    constexpr std::chrono::milliseconds k_while(50);
    std::thread([] {}).join();
    std::size_t before = 0, now = thread_count();
    do {
        before = now;
        std::this_thread::sleep_for(k_while);
        now = thread_count();
    } while (now != before);
    return now;
}

bool becomes_thread_count(std::size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (thread_count() != count) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

double cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

double cpu_seconds_of_others() {
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

long wake_ups() {
    rusage all{};
    ::getrusage(RUSAGE_SELF, &all);
    return all.ru_nvcsw;
}

}  // namespace quern_test
