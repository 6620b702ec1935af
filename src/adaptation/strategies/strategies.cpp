// SPDX-License-Identifier: BSL-1.0
// The strategies by name, and what each accepts.
#include "strategies/strategies.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/base/detail/text.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::adaptation {

namespace {

constexpr std::array<std::string_view, 7> k_names{
    "exhaustive",          "random", "hill-climbing", "nelder-mead", "parallel-rank-order",
    "simulated-annealing", "model"};

constexpr std::array<detail::search (*)(detail::setup), 7> k_searches{
    detail::search_exhaustively, detail::search_at_random,        detail::climb_hills,
    detail::run_nelder_mead,     detail::run_parallel_rank_order, detail::anneal,
    detail::follow_model};

}  // namespace

std::string_view name_of(strategy which) noexcept {
    return k_names[static_cast<std::size_t>(which)];
}

strategy strategy_named(std::string_view name) {
    const auto at = std::find(k_names.begin(), k_names.end(), name);
    if (at == k_names.end()) {
        throw std::invalid_argument("quern: unknown strategy '" + std::string(name) +
                                    "': " + quern::detail::accepted_values(name, k_names));
    }
    return static_cast<strategy>(at - k_names.begin());
}

namespace detail {

search search_by(strategy how, setup given) {
    return k_searches[static_cast<std::size_t>(how)](std::move(given));
}

std::size_t trials_for(strategy how, const tuner_options& options) {
    if (options.most_trials != 0) {
        return options.most_trials;
    }
    return how == strategy::model ? 8 : how == strategy::random ? 100 : 10'000;
}

void check(const space& where, strategy how, const tuner_options& options) {
    const auto refuse = [](const std::string& why) {
        throw std::invalid_argument("quern: " + why);
    };
    if (options.repetitions == 0) {
        refuse("tuner_options::repetitions is 0; accepted: from 1 on");
    }
    if (!(options.tolerance > 0 && options.tolerance < 1)) {
        refuse("tuner_options::tolerance is " + quern::detail::rounded(options.tolerance) +
               "; accepted: above 0, below 1");
    }
    if (!(options.drift >= 0)) {
        refuse("tuner_options::drift is " + quern::detail::rounded(options.drift) +
               "; accepted: from 0 on");
    }
    if (!(options.most_spent > 0 && options.most_spent <= 1)) {
        refuse("tuner_options::most_spent is " + quern::detail::rounded(options.most_spent) +
               "; accepted: above 0, up to 1");
    }
    for (const parameter& each : where.parameters()) {
        if (how == strategy::exhaustive && each.cells() == 0) {
            refuse("exhaustive search cannot try every value of the real parameter '" +
                   each.name() + "'; accepted: integer, power_of_two, choice");
        }
    }
    if (how == strategy::model && where.parameters().size() != 1) {
        refuse("the strategy model searches one parameter; this space has " +
               std::to_string(where.parameters().size()) +
               "; nelder-mead and parallel-rank-order search several");
    }
}

}  // namespace detail
}  // namespace quern::adaptation
