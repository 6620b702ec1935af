// SPDX-License-Identifier: BSL-1.0
// Reads schedstat, /proc/stat and cpu.stat. Never turns a failure into a number.
#include <quern/topology/detail/lost_time.hpp>

#include <quern/topology/detail/cgroup_paths.hpp>
#include <quern/topology/detail/text.hpp>

#include <array>
#include <cerrno>
#include <optional>
#include <string>

namespace quern::topology::detail {

namespace {

constexpr std::size_t k_states = 8;  // user nice system idle iowait irq softirq steal
constexpr std::size_t k_oldest = 4;  // number of states in the oldest kernels
constexpr const char* k_no_quota = ": no quota is counted";

/// The number after `key` at the beginning of a line.
outcome<double> number_after(std::string_view text, const std::string& key) {
    for (const std::string_view line : split(text, '\n')) {
        const std::vector<std::string_view> found = words(line);
        if (!found.empty() && found.front() == key) {
            const std::string_view word = found.size() > 1 ? found[1] : std::string_view();
            if (const auto value = parse_number(word)) {
                return static_cast<double>(*value);
            }
            return unavailable{"malformed: expected a number after " + in_quotes(key) + ", found " +
                               in_quotes(word)};
        }
    }
    return unavailable{"malformed: no line " + in_quotes(key)};
}

/// Each group's file has only that group's own quota.
outcome<throttling> read_group(const system_root& root, const std::string& file, int version) {
    const outcome<std::string> text = read_text(root, file);
    if (!text) {
        return unavailable{text.reason(), text.error()};
    }
    const std::string key = version == 2 ? "throttled_usec" : "throttled_time";
    if (text->find(key) == std::string::npos && text->find("nr_throttled") == std::string::npos) {
        return unavailable{root.resolve(file) + k_no_quota};  // the controller is disabled here
    }
    const outcome<double> periods = number_after(*text, "nr_throttled");
    const outcome<double> time = number_after(*text, key);
    if (!periods || !time) {
        return unavailable{root.resolve(file) + ": " +
                           (periods ? time.reason() : periods.reason())};
    }
    return throttling{*time * (version == 2 ? 1e3 : 1.0), *periods};
}

}  // namespace

outcome<thread_schedule> read_thread_schedule(const system_root& root, int thread) {
    const std::string file = "/proc/self/task/" + std::to_string(thread) + "/schedstat";
    const outcome<std::string> text = read_text(root, file);
    if (!text) {
        return unavailable{text.reason(), text.error()};
    }
    const std::string_view line = std::string_view(*text).substr(0, text->find('\n'));
    const std::vector<std::string_view> found = words(line);
    std::array<double, 3> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto value = i < found.size() ? parse_number(found[i]) : std::nullopt;
        if (!value) {
            const std::string place = std::to_string(i + 1);
            return unavailable{
                root.resolve(file) + ": malformed: expected " +
                (i < found.size() ? "a number at place " + place + ", found " + in_quotes(found[i])
                                  : place + " numbers, found " + in_quotes(*text))};
        }
        numbers[i] = static_cast<double>(*value);
    }
    return thread_schedule{numbers[0], numbers[1], numbers[2]};
}

/// From the first line, "cpu". The columns after steal (guests) are included in user and nice.
outcome<std::vector<double>> parse_processor_times(std::string_view text) {
    const std::vector<std::string_view> found = words(text.substr(0, text.find('\n')));
    std::vector<double> times;
    for (std::size_t i = 1; i < found.size() && i <= k_states; ++i) {
        const auto time = parse_number(found[i]);
        if (!time) {
            return unavailable{"malformed: expected a time, found " + in_quotes(found[i])};
        }
        times.push_back(static_cast<double>(*time));
    }
    if (times.size() < k_oldest || found.front() != "cpu") {
        return unavailable{"malformed: expected the times of all processors, found " +
                           in_quotes(text)};
    }
    return times;
}

outcome<double> steal_in(const std::vector<double>& times) {
    if (times.size() <= k_steal) {
        return unavailable{"this kernel does not count steal time"};
    }
    return times[k_steal];
}

outcome<throttling> read_throttling(const system_root& root) {
    notes said;
    const auto chains = cgroup_files(root).chains_of("cpu", said);
    if (!chains) {
        return unavailable{chains.reason(), chains.error()};
    }
    throttling sum;
    bool any = false;
    std::optional<unavailable> failure;  // unreadable files take precedence over malformed ones
    for (const cgroup_chain& chain : *chains) {
        for (const std::string& folder : chain.folders) {
            const outcome<throttling> here = read_group(root, folder + "/cpu.stat", chain.version);
            if (here) {
                any = true;
                sum.ns += here->ns;
                sum.periods += here->periods;
            } else if (!means_absent(here.error()) && !here.reason().ends_with(k_no_quota) &&
                       (!failure || failure->error == 0)) {
                failure = unavailable{here.reason(), here.error()};
            }
        }
    }
    if (failure) {
        return *failure;
    }
    if (!any) {
        return unavailable{"no control group of this process has statistics of a CPU quota"};
    }
    return sum;
}

}  // namespace quern::topology::detail
