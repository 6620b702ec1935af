// SPDX-License-Identifier: BSL-1.0
// Loads of objects from all localities, the decision, and the moves.
#include <quern/localities/balance.hpp>

#include "job.hpp"

#include <quern/adaptation/decisions.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/localities/session.hpp>

#include <cereal/details/util.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdarg>
#include <cstdio>

namespace quern::localities::detail {

namespace {

std::vector<object_load> loads_here(const std::vector<object_name>& names) {
    object_table& objects = detail::job_for("balancer").objects();
    objects.measure();
    std::vector<object_load> loads;
    loads.reserve(names.size());
    for (const object_name& each : names) {
        loads.push_back(objects.take_load(each));
    }
    return loads;
}

[[gnu::format(printf, 1, 2)]] std::string words(const char* format, ...) {
    std::array<char, 200> text{};
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(text.data(), text.size(), format, values);
    va_end(values);
    return text.data();
}

std::string words_of(const std::vector<double>& loads) {
    constexpr std::size_t k_most = 8;
    std::string all = "ms by locality:";
    for (std::size_t i = 0; i < std::min(loads.size(), k_most); ++i) {
        all += words(" %.3g", 1e3 * loads[i]);
    }
    return loads.size() > k_most ? all + " …" : all;
}

double largest_load(const std::vector<double>& loads) {
    return *std::max_element(loads.begin(), loads.end());
}

}  // namespace

balance_core::balance_core(std::vector<object_name> objects, const std::type_info& type,
                           balance_rule rule, move_function move)
    : m_objects(std::move(objects)),
      m_type(cereal::util::demangle(type.name())),
      m_rule(rule),
      m_move(std::move(move)) {
    static_cast<void>(take_loads());
}

std::vector<placed_object> balance_core::take_loads() const {
    std::vector<future<std::vector<object_load>>> asked;
    for (const int each : localities::all()) {
        asked.push_back(localities::run_at(each, &loads_here, m_objects));
    }
    std::vector<placed_object> objects(m_objects.size());
    for (std::size_t place = 0; place < asked.size(); ++place) {
        const std::vector<object_load> loads = asked[place].get();
        for (std::size_t i = 0; i < objects.size(); ++i) {
            objects[i].load += loads[i].seconds;
            objects[i].place = loads[i].is_here ? static_cast<int>(place) : objects[i].place;
        }
    }
    return objects;
}

bool balance_core::is_worth_it(const rebalanced& found, const std::vector<planned_move>& moves,
                               double largest_before, double largest_after,
                               std::string& why) const {
    if (moves.empty()) {
        why = m_rule == balance_rule::none ? words("the rule none moves no object")
              : found.imbalance < 1.05
                  ? words("the loads are equal to %.0f %%", 100 * (found.imbalance - 1))
                  : words("no move makes the largest load smaller");
        return false;
    }
    const double gain = largest_before - largest_after;
    const double cost = m_seconds_a_move * static_cast<double>(moves.size());
    why = words("the largest load is %.2f times the mean; %zu moves make it %.2f", found.imbalance,
                moves.size(), found.expected);
    if (m_rule == balance_rule::refine && cost > gain) {
        why += words(", but would take %.3g ms and save %.3g ms", 1e3 * cost, 1e3 * gain);
        return false;
    }
    return true;
}

rebalanced balance_core::rebalance() {
    rebalanced result;
    if (adaptation::current_mode() == adaptation::mode::off) {
        result.why = "the setting adapt is off";
        return result;
    }
    const std::vector<placed_object> objects = take_loads();
    const int places = localities::count();
    result.loads = detail::loads_of(objects, places);
    result.imbalance = detail::imbalance_of(result.loads);
    const auto moves = detail::plan_moves(objects, places, m_rule);
    const std::vector<double> planned = detail::loads_of(detail::after(objects, moves), places);
    result.expected = detail::imbalance_of(planned);
    const bool is_on = adaptation::current_mode() == adaptation::mode::on;
    const bool is_chosen =
        is_worth_it(result, moves, largest_load(result.loads), largest_load(planned), result.why);
    if (is_chosen && is_on) {
        const auto begun = std::chrono::steady_clock::now();
        std::vector<future<void>> moved;
        moved.reserve(moves.size());
        for (const planned_move& each : moves) {
            moved.push_back(m_move(each.object, each.to));
        }
        for (future<void>& each : moved) {
            each.get();
        }
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
        result.moved = moves.size();
        result.seconds = spent.count();
        m_seconds_a_move = spent.count() / static_cast<double>(moves.size());
    } else {
        result.expected = is_chosen ? result.expected : result.imbalance;
    }
    adaptation::log({.policy = "rebalance",
                     .subject = "places of " + std::to_string(objects.size()) + " " + m_type,
                     .unit = "times the mean",
                     .before = result.imbalance,
                     .after = result.expected,
                     .inputs = words_of(result.loads),
                     .why = result.why,
                     .predicted = result.imbalance > 0
                                      ? std::optional(result.expected / result.imbalance)
                                      : std::nullopt,
                     .applied = is_on});
    return result;
}

}  // namespace quern::localities::detail
