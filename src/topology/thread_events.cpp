// SPDX-License-Identifier: BSL-1.0
// The table of events, and the reasons why an event is not counted.
#include <quern/topology/thread_events.hpp>

#include <quern/base/detail/nearest_match.hpp>
#include <quern/topology/detail/text.hpp>

#include <linux/perf_event.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>

namespace quern::topology {

namespace {

/// Nanoseconds of counting after which a hardware event that is still 0 counts as unsupported: some
/// virtual machines accept events and never count them. Every running thread has cycles; misses may
/// be rare. Guessed.
constexpr double k_no_cycles_ns = 1e6;
constexpr double k_nothing_ns = 100e6;

event_kind hardware(const char* name, std::uint64_t config, const char* help,
                    double nothing_ns = k_nothing_ns) {
    return {name, "", help, PERF_TYPE_HARDWARE, config, false, nothing_ns};
}

event_kind software(const char* name, std::uint64_t config, const char* help, bool kernel_too,
                    const char* unit = "") {
    return {name, unit, help, PERF_TYPE_SOFTWARE, config, kernel_too, 0};
}

std::vector<event_kind> make_table() {
    return {
        hardware("cycles", PERF_COUNT_HW_CPU_CYCLES, "cycles of cores in user code",
                 k_no_cycles_ns),
        hardware("instructions", PERF_COUNT_HW_INSTRUCTIONS,
                 "instructions of user code that were completed", k_no_cycles_ns),
        hardware("cache-references", PERF_COUNT_HW_CACHE_REFERENCES,
                 "accesses to the last level of cache"),
        hardware("cache-misses", PERF_COUNT_HW_CACHE_MISSES,
                 "accesses that the last level of cache could not serve"),
        hardware("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches that were completed"),
        hardware("branch-misses", PERF_COUNT_HW_BRANCH_MISSES,
                 "branches that were predicted wrongly"),
        hardware("stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
                 "cycles without an instruction to start"),
        hardware("stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
                 "cycles in which no instruction could start for want of data or units"),
        software("task-clock", PERF_COUNT_SW_TASK_CLOCK,
                 "time that workers' threads ran, by the kernel's events", false, "ns"),
        software("page-faults", PERF_COUNT_SW_PAGE_FAULTS,
                 "pages that user code touched and that were not mapped yet", false),
        software("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES,
                 "how often the kernel took the processor from a worker's thread", true),
        software("cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS,
                 "how often the kernel moved a worker's thread to another CPU", true),
    };
}

/// "r1a2": its number, or nothing.
std::optional<std::uint64_t> raw_number(std::string_view name) {
    constexpr int k_hexadecimal = 16;
    if (name.size() < 2 || name.front() != 'r') {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + 1, end, number, k_hexadecimal);
    return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

unavailable unknown(std::string_view name) {
    std::vector<std::string_view> names;
    for (const event_kind& each : named_events()) {
        names.push_back(each.name);
    }
    std::string why = "no event is called " + detail::in_quotes(name) + "; accepted: ";
    for (const std::string_view each : names) {
        why.append(each).append(", ");
    }
    why += "and r with hexadecimal digits for one of this processor";
    if (const auto nearest = quern::detail::nearest_match(name, names); !nearest.empty()) {
        why.append("; did you mean '").append(nearest).append("'?");
    }
    return {why};
}

}  // namespace

std::span<const event_kind> named_events() {
    static const std::vector<event_kind> table = make_table();
    return table;
}

outcome<event_kind> find_event(std::string_view name) {
    const auto table = named_events();
    const auto at = std::find_if(table.begin(), table.end(),
                                 [name](const event_kind& each) { return each.name == name; });
    if (at != table.end()) {
        return *at;
    }
    if (const auto number = raw_number(name)) {
        return event_kind{std::string(name), "", "an event of this processor, by its number",
                          PERF_TYPE_RAW, *number};
    }
    return unknown(name);
}

outcome<std::vector<event_kind>> find_events(std::string_view list) {
    std::vector<event_kind> found;
    if (detail::trim(list).empty()) {
        return found;
    }
    for (const std::string_view piece : detail::split(list, ',')) {
        const outcome<event_kind> one = find_event(detail::trim(piece));
        if (!one) {
            return unavailable{one.reason()};
        }
        if (std::any_of(found.begin(), found.end(),
                        [&](const event_kind& each) { return each.name == one->name; })) {
            return unavailable{detail::in_quotes(one->name) + " is named twice"};
        }
        found.push_back(*one);
    }
    if (found.size() > event_kernel::k_most_in_group) {
        return unavailable{std::to_string(found.size()) + " events; accepted: at most " +
                           std::to_string(event_kernel::k_most_in_group) + " at a time"};
    }
    return found;
}

unavailable no_event(const system_root& root, const char* what, int error) {
    std::string why = std::string(what) + ": " + errno_text(error);
    if (means_absent(error)) {
        return {"this machine, or its hypervisor, has no such event; " + why, error};
    }
    const std::string file = "/proc/sys/kernel/perf_event_paranoid";
    const auto paranoid = read_word(root, file);
    why += paranoid ? "; " + root.resolve(file) + " is " + *paranoid : "";
    return {std::move(why), error};
}

std::string why_nothing(const event_kind& event, const event_kernel::count& counted) {
    if (counted.counted == 0 && counted.enabled > 0) {
        return "never counted so far: other events hold the hardware's registers";
    }
    if (counted.value == 0 && event.nothing_ns > 0 &&
        static_cast<double>(counted.counted) >= event.nothing_ns) {
        return "the machine accepts the event and counts none";
    }
    return {};
}

}  // namespace quern::topology
