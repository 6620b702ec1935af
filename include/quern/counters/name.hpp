// SPDX-License-Identifier: BSL-1.0
// The names of counters, "/object{instance}/name@parameters", as in HPX, so that its users' scripts
// keep working. Splits and checks a name; the registry knows whether the counter exists.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::counters {

/// The parts of a name. All but the parameters may contain the wildcards * and ?.
struct counter_name {
    std::string object;      ///< "threads"
    std::string instance;    ///< "locality#0/total"; empty if not given: the total
    std::string name;        ///< "time/average"; empty in a pattern without one, such as "*"
    std::string parameters;  ///< the text after '@'

    /// Without instance and parameters: "/threads/time/average".
    std::string plain() const { return "/" + object + (name.empty() ? "" : "/" + name); }
};

/// The scope of a counter: the whole runtime, a pool, a worker.
struct instance_name {
    std::string pool;    ///< empty: all pools
    std::string worker;  ///< a number or a pattern; empty: only the total
};

/// Splits a name. Throws std::invalid_argument that shows where it is malformed.
///
///     auto n = quern::counters::parse_name("/threads{locality#0/worker-thread#1}/idle-rate");
///     // n.object == "threads", n.instance == "locality#0/worker-thread#1", n.name == "idle-rate"
counter_name parse_name(std::string_view text);

/// Splits an instance without wildcards before '#'. "locality#0/" is optional. Returns std::nullopt
/// if it is malformed, and sets `fault_at` to the position.
std::optional<instance_name> parse_instance(std::string_view text, std::size_t& fault_at);

bool has_wildcards(std::string_view text) noexcept;

/// Whether the pattern matches the whole text: * matches any text, also with '/', and ? any one
/// character.
bool matches(std::string_view pattern, std::string_view text) noexcept;

/// The names in a comma-separated list, each beginning with '/'. Any other comma is part of a
/// name's parameters.
std::vector<std::string> split_names(std::string_view list);

}  // namespace quern::counters
