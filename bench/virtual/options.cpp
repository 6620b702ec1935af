// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <quern/base/detail/nearest_match.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>

namespace virtual_time {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

double number(const std::string& text, std::string& rest) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || !(value >= 0)) {
        refuse("not a number: " + text);
    }
    rest = end;
    return value;
}

double whole_text(const std::string& text) {
    std::string rest;
    const double value = number(text, rest);
    if (!rest.empty()) {
        refuse("not a number: " + text);
    }
    return value;
}

long whole(const std::string& text, long least, long most) {
    const double value = whole_text(text);
    if (value != std::floor(value) || value < static_cast<double>(least) ||
        value > static_cast<double>(most)) {
        refuse(text + " is not a whole number from " + std::to_string(least) + " to " +
               std::to_string(most));
    }
    return static_cast<long>(value);
}

picoseconds time_of(const std::string& text, double unit) {
    return static_cast<picoseconds>(std::llround(whole_text(text) * unit));
}

std::string one_of(const std::string& name, const std::string& value,
                   const std::vector<std::string_view>& known) {
    if (std::find(known.begin(), known.end(), value) == known.end()) {
        refuse(name + " is '" + value + "'; " + quern::detail::accepted_values(value, known));
    }
    return value;
}

void read_interval(const std::string& text, rules& how) {
    std::string rest;
    const double least = number(text, rest);
    double most = least;
    if (!rest.empty() && rest.front() == '-') {
        most = number(rest.substr(1), rest);
    }
    if (!rest.empty() || most < least || !(least > 0)) {
        refuse("--ask-interval: expected us, as in 5-200");
    }
    how.ask_least = static_cast<picoseconds>(least * 1e6);
    how.ask_most = static_cast<picoseconds>(most * 1e6);
}

std::vector<unsigned> read_list(std::string text) {
    std::vector<unsigned> result;
    do {
        const auto comma = std::min(text.find(','), text.size());
        result.push_back(
            static_cast<unsigned>(whole(text.substr(0, comma), 1, machine::k_most_cores)));
        text.erase(0, comma + 1);
    } while (!text.empty());
    return result;
}

constexpr double k_ps_in_ns = 1e3;
constexpr double k_ps_in_us = 1e6;

using flag = std::function<void(options&)>;
using setter = std::function<void(options&, const std::string& name, const std::string& value)>;

const std::map<std::string, flag>& flags() {
    static const std::map<std::string, flag> all = {
        {"--time-every-push", [](options& o) { o.how.times_every_push = true; }},
        {"--ask-at-once", [](options& o) { o.how.asks_at_once = true; }},
        {"--crowd", [](options& o) { o.how.crowds = false; }},
        {"--verbose", [](options& o) { o.is_verbose = true; }}};
    return all;
}

const std::map<std::string, setter>& setters() {
    using text = const std::string&;
    static const std::map<std::string, setter> all = {
        {"--machine", [](options& o, text, text v) { o.machine = v; }},
        {"--workers", [](options& o, text, text v) { o.workers = read_list(v); }},
        {"--ask",
         [](options& o, text n, text v) {
             o.how.asks_one = one_of(n, v, {"all", "one"}) == "one";
         }},
        {"--ask-interval", [](options& o, text, text v) { read_interval(v, o.how); }},
        {"--coarse", [](options& o, text, text v) { o.how.coarse = time_of(v, k_ps_in_ns); }},
        {"--spin", [](options& o, text, text v) { o.how.spin = time_of(v, k_ps_in_us); }},
        {"--wake",
         [](options& o, text n, text v) {
             o.how.wakes = one_of(n, v, {"relay", "tree"}) == "tree" ? waking::tree : waking::relay;
         }},
        {"--fanout",
         [](options& o, text, text v) { o.how.fanout = static_cast<unsigned>(whole(v, 1, 1024)); }},
        {"--tasks", [](options& o, text, text v) { o.size = whole(v, 4, 1'000'000'000); }},
        {"--work", [](options& o, text, text v) { o.work = time_of(v, k_ps_in_ns); }},
        {"--before", [](options& o, text, text v) { o.before = time_of(v, k_ps_in_us); }},
        {"--rounds",
         [](options& o, text, text v) { o.rounds = static_cast<unsigned>(whole(v, 1, 1000)); }},
        {"--by",
         [](options& o, text n, text v) {
             o.by = one_of(n, v, {"scope", "group", "fork"});
         }},
        {"--seeds",
         [](options& o, text, text v) { o.seeds = static_cast<unsigned>(whole(v, 1, 1000)); }},
        {"--scale", [](options& o, text, text v) { o.scale = v; }}};
    return all;
}

[[noreturn]] void refuse_option(const std::string& name) {
    std::vector<std::string_view> known;
    for (const auto& each : flags()) {
        known.push_back(each.first);
    }
    for (const auto& each : setters()) {
        known.push_back(each.first);
    }
    refuse("unknown option " + name + "; " + quern::detail::accepted_values(name, known));
}

}  // namespace

options read_options(int argc, char** argv) {
    options o;
    if (argc < 2) {
        refuse("expected a row");
    }
    o.row = argv[1];
    for (int i = 2; i < argc; ++i) {
        const std::string name = argv[i];
        if (const auto found = flags().find(name); found != flags().end()) {
            found->second(o);
            continue;
        }
        const auto found = setters().find(name);
        if (found == setters().end()) {
            refuse_option(name);
        }
        if (++i == argc) {
            refuse(name + " has no value");
        }
        found->second(o, name, argv[i]);
    }
    if (o.machine.empty()) {
        refuse("--machine is missing");
    }
    return o;
}

}  // namespace virtual_time
