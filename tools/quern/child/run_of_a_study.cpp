// SPDX-License-Identifier: BSL-1.0
#include "child/run_of_a_study.hpp"

#include "child/run_child.hpp"
#include "command.hpp"

#include <quern/base/detail/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/prctl.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

namespace quern::tool {

int run_for_a_study(std::string_view limit_s, char** words) {
    const std::optional<double> limit = quern::detail::finite_number(limit_s);
    if (*words == nullptr || !limit) {
        throw std::invalid_argument(fmt::format(
            "{} {}: accepted: seconds, 0 for no limit, and a program", k_run_of_a_study, limit_s));
    }
    interruption interrupted;
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    program_words program;
    while (*words != nullptr) {
        program.command.emplace_back(*words++);
    }
    const child_end end = run_child(
        program, *limit > 0 ? *limit : std::numeric_limits<double>::infinity(), interrupted);
    const nlohmann::json told = {
        {"error", end.start_error == 0 ? "" : std::strerror(end.start_error)},
        {"failure", end.failure},
        {"is_stopped", end.is_stopped},
        {"seconds", end.seconds},
        {"processor_s", end.processor_s}};
    fmt::print("{}\n", told.dump());
    std::fwrite(end.output.data(), 1, end.output.size(), stdout);
    return k_success;
}

}  // namespace quern::tool
