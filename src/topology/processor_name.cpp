// SPDX-License-Identifier: BSL-1.0
// Reads /proc/cpuinfo until the first name.
#include <quern/topology/detail/processor_name.hpp>

#include <fstream>

namespace quern::topology::detail {

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line)) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) {
            return line.substr(colon + 2);
        }
    }
    return "unknown processor";
}

}  // namespace quern::topology::detail
