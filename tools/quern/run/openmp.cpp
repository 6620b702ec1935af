// SPDX-License-Identifier: BSL-1.0
// The library stands in lib of the build or the installation, links to it by the names of the
// compilers' libraries in lib/quern/omp.
#include "run/openmp.hpp"

#include "command.hpp"

#include <quern/base/detail/nearest_match.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace quern::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> k_ways = {"preload", "replace"};

/// Where the library is, in a build directory or in an installation: relative to this program.
fs::path folder_of_library() {
    std::error_code failed;
    const fs::path self = fs::read_symlink("/proc/self/exe", failed);
    fs::path place;
    for (const char* const folder : {"../lib", QUERN_LIBRARY_FOLDER}) {
        place = (self.parent_path() / folder).lexically_normal();
        if (fs::exists(place / "libquern_omp.so", failed)) {
            return place;
        }
    }
    throw std::runtime_error(
        fmt::format("quern run: --openmp needs Quern's OpenMP library, and there is no '{}'; it "
                    "is built and installed with Quern, but not as a part of another project",
                    (place / "libquern_omp.so").string()));
}

/// `first` before what the variable has.
void put_before(const char* variable, const fs::path& first, char separator) {
    const char* const old = std::getenv(variable);
    std::string value = first.string();
    if (old != nullptr && *old != '\0') {
        value.append(1, separator).append(old);
    }
    ::setenv(variable, value.c_str(), 1);
}

}  // namespace

void use_openmp_library(const std::string& how) {
    if (how.empty() || how == k_ways[0]) {
        put_before("LD_PRELOAD", folder_of_library() / "libquern_omp.so", ' ');
    } else if (how == k_ways[1]) {
        put_before("LD_LIBRARY_PATH", folder_of_library() / "quern" / "omp", ':');
    } else {
        const std::string_view nearest = quern::detail::nearest_match(how, k_ways);
        throw usage_error(
            fmt::format("quern run: --openmp is '{}'; accepted: preload, replace{}", how,
                        nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
    }
}

}  // namespace quern::tool
