// SPDX-License-Identifier: BSL-1.0
// Counters of several localities: an object at each, which has a set of its own.
#include <quern/localities/counters.hpp>

#include "job.hpp"
#include "own_refusal.hpp"

#include <quern/counters/detail/job_printing.hpp>
#include <quern/counters/name.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/localities/session.hpp>
#include <quern/task/when.hpp>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace quern::localities {

namespace {

std::string name_in_job(const std::string& name) {
    return counters::detail::name_at_locality(name, localities::here());
}

std::vector<std::string> add_at(const object<detail::watched_counters>& its,
                                const counters::detail::job_pattern& pattern) {
    try {
        return detail::get_or_refuse(its.call(&detail::watched_counters::add, pattern.at_one));
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(counters::detail::words_as_written(error.what(), pattern));
    }
}

}  // namespace

namespace detail {

std::vector<std::string> watched_counters::add(const std::string& pattern) {
    const std::size_t before = m_set.size();
    m_set.add(pattern);
    std::vector<std::string> names = m_set.names();
    names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(before));
    std::transform(names.begin(), names.end(), names.begin(), name_in_job);
    return names;
}

std::vector<counters::counter_value> watched_counters::evaluate(bool reset) {
    std::vector<counters::counter_value> values = m_set.evaluate(reset).values;
    for (counters::counter_value& each : values) {
        each.name = name_in_job(each.name);
    }
    return values;
}

}  // namespace detail

counter_set::part& counter_set::part_of(int locality) {
    auto at = std::find_if(m_parts.begin(), m_parts.end(),
                           [locality](const part& each) { return each.locality >= locality; });
    if (at == m_parts.end() || at->locality != locality) {
        at = m_parts.insert(
            at, {locality, localities::make_at<detail::watched_counters>(locality), {}});
    }
    return *at;
}

std::size_t counter_set::add(std::string_view pattern) {
    const counters::detail::job_pattern parts = counters::detail::take_apart(pattern);
    std::size_t added = 0;
    bool names_one = false;
    for (const int each : localities::all()) {
        if (!parts.localities.empty() &&
            !counters::matches(parts.localities, std::to_string(each))) {
            continue;
        }
        names_one = true;
        part& its = part_of(each);
        std::vector<std::string> names = add_at(its.counters, parts);
        added += names.size();
        std::move(names.begin(), names.end(), std::back_inserter(its.names));
    }
    if (!names_one) {
        throw std::invalid_argument("quern: localities::counter_set: '" + std::string(pattern) +
                                    "' names no locality; accepted: locality#0 to locality#" +
                                    std::to_string(localities::count() - 1) + ", locality#*");
    }
    return added;
}

future<std::vector<counters::counter_value>> counter_set::evaluate(bool reset) {
    static_cast<void>(detail::job_for("counter_set"));
    std::vector<future<std::vector<counters::counter_value>>> asked;
    asked.reserve(m_parts.size());
    for (const part& each : m_parts) {
        asked.push_back(each.counters.call(&detail::watched_counters::evaluate, reset));
    }
    return quern::when_all(std::move(asked)).then([](auto all) {
        std::vector<counters::counter_value> values;
        for (auto& each : all.get()) {
            std::vector<counters::counter_value> some = each.get();
            std::move(some.begin(), some.end(), std::back_inserter(values));
        }
        return values;
    });
}

std::vector<std::string> counter_set::names() const {
    std::vector<std::string> all;
    for (const part& each : m_parts) {
        all.insert(all.end(), each.names.begin(), each.names.end());
    }
    return all;
}

}  // namespace quern::localities
