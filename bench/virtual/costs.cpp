// SPDX-License-Identifier: BSL-1.0
// Reads a machine file: lines "key = nanoseconds  # source". A figure without a source is an error,
// so that none is added without saying where it comes from.
#include "costs.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace virtual_time {
namespace {

std::map<std::string, picoseconds costs::*> keys() {
    return {{"load", &costs::load},
            {"store", &costs::store},
            {"modify", &costs::modify},
            {"transfer", &costs::transfer},
            {"shared", &costs::shared},
            {"pause", &costs::pause},
            {"clock", &costs::clock},
            {"yield", &costs::yield},
            {"futex_call", &costs::futex_call},
            {"futex_wake", &costs::futex_wake},
            {"wake_latency", &costs::wake_latency},
            {"barrier", &costs::barrier},
            {"interrupt", &costs::interrupt},
            {"loop_turn", &costs::loop_turn},
            {"inline_spawn", &costs::inline_spawn},
            {"queued_spawn", &costs::queued_spawn},
            {"fork", &costs::fork},
            {"suspension", &costs::suspension}};
}

}  // namespace

costs parse_costs(const std::string& text, const std::string& name) {
    auto missing = keys();
    costs result;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        const auto fail = [&](const std::string& what) {
            throw std::runtime_error(name + ":" + std::to_string(number) + ": " + what);
        };
        std::istringstream words(line);
        std::string key;
        if (!(words >> key) || key.front() == '#') {
            continue;
        }
        std::string equals;
        std::string source;
        double ns = 0;
        if (!(words >> equals >> ns >> source) || equals != "=" || source.front() != '#' ||
            (source == "#" && !(words >> source))) {
            fail("expected: key = nanoseconds  # source");
        }
        const auto found = missing.find(key);
        if (found == missing.end()) {
            fail("unknown or repeated key: " + key);
        }
        result.*found->second = static_cast<picoseconds>(std::llround(ns * 1e3));
        if (!(ns > 0) || result.*found->second == 0) {
            fail(key + " must be a picosecond or more: time would stand still");
        }
        missing.erase(found);
    }
    if (!missing.empty()) {
        throw std::runtime_error(name + ": missing key: " + missing.begin()->first);
    }
    return result;
}

void scale(costs& c, const std::string& what) {
    const auto equals = what.find('=');
    const auto all = keys();
    const auto found = all.find(what.substr(0, equals));
    char* end = nullptr;
    const double factor =
        equals == std::string::npos ? 0 : std::strtod(what.c_str() + equals + 1, &end);
    if (found == all.end() || !(factor > 0) || *end != '\0') {
        throw std::runtime_error("expected a key and a factor, as transfer=1.5: " + what);
    }
    picoseconds& cost = c.*found->second;
    cost = static_cast<picoseconds>(std::llround(static_cast<double>(cost) * factor));
    if (cost == 0) {
        throw std::runtime_error("less than a picosecond, and time would stand still: " + what);
    }
}

costs read_costs(const std::string& file) {
    std::ifstream in(file);
    if (!in) {
        throw std::runtime_error(file + ": cannot be read");
    }
    std::ostringstream text;
    text << in.rdbuf();
    return parse_costs(text.str(), file);
}

}  // namespace virtual_time
