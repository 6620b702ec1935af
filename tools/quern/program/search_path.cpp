// SPDX-License-Identifier: BSL-1.0
// Finds programs in the folders of PATH.
#include "program/search_path.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace quern::tool {

std::string path_of(const std::string& program) {
    if (program.find('/') != std::string::npos) {
        return program;
    }
    const char* const path = std::getenv("PATH");
    const std::string folders = path != nullptr ? path : "/bin:/usr/bin";
    for (std::size_t begin = 0; begin <= folders.size();) {
        const std::size_t end = std::min(folders.find(':', begin), folders.size());
        std::string file = folders.substr(begin, end - begin) + "/" + program;
        if (::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file)) {
            return file;
        }
        begin = end + 1;
    }
    return "";
}

}  // namespace quern::tool
