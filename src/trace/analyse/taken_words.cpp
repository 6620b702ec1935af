// SPDX-License-Identifier: BSL-1.0
// Who took the workers' time, and what to do about it, in words.
#include "analyse/remedies.hpp"
#include "analyse/words.hpp"

#include <algorithm>
#include <utility>

namespace quern::trace::detail {

namespace {

/// Of the workers' time; what took less is not named among those who took some.
constexpr double k_worth_naming = 0.005;

}  // namespace

std::string taken_words(const efficiency& of, const taken_time& taken) {
    const std::pair<const char*, double> takers[] = {
        {"other threads or programs", taken.by_programs_ns.value_or(0.0)},
        {"the hypervisor", taken.by_hypervisor_ns.value_or(0.0)},
        {"a CPU quota", taken.by_quota_ns.value_or(0.0)}};
    std::string text;
    for (const auto& [who, ns] : takers) {
        if (of.share(ns) >= k_worth_naming) {
            text += (text.empty() ? "" : ", ") + std::string(who) + " took " +
                    percent_words(of.share(ns));
            text += text.find("time") == std::string::npos ? " of the workers' time" : "";
        }
    }
    text.append(".").front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

std::string against_taken_time(const efficiency& of, const taken_time& taken) {
    const double programs = taken.by_programs_ns.value_or(0.0);
    const double hypervisor = taken.by_hypervisor_ns.value_or(0.0);
    const double quota = taken.by_quota_ns.value_or(0.0);
    if (quota >= std::max(programs, hypervisor)) {
        return "Use fewer workers, as many as the quota pays for, or raise it.";
    }
    if (hypervisor >= programs) {
        return "Measure on a machine that is not shared, or use fewer workers than it has "
               "processors.";
    }
    if (taken.processors != 0 && of.workers > taken.processors) {
        return "There are " + count_words(of.workers, "worker") + " for " +
               count_words(taken.processors, "processor") + ": use no more than that.";
    }
    return "Use no more workers than there are free processors, and measure on a quiet machine.";
}

std::string warning_of_taken_time(const efficiency& of, const taken_time& taken) {
    const bool is_said = of.remedy.find(taken_words(of, taken)) != std::string::npos;
    return is_said
               ? ""
               : taken_words(of, taken) + " Tasks took longer for that, whatever else they lost. " +
                     against_taken_time(of, taken);
}

}  // namespace quern::trace::detail
