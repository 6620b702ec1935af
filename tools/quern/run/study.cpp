// SPDX-License-Identifier: BSL-1.0
// Subcommands that run a program many times, and those that compile one: this process becomes the
// Python package tools/study or tools/pragmas, which parses its own command line. Here is only
// their text in `quern --help`.
#include "run/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include <unistd.h>

namespace quern::tool {

namespace {

namespace fs = std::filesystem;

struct subcommand {
    const char* name;
    const char* package;
    const char* about;
};

constexpr subcommand k_studies[] = {
    {"grain", "study",
     "Run a program with tasks of many sizes; show time and what goes along with it"},
    {"cc", "pragmas", "Compile C whose functions are tasks by pragmas"},
    {"c++", "pragmas", "The same for C++"},
};

fs::path path_of_this_program() {
    std::error_code failed;
    fs::path self = fs::read_symlink("/proc/self/exe", failed);
    if (failed) {
        throw std::runtime_error(
            fmt::format("where is this program? /proc/self/exe: {}", failed.message()));
    }
    return self;
}

/// Its place in a build directory, then in an installation; both relative to this program.
fs::path package_for(const fs::path& self, const std::string& name) {
    const auto* const found =
        std::find_if(std::begin(k_studies), std::end(k_studies),
                     [&name](const subcommand& each) { return each.name == name; });
    fs::path package;
    for (const char* const folder : {"../share", QUERN_DATA_FOLDER}) {
        package = (self.parent_path() / folder / "quern" / found->package).lexically_normal();
        std::error_code failed;
        if (fs::exists(package / "__main__.py", failed)) {
            return package;
        }
    }
    throw std::runtime_error(fmt::format(
        "the Python part of this subcommand is missing: there is no '{}'; it is installed with "
        "Quern",
        package.string()));
}

}  // namespace

bool is_study(std::string_view name) {
    return std::any_of(std::begin(k_studies), std::end(k_studies),
                       [=](const subcommand& each) { return each.name == name; });
}

void add_studies(cli::command& quern) {
    for (const subcommand& each : k_studies) {
        cli::command study = quern.subcommand(each.name, each.about);
        study.footer(fmt::format("quern {} --help shows more.", each.name));
    }
}

void run_study(const std::vector<std::string>& words) {
    const fs::path self = path_of_this_program();
    const auto name = std::find_if(words.begin(), words.end(), is_study);  // settings may precede
    // -I: ignores the user's Python variables and modules; -B: writes no bytecode.
    std::vector<std::string> command = {
        "python3", "-I", "-B", "-X", "utf8", package_for(self, *name).string(), self.string()};
    command.insert(command.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (std::string& word : command) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    throw std::runtime_error(fmt::format(
        "this subcommand needs python3 (3.11 or newer) in PATH, which cannot be started: {}",
        std::strerror(errno)));
}

}  // namespace quern::tool
