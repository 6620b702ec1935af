// SPDX-License-Identifier: BSL-1.0
// The operations of /arithmetics, and the reading of the names of derived counters.
#include "derived.hpp"

#include "tables.hpp"

#include <quern/base/nearest_match.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace quern::counters::detail {

namespace {

using numbers = std::span<const double>;

double sum(numbers of) { return std::accumulate(of.begin(), of.end(), 0.0); }
double mean(numbers of) { return sum(of) / static_cast<double>(of.size()); }

/// Of all that there are, not an estimate from a sample.
double variance(numbers of) {
    const double middle = mean(of);
    double squares = 0;
    for (const double each : of) {
        squares += (each - middle) * (each - middle);
    }
    return squares / static_cast<double>(of.size());
}

double median(numbers of) {
    std::vector<double> sorted(of.begin(), of.end());
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 != 0 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double product(numbers of) {
    return std::accumulate(of.begin(), of.end(), 1.0, std::multiplies<>());
}

constexpr arithmetic k_operations[] = {
    {"add", true, sum},
    {"subtract", true, [](numbers of) { return of.front() - sum(of.subspan(1)); }},
    {"multiply", false, product},
    {"divide", false, [](numbers of) { return of.front() / product(of.subspan(1)); }},
    {"mean", true, mean},
    {"variance", false, variance},
    {"median", true, median},
    {"min", true, [](numbers of) { return *std::min_element(of.begin(), of.end()); }},
    {"max", true, [](numbers of) { return *std::max_element(of.begin(), of.end()); }},
    {"count", false, [](numbers of) { return static_cast<double>(of.size()); }},
};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw std::invalid_argument("quern: counter name '" + std::string(text) + "': " + why);
}

/// The row of that name; refused with what is accepted.
template <class Row>
const Row& row_of(std::span<const Row> rows, std::string_view text, const std::string& name) {
    std::vector<std::string_view> names;
    for (const Row& each : rows) {
        if (each.name == name) {
            return each;
        }
        names.push_back(each.name);
    }
    refuse(text, "unknown '" + name + "'; " + quern::detail::accepted_values(name, names));
}

}  // namespace

arithmetic_request parse_arithmetic(std::string_view text, const counter_name& name) {
    arithmetic_request request;
    request.how = &row_of<arithmetic>(k_operations, text, name.name);
    if (!name.instance.empty()) {
        refuse(text, "/arithmetics has no instance; its operands have, after '@'");
    }
    if (name.parameters.empty()) {
        refuse(text, "expected '@' and the names of counters, separated by commas");
    }
    request.operands = split_names(name.parameters);
    for (const std::string& each : request.operands) {
        if (parse_name(each).object == "arithmetics") {
            refuse(text, "an operand of /arithmetics cannot be /arithmetics");
        }
    }
    return request;
}

void check_derived(std::string_view text, const counter_name& name) {
    for (const std::string& each : parse_arithmetic(text, name).operands) {
        check_pattern(each);
    }
}

}  // namespace quern::counters::detail
