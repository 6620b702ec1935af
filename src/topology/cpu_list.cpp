// SPDX-License-Identifier: BSL-1.0
// Parses and prints "0,2-5,8". The input is a kernel file or user text, so every fault gets a
// message, and a huge range must not allocate.
#include <quern/topology/cpu_list.hpp>

#include <quern/topology/detail/text.hpp>

#include <algorithm>

namespace quern::topology {

namespace {

struct cpu_range {
    unsigned first;
    unsigned last;
};

std::optional<cpu_range> parse_range(std::string_view piece) {
    const std::size_t dash = piece.find('-');
    const auto first = detail::parse_number<unsigned>(detail::trim(piece.substr(0, dash)));
    if (dash == std::string_view::npos) {
        return first ? std::optional(cpu_range{*first, *first}) : std::nullopt;
    }
    const auto last = detail::parse_number<unsigned>(detail::trim(piece.substr(dash + 1)));
    return first && last ? std::optional(cpu_range{*first, *last}) : std::nullopt;
}

unavailable fault(std::string_view text, std::string_view piece, std::string_view what) {
    return unavailable{detail::in_quotes(text) + ": " + detail::in_quotes(piece) + " " +
                       std::string(what)};
}

}  // namespace

outcome<cpu_list> parse_cpu_list(std::string_view text) {
    constexpr std::size_t k_longest_list =
        1u << 20;  // entries; duplicates could otherwise grow without end
    cpu_list cpus;
    text = detail::trim(text);
    if (text.empty()) {
        return cpus;
    }
    for (const std::string_view piece : detail::split(text, ',')) {
        const std::optional<cpu_range> range = parse_range(detail::trim(piece));
        if (!range) {
            return fault(text, piece, "is neither a CPU number nor a range such as 2-5");
        }
        if (range->last < range->first) {
            return fault(text, piece, "is a range that ends before it begins");
        }
        if (range->last > k_highest_cpu || cpus.size() > k_longest_list) {
            return fault(
                text, piece,
                "is beyond " + std::to_string(k_highest_cpu) + ", the highest CPU number accepted");
        }
        for (unsigned cpu = range->first; cpu <= range->last; ++cpu) {
            cpus.push_back(cpu);
        }
    }
    return cpus;
}

outcome<cpu_list> parse_cpu_set(std::string_view text) {
    outcome<cpu_list> list = parse_cpu_list(text);
    if (!list) {
        return list;
    }
    cpu_list set = *list;
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    return set;
}

std::string to_text(const cpu_list& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        const std::size_t first = i;
        while (i + 1 < cpus.size() && cpus[i + 1] == cpus[i] + 1) {
            ++i;
        }
        text.append(text.empty() ? "" : ",").append(std::to_string(cpus[first]));
        if (i > first) {
            text.append("-").append(std::to_string(cpus[i]));
        }
    }
    return text;
}

}  // namespace quern::topology
