// SPDX-License-Identifier: BSL-1.0
// Counters as series of a trace: each value covers the time since the last sample. Sums are drawn
// as rates, since a running sum hides when something happened.
#include "print/series_reader.hpp"

#include "core/tables.hpp"
#include "print/printer.hpp"

#include <quern/counters/counter.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace quern::counters::detail {

namespace {

using quern::detail::series_value;

struct measure {
    std::string unit;
    double of_one;
};

/// The rate of a sum per second; nanoseconds become seconds for readability.
measure rate_of(const std::string& unit) {
    if (unit == "ns") {
        return {"s/s", 1e-9};
    }
    return {unit.empty() ? "1/s" : unit == "J" ? "W" : unit + "/s", 1.0};
}

measure level_of(const std::string& unit) {
    return unit == "0.01 %" ? measure{"%", 1e-2} : measure{unit, 1.0};
}

/// A statistic has samples of its own, which resets at each sample would discard.
bool has_samples(std::string_view pattern) {
    return pattern.find("/statistics") != std::string_view::npos;
}

class counter_series final : public quern::detail::series_reader {
public:
    counter_series(const runtime& of, std::string_view names) : m_moving(of), m_standing(of) {
        for (const std::string& each : patterns_of(names)) {
            try {
                (has_samples(each) ? m_standing : m_moving).add(each);
            } catch (const std::invalid_argument& error) {  // unavailable in this runtime
                constexpr std::string_view k_ours = "quern: ";
                m_refused.push_back({.name = each, .why = error.what() + k_ours.size()});
            }
        }
        m_moving.reset();  // one baseline for all
    }

    std::vector<series_value> read() override {
        std::vector<series_value> all;
        const snapshot moving = m_moving.evaluate(true);
        const double seconds = std::chrono::duration<double>(moving.at - m_last).count();
        m_last = moving.at;
        for (const counter_value& each : moving.values) {
            all.push_back(drawn(each, std::max(seconds, 1e-9)));
        }
        for (const counter_value& each : m_standing.evaluate().values) {
            all.push_back(value_or_why(each, level_of(each.unit), each.value));
        }
        all.insert(all.end(), m_refused.begin(), m_refused.end());
        return all;
    }

    bool calls_program() const noexcept override {
        return m_moving.calls_program() || m_standing.calls_program();
    }

private:
    static series_value value_or_why(const counter_value& from, measure in, double value) {
        series_value one{.name = from.name, .unit = std::move(in.unit), .why = from.why};
        if (from.ok()) {
            one.value = value * in.of_one;
        }
        return one;
    }

    static series_value drawn(const counter_value& from, double seconds) {
        if (from.kind == counter_kind::sum) {
            return value_or_why(from, rate_of(from.unit), from.value / seconds);
        }
        return value_or_why(from, level_of(from.unit), from.value);
    }

    counter_set m_moving;    ///< reset at each sample
    counter_set m_standing;  ///< not reset
    std::vector<series_value> m_refused{};
    std::chrono::steady_clock::time_point m_last = std::chrono::steady_clock::now();
};

}  // namespace

std::unique_ptr<quern::detail::series_reader> read_series(const runtime& of,
                                                          std::string_view names) {
    if (find_living(of) == nullptr) {
        return nullptr;
    }
    try {
        return std::make_unique<counter_series>(of, names);
    } catch (const std::logic_error&) {  // the runtime has ended meanwhile
        return nullptr;
    }
}

}  // namespace quern::counters::detail
