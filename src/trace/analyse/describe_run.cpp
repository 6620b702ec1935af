// SPDX-License-Identifier: BSL-1.0
// The context of a run: program, command line, start time, machine.
#include "record/recorder_state.hpp"

#include <quern/settings/settings.hpp>
#include <quern/topology/detail/processor_name.hpp>

#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

namespace quern::trace::detail {

namespace {

/// The arguments, separated by spaces.
std::string command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    while (!text.empty() && text.back() == '\0') {
        text.pop_back();
    }
    for (char& c : text) {
        c = c == '\0' ? ' ' : c;
    }
    return text;
}

std::string wall_clock() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    char text[40] = {};
    if (::localtime_r(&now, &parts) != nullptr) {
        std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &parts);
    }
    return text;
}

std::string machine_words() {
    utsname system{};
    ::uname(&system);
    return topology::detail::processor_name() + ", " +
           std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + " CPUs, " + system.sysname + " " +
           system.release + " " + system.machine;
}

}  // namespace

void describe_run(recording& into, const settings* chosen) {
    into.program = ::program_invocation_short_name;
    into.command_line = command_line();
    into.started = wall_clock();
    into.machine = machine_words();
    if (chosen == nullptr) {
        return;
    }
    for (const setting& row : chosen->rows()) {
        const setting_value& value = chosen->at(row.name);
        into.settings.emplace_back(std::string(row.name), value.text + " (" + value.origin + ")");
    }
}

}  // namespace quern::trace::detail
