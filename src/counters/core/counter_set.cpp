// SPDX-License-Identifier: BSL-1.0
// Sets of counters: expands patterns to items, and computes values from one reading of all sources.
#include <quern/counters/counter.hpp>

#include "core/derived.hpp"
#include "core/readings.hpp"
#include "core/statistics.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace quern::counters {

namespace {

/// A counter of the set: a plain or sampled one, or an operation on operands.
struct item {
    std::string name;
    std::string unit;
    counter_kind kind = counter_kind::sum;
    const detail::arithmetic* how = nullptr;
    std::shared_ptr<detail::sampled_counter> sampled{};
    detail::readings::position at{};
    std::vector<item> operands{};
};

counter_value value_of(const item& one, detail::readings& from);

/// Unavailable if an operand is.
counter_value combined(const item& one, detail::readings& from) {
    counter_value result;
    std::vector<double> numbers;
    for (const item& each : one.operands) {
        const counter_value part = value_of(each, from);
        if (!part.ok() && one.how->skips_missing) {
            continue;
        }
        if (!part.ok()) {
            result.state = part.state;
            result.why = part.name + ": " + part.why;
            return result;
        }
        numbers.push_back(part.value);
    }
    result.value = one.how->apply(numbers);
    if (!std::isfinite(result.value)) {
        result.state = source_state::not_yet;
        result.why = "a division by zero";
    }
    return result;
}

counter_value value_of(const item& one, detail::readings& from) {
    counter_value result = one.how != nullptr       ? combined(one, from)
                           : one.sampled != nullptr ? one.sampled->value()
                                                    : from.value(one.at);
    result.name = one.name;
    result.unit = one.unit;
    result.kind = one.kind;
    return result;
}

/// Does not include the baseline of the readings: the caller resets it.
void reset_sampled(const std::vector<item>& of) {
    for (const item& each : of) {
        if (each.sampled != nullptr) {
            each.sampled->reset();
        }
        reset_sampled(each.operands);
    }
}

std::string statistic_name(const counter_name& wanted, const std::string& base) {
    return "/statistics{" + base + "}/" + wanted.name +
           (wanted.parameters.empty() ? "" : "@" + wanted.parameters);
}

std::string common_unit(const std::vector<item>& of) {
    for (const item& each : of) {
        if (each.unit != of.front().unit) {
            return "";
        }
    }
    return of.front().unit;
}

}  // namespace

struct counter_set::parts {
    parts(std::shared_ptr<detail::living_runtime> of, baseline from)
        : living(std::move(of)), since(from), read(living, from) {}

    std::vector<item> expand(std::string_view pattern) {
        const counter_name wanted = parse_name(pattern);
        if (wanted.object == "statistics") {
            return expand_statistic(pattern, wanted);
        }
        if (wanted.object == "arithmetics") {
            return {expand_arithmetic(pattern, wanted)};
        }
        std::vector<item> found;
        for (const detail::found_counter& each : detail::find(pattern, read.of())) {
            found.push_back({.name = each.name,
                             .unit = each.info().unit,
                             .kind = each.info().kind,
                             .at = read.add(each)});
        }
        return found;
    }

    item expand_arithmetic(std::string_view pattern, const counter_name& wanted) {
        const detail::arithmetic_request request = detail::parse_arithmetic(pattern, wanted);
        item one{.name = std::string(pattern), .unit = "", .how = request.how};
        for (const std::string& each : request.operands) {
            for (item& operand : expand(each)) {
                one.operands.push_back(std::move(operand));
            }
        }
        one.kind = counter_kind::level;
        one.unit = request.how->keeps_unit ? common_unit(one.operands) : "";
        return one;
    }

    std::vector<item> expand_statistic(std::string_view pattern, const counter_name& wanted) {
        const detail::statistic_request request = detail::parse_statistic(pattern, wanted);
        counter_set all(std::make_unique<parts>(living, since));
        all.add(request.base);
        std::vector<item> found;
        for (const item& base : all.m_parts->items) {
            counter_set only(std::make_unique<parts>(living, since));
            only.add(base.name);
            found.push_back(
                {.name = statistic_name(wanted, base.name),
                 .unit = base.unit,
                 .kind = counter_kind::level,
                 .sampled = std::make_shared<detail::sampled_counter>(std::move(only), request)});
        }
        return found;
    }

    std::shared_ptr<detail::living_runtime> living;
    baseline since;
    detail::readings read;
    std::vector<item> items;
};

counter_set::counter_set()
    : m_parts(std::make_unique<parts>(detail::runtime_meant(), baseline::now)) {}

counter_set::counter_set(const runtime& of, baseline from)
    : m_parts(std::make_unique<parts>(detail::living(of), from)) {}

counter_set::counter_set(std::unique_ptr<parts> made) noexcept : m_parts(std::move(made)) {}

counter_set::~counter_set() = default;
counter_set::counter_set(counter_set&& from) noexcept = default;
counter_set& counter_set::operator=(counter_set&& from) noexcept = default;

std::size_t counter_set::add(std::string_view pattern) {
    std::vector<item> added = m_parts->expand(pattern);
    m_parts->read.begin_added();
    for (item& each : added) {
        m_parts->items.push_back(std::move(each));
    }
    return added.size();
}

snapshot counter_set::evaluate(bool reset) {
    snapshot result;
    result.at = std::chrono::steady_clock::now();
    result.time_s = m_parts->read.of().seconds_until(result.at);
    m_parts->read.read();
    for (const item& each : m_parts->items) {
        result.values.push_back(value_of(each, m_parts->read));
    }
    if (reset) {
        m_parts->read.rebase();
        reset_sampled(m_parts->items);
    }
    return result;
}

void counter_set::reset() {
    m_parts->read.read();
    m_parts->read.rebase();
    reset_sampled(m_parts->items);
}

std::vector<std::string> counter_set::names() const {
    std::vector<std::string> all;
    for (const item& each : m_parts->items) {
        all.push_back(each.name);
    }
    return all;
}

std::size_t counter_set::size() const noexcept { return m_parts->items.size(); }

bool counter_set::calls_program() const noexcept { return m_parts->read.calls_program(); }

namespace {

counter only(counter_set&& set, std::string_view name) {
    set.add(name);
    if (set.size() != 1) {
        throw std::invalid_argument("quern: '" + std::string(name) + "' stands for " +
                                    std::to_string(set.size()) +
                                    " counters; a counter_set reads several");
    }
    return counter(std::move(set));
}

}  // namespace

counter create(std::string_view name) { return only(counter_set(), name); }
counter create(std::string_view name, const runtime& of) { return only(counter_set(of), name); }

}  // namespace quern::counters
