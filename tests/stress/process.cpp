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

std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0, resident = 0;
    file >> total >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

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
