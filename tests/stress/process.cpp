// SPDX-License-Identifier: BSL-1.0
// Reads /proc/self and the process's CPU clock.
#include "process.hpp"

#include <unistd.h>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

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

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

std::size_t resident_bytes() { return pages().resident * page_bytes(); }
std::size_t mapped_bytes() { return pages().total * page_bytes(); }

std::size_t thread_count() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    constexpr double k_nano = 1e-9;
    return static_cast<double>(now.tv_sec) + k_nano * static_cast<double>(now.tv_nsec);
}

}  // namespace quern_test
