// SPDX-License-Identifier: BSL-1.0
// The names of counters, "/object{instance}/name@parameters", after HPX, so that its users' scripts
// go on working. Splits and checks a name; whether there is such a counter the registry knows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::counters {

/// The parts of a name; wildcards (* and ?) may stand in all but the parameters.
struct counter_name {
    std::string object;      ///< "threads"
    std::string instance;    ///< "locality#0/total"; empty where none was given: the total
    std::string name;        ///< "time/average"; empty in a pattern without one, such as "*"
    std::string parameters;  ///< what follows '@'

    /// Without instance and parameters: "/threads/time/average".
    std::string plain() const { return "/" + object + (name.empty() ? "" : "/" + name); }
};

/// Of what a counter is: the whole runtime, a pool, a worker.
struct instance_name {
    std::string pool;    ///< empty: of all pools
    std::string worker;  ///< a number or a pattern; empty: the total alone
};

/// Splits a name. Throws std::invalid_argument that shows where it is malformed.
///
///     auto n = quern::counters::parse_name("/threads{locality#0/worker-thread#1}/idle-rate");
///     // n.object == "threads", n.instance == "locality#0/worker-thread#1", n.name == "idle-rate"
counter_name parse_name(std::string_view text);

/// Splits an instance without wildcards before '#'; nothing where it is malformed, and `fault_at`
/// is where. "locality#0/" may be left out.
std::optional<instance_name> parse_instance(std::string_view text, std::size_t& fault_at);

bool has_wildcards(std::string_view text) noexcept;

/// Whether the whole text is what the pattern stands for: * is any text, also with '/', and ? is
/// any one character.
bool matches(std::string_view pattern, std::string_view text) noexcept;

/// The names in a list: separated by commas, each beginning with '/'; a comma elsewhere belongs to
/// a name's parameters.
std::vector<std::string> split_names(std::string_view list);

}  // namespace quern::counters
