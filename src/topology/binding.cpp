// SPDX-License-Identifier: BSL-1.0
// Parses and prints binding policies, and finds the allowed processing units. The placement is in
// assign.cpp, the system call in affinity.cpp.
#include <quern/topology/binding.hpp>

#include <quern/base/detail/nearest_match.hpp>
#include <quern/topology/detail/text.hpp>

#include <algorithm>

namespace quern::topology {

namespace {

bool looks_like_a_list(std::string_view text) {
    return text.find_first_of("0123456789") == 0 ||
           text.find_first_not_of("0123456789,- ") == std::string_view::npos;
}

/// Parses "cores:LIST" and "node:LIST".
std::optional<outcome<binding>> parse_prefixed(std::string_view text) {
    for (const binding_policy policy : {binding_policy::cores, binding_policy::nodes}) {
        const std::string prefix = std::string(name_of(policy)) + ":";
        if (text.substr(0, prefix.size()) != prefix) {
            continue;
        }
        const outcome<cpu_list> list = parse_cpu_set(text.substr(prefix.size()));
        if (!list) {
            return unavailable{"binding " + detail::in_quotes(text) + ": " + list.reason()};
        }
        if (list->empty()) {
            return unavailable{"binding " + detail::in_quotes(text) +
                               " names nothing; a list such as " + prefix + "0-3 is accepted"};
        }
        return binding{policy, *list};
    }
    return std::nullopt;
}

}  // namespace

std::string_view name_of(binding_policy policy) noexcept {
    switch (policy) {
        case binding_policy::none:
            return "none";
        case binding_policy::compact:
            return "compact";
        case binding_policy::scatter:
            return "scatter";
        case binding_policy::balanced:
            return "balanced";
        case binding_policy::numa_balanced:
            return "numa-balanced";
        case binding_policy::list:
            return "list";
        case binding_policy::cores:
            return "cores";
        case binding_policy::nodes:
            return "node";
    }
    return "";
}

outcome<binding> parse_binding(std::string_view text) {
    text = detail::trim(text);
    std::vector<std::string_view> names;
    for (const binding_policy policy : k_named_policies) {
        names.push_back(name_of(policy));
        if (text == names.back()) {
            return binding{policy, {}};
        }
    }
    if (!text.empty() && looks_like_a_list(text)) {
        const outcome<cpu_list> list = parse_cpu_list(text);
        if (!list) {
            return unavailable{"binding " + list.reason()};
        }
        return binding{binding_policy::list, *list};
    }
    if (const auto prefixed = parse_prefixed(text)) {
        return *prefixed;
    }
    names.push_back("a list such as 0,2-5,8");
    names.push_back("cores:0-3");
    names.push_back("node:1");
    return unavailable{"binding " + detail::in_quotes(text) + " is unknown; " +
                       quern::detail::accepted_values(text, names)};
}

std::string name_of(const binding& how) {
    switch (how.policy) {
        case binding_policy::list:
            return to_text(how.list);
        case binding_policy::cores:
        case binding_policy::nodes:
            return std::string(name_of(how.policy)) + ":" + to_text(how.list);
        default:
            return std::string(name_of(how.policy));
    }
}

cpu_list allowed_pus(const machine& on, const cpu_limits& limits) {
    const auto allows = [](const cpu_list& set, unsigned pu) {
        return std::binary_search(set.begin(), set.end(), pu);
    };
    cpu_list by_mask;
    cpu_list by_both;
    for (const processing_unit& pu : on.pus) {
        const bool free = !on.is_this_computer();
        if (free || !limits.affinity || allows(*limits.affinity, pu.os_index)) {
            by_mask.push_back(pu.os_index);
            if (free || !limits.cpuset || allows(limits.cpuset->cpus, pu.os_index)) {
                by_both.push_back(pu.os_index);
            }
        }
    }
    return by_both.empty() ? by_mask : by_both;
}

}  // namespace quern::topology
